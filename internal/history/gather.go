package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"petstore/internal/petstore"
)

// slack is how far the clocks of one machine may be apart.
const slack = 100 * time.Millisecond

// gather finds every animal and every order of the history, and gives each of them its part of every call.
func (c *checker) gather() {
	all := c.makings()
	pets := slices.DeleteFunc(slices.Clone(all), func(m *made) bool { return m.op != "createPet" })
	orders := slices.DeleteFunc(slices.Clone(all), func(m *made) bool { return m.op != "placeOrder" })
	c.findPets(pets)
	c.findOrders(orders)
	c.gatherCategories(slices.DeleteFunc(all, func(m *made) bool { return m.op != "createCategory" }))
	c.project()
	c.floatUnknown(orders)
}

// findPets finds, for every animal that was seen, the request that made it. If no answer to a create shows the animal,
// it belongs to a request without an answer that asked for its first name, or else to any request without an answer.
func (c *checker) findPets(makings []*made) {
	asked := make(map[string]*made)
	for _, m := range makings {
		name := m.fields.Name
		if name != nil && (asked[*name] == nil || m.answered) {
			asked[*name] = m
		}
		if !m.answered {
			continue
		}
		if before := c.subjects[m.id()]; before != nil {
			c.report(IDUsedAgain, fmt.Sprintf("Two animals got the id %d.", before.id), before.events[0].call, m.call)
			before.faulty = true
			continue
		}
		c.bear(m.id(), m, m.span, m.pets[0])
	}
	strays := make(map[int64][]*call)
	for _, call := range c.calls {
		for _, p := range call.pets {
			if c.subjects[p.ID] == nil {
				strays[p.ID] = append(strays[p.ID], call)
			}
		}
	}
	nameless := make(map[int64][]*call)
	for _, id := range slices.Sorted(maps.Keys(strays)) {
		if m := c.parent(id, strays[id], asked); m != nil {
			c.adopt(id, strays[id], m)
		} else {
			nameless[id] = strays[id]
		}
	}
	for _, id := range slices.Sorted(maps.Keys(nameless)) {
		c.orphan(id, nameless[id], makings, asked)
	}
	c.unseen = slices.DeleteFunc(makings, func(m *made) bool { return m.answered || m.taken })
}

// parent is the request without an answer that asked for an animal with a name that this animal had.
func (c *checker) parent(id int64, seen []*call, asked map[string]*made) *made {
	for _, call := range seen {
		for _, p := range call.pets {
			if m := asked[p.Name]; p.ID == id && m != nil && !m.answered && !m.taken {
				return m
			}
		}
	}
	return nil
}

// orphan deals with an animal whose name no request for a new animal had.
func (c *checker) orphan(id int64, seen []*call, makings []*made, asked map[string]*made) {
	first := earliest(seen)
	for _, m := range makings {
		if !m.answered && !m.taken && m.called <= first.Returned {
			c.adopt(id, seen, m)
			return
		}
	}
	c.subjects[id] = &subject{id: id, gone: never, until: never, faulty: true}
	for _, p := range first.pets {
		if m := asked[p.Name]; p.ID == id && m != nil {
			c.report(Doubled, fmt.Sprintf("Animal %d was asked for once, as animal %d, and is there twice.", id, m.id()), m.call, first)
			return
		}
	}
	c.report(Invented, fmt.Sprintf("Nobody asked for animal %d.", id), first)
}

// adopt decides that a request without an answer made the animal, before the animal was first seen.
func (c *checker) adopt(id int64, seen []*call, m *made) {
	m.taken = true
	p := pet{ID: id, Status: available}
	p.Name, p.CategoryID = *m.fields.Name, *m.fields.CategoryID
	if m.fields.Status != nil {
		p.Status = *m.fields.Status
	}
	c.bear(id, m, span{m.called, earliest(seen).Returned}, p)
}

func (c *checker) bear(id int64, m *made, when span, p pet) {
	c.making[m.call] = true
	c.subjects[id] = &subject{id: id, gone: never, until: never, events: []*event{{span: when, kind: born, pet: p, call: m.call}}}
}

func earliest(calls []*call) *call {
	return slices.MinFunc(calls, func(a, b *call) int { return cmp.Compare(a.Returned, b.Returned) })
}

// findOrders does for orders what findPets does for animals. The names of orders are their references.
func (c *checker) findOrders(makings []*made) {
	asked := make(map[string]*made)
	for _, m := range makings {
		if m.fields.Reference != "" && (asked[m.fields.Reference] == nil || m.answered) {
			asked[m.fields.Reference] = m
		}
		if !m.answered {
			continue
		}
		if before := c.orders[m.id()]; before != nil {
			c.report(IDUsedAgain, fmt.Sprintf("Two orders got the id %d.", before.ID), m.call)
			continue
		}
		c.place(m, m.orders[0], m.span)
	}
	strays := make(map[int64][]*call)
	for _, call := range c.calls {
		for _, o := range call.orders {
			if c.orders[o.ID] == nil {
				strays[o.ID] = append(strays[o.ID], call)
			}
		}
		if call.code == petstore.PetReserved && c.orders[call.other] == nil {
			strays[call.other] = append(strays[call.other], call)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(strays)) {
		c.strayOrder(id, strays[id], makings, asked)
	}
}

// strayOrder finds the request without an answer that placed an order. It compares their references or, if only a
// refusal names the order, their animals.
func (c *checker) strayOrder(id int64, seen []*call, makings []*made, asked map[string]*made) {
	first := earliest(seen)
	known := order{ID: id, PetID: first.id}
	for _, call := range seen {
		for _, o := range call.orders {
			if o.ID == id {
				known = o
			}
		}
	}
	m := asked[known.Reference]
	if m == nil || m.taken {
		for _, other := range makings {
			if !other.answered && !other.taken && other.fields.PetID == known.PetID && (known.Reference == "" || known.Reference == other.fields.Reference) {
				m = other
				break
			}
		}
	}
	switch {
	case m != nil && m.answered:
		c.report(Doubled, fmt.Sprintf("Order %d was asked for once, as order %d, and is there twice.", id, m.id()), m.call, first)
	case m == nil || m.taken:
		c.report(Invented, fmt.Sprintf("Nobody asked for order %d.", id), first)
	default:
		m.taken = true
		c.place(m, known, span{m.called, first.Returned})
	}
}

// place gives an order to its animal.
func (c *checker) place(m *made, o order, when span) {
	s := c.subjects[o.PetID]
	if s == nil {
		c.report(Invented, fmt.Sprintf("Order %d is for animal %d, which nobody ever saw.", o.ID, o.PetID), m.call)
		return
	}
	h := &holding{order: o, span: when, number: len(s.orders), mayExpire: when.called + petstore.MinHold - slack, mustExpire: never, completed: never, cancelled: never, closedBy: never}
	if created, err := time.Parse(time.RFC3339, o.CreatedAt); err == nil {
		expires, _ := time.Parse(time.RFC3339, o.ExpiresAt)
		h.mayExpire, h.mustExpire = when.called+expires.Sub(created)-slack, when.returned+expires.Sub(created)+slack
	}
	c.orders[o.ID], c.owners[o.ID], c.making[m.call] = h, s, true
	s.orders = append(s.orders, h)
	s.events = append(s.events, &event{span: when, kind: ordered, order: h.number, call: m.call})
}
