package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"petstore/internal/contract"
)

// pet is an animal. Its status is the stored one: an expired order may not have freed the animal yet.
type pet struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	CategoryID int64  `json:"categoryId"`
	Status     string `json:"status"`
}

var petStatuses = []string{"available", "pending", "sold"}

// read reads the fields of an animal from a body.
func (p *pet) read(members map[string]json.RawMessage) bool {
	name, nameOK := contract.Text(members, "name", 1000)
	category, categoryOK := contract.Whole(members, "categoryId")
	status, statusOK := contract.Text(members, "status", 10)
	if name != nil {
		p.Name = *name
	}
	if category != nil {
		p.CategoryID = *category
	}
	if status != nil {
		p.Status = *status
	}
	return nameOK && categoryOK && statusOK && slices.Contains(petStatuses, p.Status)
}

// createPet gives an animal the next id. It is available unless the body says otherwise.
func (s *store) createPet(r request, _ int64) answer {
	fresh := &pet{Status: "available"}
	if refusal := fields(r.body, []string{"name", "categoryId"}, fresh.read); refusal != nil {
		return *refusal
	}
	return s.makeOnce(r, func() answer {
		s.lastPet++
		fresh.ID = s.lastPet
		s.pets[fresh.ID] = fresh
		return answer{status: 201, body: *fresh, location: fmt.Sprint("/v1/pets/", fresh.ID)}
	})
}

// listPets shows the newest animal first.
func (s *store) listPets(r request, _ int64) answer {
	limit, status, id := int64(20), "", int64(0)
	filtered := false
	refusal := parameters(r.query, map[string]func(string) bool{
		"limit":  readLimit(&limit),
		"status": readOneOf(&status, petStatuses...),
		"id":     func(text string) bool { filtered = true; return readInt(&id)(text) },
		"cursor": readCursor(r),
	})
	if refusal != nil {
		return *refusal
	}
	var found []pet
	for _, one := range slices.Backward(slices.Sorted(maps.Keys(s.pets))) {
		p := *s.pets[one]
		if (status == "" || p.Status == status) && (!filtered || p.ID == id) && (r.from == nil || p.ID < r.from.id) {
			found = append(found, p)
		}
	}
	return page(r, found, limit, func(p pet) int64 { return p.ID })
}

func (s *store) getPet(_ request, id int64) answer {
	p := s.pets[id]
	if p == nil {
		return notFound
	}
	return answer{status: 200, body: *p}
}

// updatePet changes what the body names. While an open order holds the animal, its status stays.
func (s *store) updatePet(r request, id int64) answer {
	stored := s.pets[id]
	after := pet{Status: "available"}
	if refusal := fields(r.body, nil, after.read); refusal != nil {
		return *refusal
	}
	if stored == nil {
		return notFound
	}
	s.settle(stored)
	after = *stored
	fields(r.body, nil, after.read)
	if after.Status != stored.Status && s.holder(id) != nil {
		return refused(409, "pet_reserved")
	}
	*stored = after
	return answer{status: 200, body: after}
}

// deletePet removes an animal that no open order holds.
func (s *store) deletePet(_ request, id int64) answer {
	stored := s.pets[id]
	if stored == nil {
		return notFound
	}
	s.settle(stored)
	if s.holder(id) != nil {
		return refused(409, "pet_reserved")
	}
	delete(s.pets, id)
	return answer{status: 204}
}

// inventory counts the animals of each status.
type inventory struct {
	Available int `json:"available"`
	Pending   int `json:"pending"`
	Sold      int `json:"sold"`
}

func (s *store) getInventory(request, int64) answer {
	var all inventory
	for _, p := range s.pets {
		switch p.Status {
		case "available":
			all.Available++
		case "pending":
			all.Pending++
		case "sold":
			all.Sold++
		}
	}
	return answer{status: 200, body: all}
}
