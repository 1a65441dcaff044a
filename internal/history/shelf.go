package history

import (
	"cmp"
	"fmt"
	"slices"
)

// shelf goes through the lists of a history in the order of their calls. It knows which animals and orders a list can
// show or hide. It sets aside animals that are gone for good, so that few others remain.
type shelf struct {
	*checker
	coming []*subject // the animals to come, in the order in which they were asked for
	living []*subject
	placed []*holding
}

func (c *checker) shelve() *shelf {
	for _, call := range c.calls {
		if s := c.subjects[call.id]; call.op == "deletePet" && call.outcome == done && s != nil {
			s.until = min(s.until, call.Returned)
		}
		for _, o := range call.orders {
			if h := c.orders[o.ID]; h != nil && o.Status != "open" && call.Returned < h.closedBy {
				h.closed, h.closedBy = o.Status, call.Returned
			}
		}
	}
	all := &shelf{checker: c}
	for _, s := range c.subjects {
		if !s.faulty {
			all.coming = append(all.coming, s)
		}
	}
	for _, h := range c.orders {
		all.placed = append(all.placed, h)
	}
	slices.SortFunc(all.coming, func(a, b *subject) int { return cmp.Compare(a.events[0].called, b.events[0].called) })
	slices.SortFunc(all.placed, func(a, b *holding) int { return cmp.Compare(a.called, b.called) })
	return all
}

// pets gives each animal its part of a list.
func (all *shelf) pets(list *call) {
	ids := make([]int64, 0, len(list.pets))
	for _, p := range list.pets {
		ids = append(ids, p.ID)
		if list.query.status != "" && p.Status != list.query.status || list.query.one != nil && p.ID != *list.query.one {
			all.report(Contradiction, fmt.Sprintf("A list shows animal %d, which was not asked for.", p.ID), list)
		}
		all.subjects[p.ID].add(list, event{kind: shown, pet: p})
	}
	all.inOrder(list, ids)
	for len(all.coming) > 0 && all.coming[0].events[0].called <= list.Returned {
		all.living, all.coming = append(all.living, all.coming[0]), all.coming[1:]
	}
	all.living = slices.DeleteFunc(all.living, func(s *subject) bool { return s.until < list.Called })
	for _, s := range all.living {
		if (list.query.one == nil || *list.query.one == s.id) && list.query.covers(s.id) && s.events[0].called <= list.Returned && !slices.Contains(ids, s.id) {
			s.add(list, event{kind: hidden, status: list.query.status})
		}
	}
}

// orders gives each order its part of a list.
func (all *shelf) orders(list *call) {
	ids := make([]int64, 0, len(list.orders))
	for _, o := range list.orders {
		ids = append(ids, o.ID)
		if list.query.status != "" && o.Status != list.query.status || list.query.of != nil && o.PetID != *list.query.of {
			all.report(Contradiction, fmt.Sprintf("A list shows order %d, which was not asked for.", o.ID), list)
		}
		if h := all.checker.orders[o.ID]; h != nil {
			s := all.owners[o.ID]
			all.agree(h, o, list)
			s.add(list, event{kind: orderShown, order: h.number, status: o.Status})
		}
	}
	all.inOrder(list, ids)
	candidates := all.placed
	if list.query.of != nil {
		candidates = nil
		if s := all.subjects[*list.query.of]; s != nil {
			candidates = s.orders
		}
	}
	for _, h := range candidates {
		certainlyOther := h.closedBy < list.Called && list.query.status != "" && h.closed != list.query.status
		if h.called <= list.Returned && list.query.covers(h.ID) && !certainlyOther && !slices.Contains(ids, h.ID) {
			s := all.owners[h.ID]
			s.add(list, event{kind: orderHidden, order: h.number, status: list.query.status})
		}
	}
}

// covers reports whether a page includes the place of that id.
func (q query) covers(id int64) bool {
	if q.descending {
		return id > q.from && id < q.to
	}
	return id >= q.from && id < q.to
}

// inOrder reports a page whose rows are in the wrong order, or are not those that it was asked to show.
func (c *checker) inOrder(list *call, ids []int64) {
	for i, id := range ids {
		outside := id >= list.query.to || id < list.query.from
		if outside || i > 0 && (ids[i-1] <= id) == list.query.descending || i >= list.query.limit {
			c.report(OutOfOrder, "The rows of a page are not in their order, or too many.", list)
			return
		}
	}
}
