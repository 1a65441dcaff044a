package history

import (
	"time"

	"petstore/internal/petstore"
)

// floatUnknown deals with the writes whose outcome is unknown. If somebody saw what a write did, the write was done
// between its call and that moment, and becomes an event like the others. Any other write may be done at any later time,
// which leaves endless orders to try. It becomes a float, which the model uses only if nothing else explains what was
// seen. A write that cannot have left a trace is dropped.
func (c *checker) floatUnknown(orders []*made) {
	writers := make(map[string]int) // how many requests gave an animal that name
	for _, call := range c.calls {
		if call.fields.Name != nil && (call.outcome == done || call.outcome == unknown) {
			writers[*call.fields.Name]++
		}
	}
	for _, call := range c.calls {
		if call.outcome != unknown {
			continue
		}
		switch call.op {
		case "updatePet":
			c.subjects[call.id].floatPatch(call, writers)
		case "deletePet":
			if s := c.subjects[call.id]; s != nil && s.until == never && len(s.events) > 0 {
				s.gone = min(s.gone, call.Called)
			}
		case "completeOrder", "cancelOrder":
			if h := c.orders[call.id]; h != nil && call.op == "completeOrder" {
				h.completed = min(h.completed, call.Called)
			} else if h != nil {
				h.cancelled = min(h.cancelled, call.Called)
			}
		}
	}
	for _, m := range orders { // an order that nobody saw may hold its animal until it expires
		if s := c.subjects[m.fields.PetID]; !m.answered && !m.taken && s != nil {
			hold, held, free := petstore.MinHold, pending, available
			s.floats = append(s.floats, float{m.called, request{Status: &held}}, float{m.called + hold - slack, request{Status: &free}})
		}
	}
	for _, s := range c.subjects {
		s.settleDeath()
		s.settleOrders()
	}
}

func (s *subject) floatPatch(call *call, writers map[string]int) {
	if s == nil {
		return
	}
	f := float{call.Called, call.fields}
	if f.Name != nil && writers[*f.Name] == 1 {
		seen := s.firstSeen(func(e *event) bool { return (e.kind == shown || e.kind == patched) && e.pet.Name == *f.Name })
		if seen != never {
			s.events = append(s.events, &event{span: span{call.Called, max(seen, call.Called)}, kind: maybePatched, fields: &call.fields, call: call})
			return
		}
		f.Name = nil
	}
	if f.Name != nil || f.CategoryID != nil || f.Status != nil {
		s.floats = append(s.floats, f)
	}
}

// settleDeath makes an event of a deletion whose effect somebody saw.
func (s *subject) settleDeath() {
	if s.gone == never {
		return
	}
	birth := s.events[0].returned
	seen := s.firstSeen(func(e *event) bool {
		return e.kind == hidden && e.status == "" && e.called >= birth && e.returned >= s.gone
	})
	if seen != never {
		s.events = append(s.events, &event{span: span{s.gone, seen}, kind: deleted, call: s.events[0].call})
		s.gone = never
	}
}

// settleOrders makes events of the closings whose effect somebody saw, and drops those of orders that were closed in
// another way.
func (s *subject) settleOrders() {
	for i, h := range s.orders {
		s.expiringPatches(h)
		for status, from := range map[string]*time.Duration{"completed": &h.completed, "cancelled": &h.cancelled} {
			if *from == never || h.closedBy == never && s.firstSeen(closedAs(i, "")) == never {
				continue
			}
			if seen := s.firstSeen(closedAs(i, status)); seen != never && *from <= seen {
				s.events = append(s.events, &event{span: span{*from, seen}, kind: maybeClosed, order: i, status: status, call: s.events[0].call})
			}
			*from = never
		}
	}
}

// expiringPatches allows that a patch made an animal pending, if the patch came when the animal's order may have just
// expired: the answer is the same whether the order had expired or not.
func (s *subject) expiringPatches(h *holding) {
	if h.closed == "completed" || h.closed == "cancelled" {
		return
	}
	for _, e := range s.events {
		if e.kind == patched && e.fields.Status != nil && *e.fields.Status == pending && e.returned >= h.mayExpire && e.called <= h.mustExpire && h.mustExpire != never {
			s.floats = append(s.floats, float{e.called, request{Status: e.fields.Status}})
		}
	}
}

// closedAs selects the events that show an order closed with that status, or with any status if none is given.
func closedAs(order int, status string) func(*event) bool {
	return func(e *event) bool {
		return (e.kind == orderShown || e.kind == closed) && e.order == order && e.status != "open" && (status == "" || e.status == status)
	}
}

// firstSeen is when the first such event was over, or never if there is none.
func (s *subject) firstSeen(like func(*event) bool) time.Duration {
	first := never
	for _, e := range s.events {
		if like(e) {
			first = min(first, e.returned)
		}
	}
	return first
}
