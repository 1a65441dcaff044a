package history

import (
	"fmt"

	"petstore/internal/petstore"
)

// project gives each animal its part of every call that tells something about it.
func (c *checker) project() {
	lists := c.shelve()
	for _, call := range c.calls {
		if call.outcome != done && call.outcome != refused || call.code == petstore.IdempotencyConflict {
			continue
		}
		switch call.op {
		case "listPets":
			lists.pets(call)
		case "listOrders":
			lists.orders(call)
		case "createPet", "getPet", "updatePet", "deletePet":
			c.projectPet(call)
		case "placeOrder", "getOrder", "completeOrder", "cancelOrder":
			c.projectOrder(call)
		}
	}
}

// add gives an event to an animal, if the animal was ever there.
func (s *subject) add(call *call, e event) {
	if s == nil {
		return
	}
	e.call = call
	e.span = span{call.Called, call.Returned}
	s.events = append(s.events, &e)
}

func (c *checker) projectPet(call *call) {
	id := call.id
	if call.op == "createPet" {
		id = call.pets[0].ID
	}
	s := c.subjects[id]
	switch {
	case call.code == petstore.NotFound:
		s.add(call, event{kind: hidden})
	case call.code == petstore.PetReserved:
		if h := c.orders[call.other]; h != nil && c.owners[call.other] == s {
			s.add(call, event{kind: reserved, order: h.number})
		}
	case call.op == "createPet":
		if !c.making[call] {
			s.add(call, event{kind: remade})
		}
	case call.op == "getPet":
		s.add(call, event{kind: shown, pet: call.pets[0]})
	case call.op == "updatePet":
		s.add(call, event{kind: patched, pet: call.pets[0], fields: &call.fields})
	case call.op == "deletePet":
		s.add(call, event{kind: deleted})
	}
}

func (c *checker) projectOrder(call *call) {
	switch call.code {
	case petstore.PetUnavailable:
		c.subjects[call.fields.PetID].add(call, event{kind: unavailable, status: call.was})
		return
	case petstore.InvalidField:
		c.subjects[call.fields.PetID].add(call, event{kind: hidden})
		return
	}
	id := call.id
	if call.op == "placeOrder" {
		id = call.orders[0].ID
	}
	s, h := c.owners[id], c.orders[id]
	if s == nil {
		return
	}
	for _, o := range call.orders {
		c.agree(h, o, call)
	}
	switch {
	case call.code == petstore.NotFound:
		s.add(call, event{kind: orderHidden, order: h.number})
	case call.code == petstore.OrderClosed:
		s.add(call, event{kind: orderShown, order: h.number, status: call.was})
	case call.op == "placeOrder":
		if !c.making[call] {
			s.add(call, event{kind: orderRemade, order: h.number})
		}
	case call.op == "getOrder":
		s.add(call, event{kind: orderShown, order: h.number, status: call.orders[0].Status})
	default:
		s.add(call, event{kind: closed, order: h.number, status: call.orders[0].Status})
	}
}

// agree reports an order if a field that never changes differs from what was shown before.
func (c *checker) agree(h *holding, o order, call *call) {
	if h.ClosedAt == "" {
		h.ClosedAt = o.ClosedAt
	}
	if h.CreatedAt == "" {
		h.CreatedAt, h.ExpiresAt, h.Reference = o.CreatedAt, o.ExpiresAt, o.Reference
	}
	if h.PetID != o.PetID || h.Reference != o.Reference || h.CreatedAt != o.CreatedAt || h.ExpiresAt != o.ExpiresAt || o.ClosedAt != "" && h.ClosedAt != o.ClosedAt {
		c.report(Contradiction, fmt.Sprintf("Order %d is not what it was before in what never changes.", o.ID), call)
	}
}
