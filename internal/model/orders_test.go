package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"petstore/internal/contract"
)

// order holds an animal. Its status is the stored one: from ends on, an open order counts as expired.
type order struct {
	ID        int64  `json:"id"`
	PetID     int64  `json:"petId"`
	Status    string `json:"status"`
	Reference string `json:"reference,omitempty"`
	CreatedAt string `json:"createdAt"`
	ExpiresAt string `json:"expiresAt"`
	ClosedAt  string `json:"closedAt,omitempty"`

	ends time.Time
}

func written(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// counted returns an order as it counts now.
func (s *store) counted(o *order) order {
	seen := *o
	if o.Status == "open" && !s.now.Before(o.ends) {
		seen.Status, seen.ClosedAt = "expired", o.ExpiresAt
	}
	return seen
}

// holder returns the open order that holds an animal, or nil.
func (s *store) holder(petID int64) *order {
	for _, o := range s.orders {
		if o.PetID == petID && o.Status == "open" {
			return o
		}
	}
	return nil
}

// settle frees an animal whose order has expired. Every write to an animal, and every answer that shows that order,
// begins with this.
func (s *store) settle(p *pet) {
	o := s.holder(p.ID)
	if o == nil || s.counted(o).Status == "open" {
		return
	}
	*o = s.counted(o)
	p.Status = "available"
}

// expire settles every animal, as the service does every second.
func (s *store) expire() {
	for _, p := range s.pets {
		s.settle(p)
	}
}

// placeOrder holds an available animal, which becomes pending.
func (s *store) placeOrder(r request, _ int64) answer {
	fresh := &order{Status: "open"}
	var petID *int64
	hold := int64(72 * 60 * 60)
	refusal := fields(r.body, []string{"petId"}, func(members map[string]json.RawMessage) bool {
		id, idOK := contract.Whole(members, "petId")
		reference, referenceOK := contract.Text(members, "reference", 200)
		seconds, secondsOK := contract.Whole(members, "holdSeconds")
		if petID = id; reference != nil {
			fresh.Reference = *reference
		}
		if seconds != nil {
			hold = *seconds
		}
		return idOK && referenceOK && secondsOK && hold >= 60 && hold <= 2_592_000
	})
	if refusal != nil {
		return *refusal
	}
	return s.makeOnce(r, func() answer {
		p := s.pets[*petID]
		if p == nil {
			return refused(400, "invalid_field")
		}
		if s.settle(p); p.Status != "available" {
			return refused(409, "pet_unavailable")
		}
		p.Status = "pending"
		fresh.ID, fresh.PetID = int64(len(s.orders)+1), p.ID
		fresh.ends = s.now.Add(time.Duration(hold) * time.Second)
		fresh.CreatedAt, fresh.ExpiresAt = written(s.now), written(fresh.ends)
		s.orders = append(s.orders, fresh)
		return answer{status: 201, body: *fresh, location: fmt.Sprint("/v1/orders/", fresh.ID)}
	})
}

// listOrders shows the newest order first.
func (s *store) listOrders(r request, _ int64) answer {
	limit, status, petID := int64(20), "", int64(0)
	filtered := false
	refusal := parameters(r.query, map[string]func(string) bool{
		"limit":  readLimit(&limit),
		"status": readOneOf(&status, "open", "completed", "cancelled", "expired"),
		"petId":  func(text string) bool { filtered = true; return readInt(&petID)(text) },
		"cursor": readCursor(r),
	})
	if refusal != nil {
		return *refusal
	}
	var found []order
	for _, stored := range slices.Backward(s.orders) {
		o := s.counted(stored)
		if (status == "" || o.Status == status) && (!filtered || o.PetID == petID) && (r.from == nil || o.ID < r.from.id) {
			found = append(found, o)
		}
	}
	for _, o := range found[:min(len(found), int(limit)+1)] { // the service looks at one more than it shows
		s.settleHeld(o.ID)
	}
	return page(r, found, limit, func(o order) int64 { return o.ID })
}

// settleHeld settles the animal that an order holds, if it holds one.
func (s *store) settleHeld(id int64) {
	if o := s.orders[id-1]; o.Status == "open" {
		s.settle(s.pets[o.PetID])
	}
}

func (s *store) getOrder(_ request, id int64) answer {
	if id < 1 || id > int64(len(s.orders)) {
		return notFound
	}
	s.settleHeld(id)
	return answer{status: 200, body: *s.orders[id-1]}
}

// completeOrder sells the animal.
func (s *store) completeOrder(_ request, id int64) answer {
	return s.closeOrder(id, "completed", "sold")
}

// cancelOrder makes the animal available again.
func (s *store) cancelOrder(_ request, id int64) answer {
	return s.closeOrder(id, "cancelled", "available")
}

// closeOrder closes an open order. An order that was already closed in the same way stays as it is.
func (s *store) closeOrder(id int64, end, leaves string) answer {
	if id < 1 || id > int64(len(s.orders)) {
		return notFound
	}
	stored := s.orders[id-1]
	switch s.counted(stored).Status {
	case "open":
		stored.Status, stored.ClosedAt = end, written(s.now)
		s.pets[stored.PetID].Status = leaves
	case end:
	default:
		return refused(409, "order_closed")
	}
	return answer{status: 200, body: *stored}
}
