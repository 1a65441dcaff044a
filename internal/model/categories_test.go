package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"petstore/internal/contract"
)

// category is a name for a number.
type category struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

func (c *category) read(members map[string]json.RawMessage) bool {
	name, ok := contract.Text(members, "name", 100)
	if name != nil {
		c.Name = *name
	}
	return ok
}

// isTaken reports whether another number has the name.
func (s *store) isTaken(c category) bool {
	for id, name := range s.categories {
		if name == c.Name && id != c.ID {
			return true
		}
	}
	return false
}

// createCategory names the counter's next number that has no name. The counter begins after the highest number that animals
// carry, counting only numbers that JavaScript reads exactly.
func (s *store) createCategory(r request, _ int64) answer {
	var fresh category
	if refusal := fields(r.body, []string{"name"}, fresh.read); refusal != nil {
		return *refusal
	}
	return s.makeOnce(r, func() answer {
		for _, name := range s.categories {
			if name == fresh.Name {
				return refused(409, "name_taken")
			}
		}
		fresh.ID = s.nextCategory()
		s.categories[fresh.ID] = fresh.Name
		return answer{status: 201, body: fresh, location: fmt.Sprint("/v1/categories/", fresh.ID)}
	})
}

func (s *store) nextCategory() int64 {
	if s.counter == 0 {
		s.counter = 1
		for _, p := range s.pets {
			if p.CategoryID < 1<<53-1 {
				s.counter = max(s.counter, p.CategoryID+1)
			}
		}
	}
	for s.categories[s.counter] != "" {
		s.counter++
	}
	s.counter++
	return s.counter - 1
}

// listCategories shows the lowest number first.
func (s *store) listCategories(r request, _ int64) answer {
	limit := int64(20)
	refusal := parameters(r.query, map[string]func(string) bool{"limit": readLimit(&limit), "cursor": readCursor(r)})
	if refusal != nil {
		return *refusal
	}
	var found []category
	for _, id := range slices.Sorted(maps.Keys(s.categories)) {
		if r.from == nil || id > r.from.id {
			found = append(found, category{id, s.categories[id]})
		}
	}
	return page(r, found, limit, func(c category) int64 { return c.ID })
}

func (s *store) getCategory(_ request, id int64) answer {
	if s.categories[id] == "" {
		return notFound
	}
	return answer{status: 200, body: category{id, s.categories[id]}}
}

// nameCategory gives a name to a number, or renames it.
func (s *store) nameCategory(r request, id int64) answer {
	named := category{ID: id}
	if refusal := fields(r.body, []string{"name"}, named.read); refusal != nil {
		return *refusal
	}
	if s.isTaken(named) {
		return refused(409, "name_taken")
	}
	a := answer{status: 200, body: named}
	if s.categories[id] == "" {
		a.status, a.location = 201, fmt.Sprint("/v1/categories/", id)
	}
	s.categories[id] = named.Name
	return a
}

func (s *store) deleteCategory(_ request, id int64) answer {
	if s.categories[id] == "" {
		return notFound
	}
	delete(s.categories, id)
	return answer{status: 204}
}

// record is the request that used an Idempotency-Key, and its answer.
type record struct {
	operation, body string
	at              time.Time
	answer          answer
}

// makeOnce makes something. If the same owner sent the same request within a day, it repeats the answer instead. Refusals are
// not kept.
func (s *store) makeOnce(r request, make func() answer) answer {
	if r.idempotencyKey == nil {
		return make()
	}
	name := [2]string{r.owner, *r.idempotencyKey}
	before, met := s.made[name]
	if met && s.now.Sub(before.at) < 24*time.Hour {
		if before.operation != r.operation || before.body != r.body {
			return refused(409, "idempotency_conflict")
		}
		before.answer.replayed = true
		return before.answer
	}
	a := make()
	if a.status == 201 {
		s.made[name] = record{r.operation, r.body, s.now, a}
	}
	return a
}
