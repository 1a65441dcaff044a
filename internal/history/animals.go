package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// checkAnimals searches, for each animal, for an order of its events that explains all of them.
func (c *checker) checkAnimals() {
	c.each(func(s *subject) {
		if s.faulty || c.twoOpenOrders(s) {
			s.faulty = true
			return
		}
		switch s.linearizable(s.events, c.patience()) {
		case porcupine.Unknown:
			s.faulty = true
			c.report(Undecided, fmt.Sprintf("The search for an order of the %d events of animal %d took longer than %v.", len(s.events), s.id, c.patience()))
		case porcupine.Illegal:
			s.faulty = true
			c.explain(s)
		}
	})
}

// linearizable searches for an order of the events in which each of them can happen, at one moment of its span. It
// treats all that one list shows of several orders as one event, because the order among those parts would only multiply
// the search.
func (s *subject) linearizable(events []*event, patience time.Duration) porcupine.CheckResult {
	var operations []porcupine.Operation
	lists := make(map[*call]int)
	for _, e := range prune(events) {
		if at, met := lists[e.call]; met && e.kind.isOfOrder() && e.looks() {
			operations[at].Input = append(operations[at].Input.([]*event), e)
			continue
		}
		if e.kind.isOfOrder() && e.looks() {
			lists[e.call] = len(operations)
		}
		operations = append(operations, porcupine.Operation{Input: []*event{e}, Call: int64(e.called), Return: int64(e.returned)})
	}
	model := porcupine.Model{
		Init: func() any { return s.begin() },
		Step: func(before, input, _ any) (bool, any) {
			now, ok := before.(state), true
			for _, e := range input.([]*event) {
				if now, ok = s.step(now, e); !ok {
					break
				}
			}
			return ok, now
		},
	}
	return porcupine.CheckOperationsTimeout(model, operations, patience)
}

// isOfOrder reports whether an event shows or hides an order.
func (k kind) isOfOrder() bool { return k == orderShown || k == orderHidden }

// looks reports whether the event changes nothing.
func (e *event) looks() bool {
	switch e.kind {
	case shown, hidden, orderShown, orderHidden, remade, orderRemade, unavailable, reserved:
		return true
	}
	return false
}

// prune leaves out redundant reads. If a read began before another one and ended after it, and both saw the same, both
// can have happened at the same moment.
func prune(events []*event) []*event {
	type look struct {
		kind   kind
		pet    pet
		order  int
		status string
	}
	latest := make(map[look]time.Duration) // the latest time of a call, among the reads that have returned
	sorted := slices.SortedStableFunc(slices.Values(events), func(a, b *event) int { return cmp.Compare(a.returned, b.returned) })
	return slices.DeleteFunc(sorted, func(e *event) bool {
		if !e.looks() {
			return false
		}
		l := look{e.kind, e.pet, e.order, e.status}
		called, met := latest[l]
		if met && called >= e.called {
			return true
		}
		latest[l] = e.called
		return false
	})
}

// twoOpenOrders reports two orders of one animal that were certainly open at the same time. An order is certainly open
// from the answer that placed it until the first request to close it, or until its hold may have ended.
func (c *checker) twoOpenOrders(s *subject) bool {
	type held struct {
		span
		order *holding
	}
	var all []held
	for i, h := range s.orders {
		end := min(h.mayExpire, h.completed, h.cancelled)
		for _, e := range s.events {
			if e.order == i && (e.kind == closed || e.kind == maybeClosed || e.kind == orderShown && e.status != "open") {
				end = min(end, e.called)
			}
		}
		if h.returned < end {
			all = append(all, held{span{h.returned, end}, h})
		}
	}
	slices.SortFunc(all, func(a, b held) int { return cmp.Compare(a.called, b.called) })
	for i := 1; i < len(all); i++ {
		if first, second := all[i-1], all[i]; second.called < first.returned {
			c.report(TwoOpenOrders, fmt.Sprintf("Animal %d was held by order %d and by order %d at the same time.", s.id, first.order.ID, second.order.ID),
				c.placing(first.order), c.placing(second.order))
			return true
		}
	}
	return false
}

// placing is the call that placed an order.
func (c *checker) placing(h *holding) *call {
	for _, e := range c.owners[h.ID].events {
		if e.kind == ordered && e.order == h.number {
			return e.call
		}
	}
	return nil
}

// explain finds the kind of fault that makes an animal's events impossible. It tries what would have to be different to
// make them possible.
func (c *checker) explain(s *subject) {
	culprit, before := c.firstImpossible(s)
	concerned := []*call{culprit.call}
	for _, e := range before {
		concerned = append(concerned, e.call)
	}
	say := func(kind Kind, what string) {
		c.report(kind, fmt.Sprintf("Animal %d: %s The first answer that cannot be is the first one below, after those that follow it.", s.id, what), concerned...)
	}
	without, lost := s.withoutUnseen()
	switch {
	case lost && without.linearizable(without.events, c.patience()) == porcupine.Ok:
		say(Lost, "a write was acknowledged and never seen.")
	case s.linearizable(s.late(), c.patience()) == porcupine.Ok:
		say(Early, "a write was acknowledged before it was done.")
	case c.readsOnly(s):
		say(Stale, "a read showed what was no longer true.")
	default:
		say(OutOfOrder, "no order of the events explains all answers.")
	}
}

// firstImpossible finds the answer that made the history of an animal impossible, and a few writes before it.
func (c *checker) firstImpossible(s *subject) (culprit *event, before []*event) {
	sorted := slices.SortedStableFunc(slices.Values(s.events), func(a, b *event) int { return cmp.Compare(a.returned, b.returned) })
	n, impossible := 1, len(sorted)
	for n < impossible {
		half := (n + impossible) / 2
		if s.linearizable(started(sorted, half), c.patience()) == porcupine.Illegal {
			impossible = half
		} else {
			n = half + 1
		}
	}
	culprit = sorted[impossible-1]
	for i := impossible - 2; i >= 0 && len(before) < 4; i-- {
		if e := sorted[i]; !e.looks() || len(before) == 0 {
			before = append(before, e)
		}
	}
	return culprit, before
}

// started is the history as it was when the nth event was over. Writes that had been called by then may have been done.
func started(sorted []*event, n int) []*event {
	now := sorted[n-1].returned
	some := slices.Clone(sorted[:n])
	for _, e := range sorted[n:] {
		if e.called <= now && !e.looks() {
			open := *e
			open.returned = math.MaxInt64
			some = append(some, &open)
		}
	}
	return some
}
