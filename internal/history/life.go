package history

import (
	"time"

	"petstore/internal/petstore"
)

// life is when each thing about an animal can have been true.
type life struct {
	alive, absent spells
	names         map[string]spells
	numbers       map[int64]spells
	statuses      map[string]spells
	orders        []map[string]spells // by status; "" means that the order is not there yet
	ages          map[string]age      // the ages of the names that were given only once
}

// live finds out when each thing about an animal can have been true. It looks at each thing separately, so it may miss a
// constraint, but never adds one.
func (s *subject) live() *life {
	var names []fact[string]
	var numbers []fact[int64]
	var statuses []fact[string]
	birth, death := s.events[0].span, span{s.gone, never}
	for _, e := range s.events {
		status := func(value string, write, maybe bool) {
			statuses = append(statuses, fact[string]{e.span, value, write, maybe})
		}
		switch e.kind {
		case born, shown, patched:
			f := e.fields
			wrote := e.kind == born
			names = append(names, fact[string]{e.span, e.pet.Name, wrote || f != nil && f.Name != nil, false})
			numbers = append(numbers, fact[int64]{e.span, e.pet.CategoryID, wrote || f != nil && f.CategoryID != nil, false})
			status(e.pet.Status, wrote || f != nil && f.Status != nil, false)
			birth.returned = min(birth.returned, e.returned)
		case maybePatched:
			s.floatFacts(float{e.called, *e.fields}, e.returned, &names, &numbers, &statuses)
		case ordered:
			status(pending, true, false)
		case unavailable:
			status(e.status, false, false)
		case reserved:
			status(pending, false, false)
		case closed, maybeClosed:
			to, _ := petstore.ParseOrderStatus(e.status)
			status(to.Leaves().String(), true, true)
		case deleted:
			death = e.span
		}
	}
	for _, f := range s.floats {
		s.floatFacts(f, never, &names, &numbers, &statuses)
	}
	l := &life{absent: union(spell{0, birth.returned}, spell{death.called, never}), alive: spells{{birth.called, death.returned}}}
	for _, h := range s.orders {
		l.orders = append(l.orders, s.liveOrder(h))
		for status, from := range map[string]time.Duration{available: min(h.cancelled, h.lapse()), sold: h.completed} {
			if from != never {
				statuses = append(statuses, fact[string]{span{from, never}, status, true, true})
			}
		}
	}
	l.names, l.numbers, l.statuses, l.ages = possible(names), possible(numbers), possible(statuses), ages(names)
	return l
}

// floatFacts adds the values that a change gave, if the change was made.
func (s *subject) floatFacts(f float, returned time.Duration, names *[]fact[string], numbers *[]fact[int64], statuses *[]fact[string]) {
	when := span{f.from, returned}
	if f.Name != nil {
		*names = append(*names, fact[string]{when, *f.Name, true, true})
	}
	if f.CategoryID != nil {
		*numbers = append(*numbers, fact[int64]{when, *f.CategoryID, true, true})
	}
	if f.Status != nil {
		*statuses = append(*statuses, fact[string]{when, *f.Status, true, true})
	}
}

// lapse is when the hold can have ended by itself, or never if the order was closed in another way.
func (h *holding) lapse() time.Duration {
	if h.closed == "completed" || h.closed == "cancelled" {
		return never
	}
	return h.mayExpire
}

// liveOrder is when an order can have been in each state.
func (s *subject) liveOrder(h *holding) map[string]spells {
	ends := map[string]time.Duration{"completed": h.completed, "cancelled": h.cancelled, "expired": h.mayExpire}
	for _, e := range s.events {
		if (e.kind == closed || e.kind == maybeClosed) && e.order == h.number {
			ends[e.status] = min(ends[e.status], e.called)
		}
	}
	when := map[string]spells{
		"":     {{0, h.returned}},
		"open": {{h.called, min(h.closedBy, h.mustExpire)}},
	}
	for status, from := range ends {
		when[status] = spells{{from, never}}
	}
	return when
}

// when returns the part of moments during which the event can have been true.
func (l *life) when(e *event, moments spells) spells {
	switch e.kind {
	case shown:
		moments = moments.meet(l.alive).meet(l.names[e.pet.Name])
		return moments.meet(l.numbers[e.pet.CategoryID]).meet(l.statuses[e.pet.Status])
	case hidden:
		return moments.meet(l.otherwise(l.absent, l.statuses, e.status))
	case orderShown:
		return moments.meet(l.orders[e.order][e.status])
	case orderHidden:
		return moments.meet(l.otherwise(l.orders[e.order][""], l.orders[e.order], e.status))
	}
	return moments
}

// otherwise is when something can have been absent or in a different state.
func (l *life) otherwise(absent spells, states map[string]spells, state string) spells {
	all := append([]spell(nil), absent...)
	for other, when := range states {
		if state != "" && other != state {
			all = append(all, when...)
		}
	}
	return union(all...)
}
