package history

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// smallWorld is the largest number of events with which a history is checked as a whole. The search is exhaustive, so a
// larger history would take too long.
const smallWorld = 400

// world is all animals of a small history together. Here a list is one look at all animals, an inventory is exact, and
// the link to a next page means that there is one. In a large history, each animal is checked by itself instead.
type world struct {
	subjects []*subject
	number   map[*subject]int
	floats   bool // something may have happened without a trace, so no count is certain
}

// happening is a call and everything that it shows or does.
type happening struct {
	span
	*call
	rows []row
}

// checkWorld searches for one order of all events of a small history that explains all answers. It leaves out the
// categories, because no answer shows them together with animals: an order of their own is enough.
func (c *checker) checkWorld() {
	w := &world{number: make(map[*subject]int), floats: len(c.unseen) > 0}
	events := 0
	for _, s := range c.subjects {
		if s.faulty {
			return
		}
		w.number[s] = len(w.subjects)
		w.subjects = append(w.subjects, s)
		events += len(s.events)
		w.floats = w.floats || len(s.floats) > 0 || s.gone != never
		for _, h := range s.orders {
			w.floats = w.floats || h.completed != never || h.cancelled != never
		}
	}
	if events > smallWorld {
		return
	}
	all := w.happenings(c.calls)
	switch w.linearizable(all, c.patience()) {
	case porcupine.Unknown:
		c.report(Undecided, fmt.Sprintf("The search for one order of all %d events took longer than %v.", events, c.patience()))
	case porcupine.Illegal:
		at := sort.Search(len(all)-1, func(i int) bool { return w.linearizable(begun(all, i+1), c.patience()) == porcupine.Illegal })
		concerned := []*call{all[at].call}
		for i := at - 1; i >= 0 && len(concerned) < 10; i-- {
			concerned = append(concerned, all[i].call)
		}
		c.report(OutOfOrder, "No single order of all events explains all answers. The first that cannot be is the first one below, after those that follow it.", concerned...)
	}
}

// happenings puts together what each call shows of several animals, in the order in which the calls were over.
func (w *world) happenings(calls []*call) (all []*happening) {
	looks := make(map[*call]*happening)
	for _, call := range calls {
		if call.reads() && call.outcome == done {
			looks[call] = &happening{span: span{call.Called, call.Returned}, call: call}
			all = append(all, looks[call])
		}
	}
	for _, s := range w.subjects {
		for _, e := range s.events {
			if h := looks[e.call]; h != nil && e.looks() {
				h.rows = append(h.rows, row{s, e})
			} else {
				all = append(all, &happening{e.span, e.call, []row{{s, e}}})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *happening) int { return cmp.Compare(a.returned, b.returned) })
	return all
}

// begun is the history as it was when the nth happening was over.
func begun(sorted []*happening, n int) []*happening {
	some := slices.Clone(sorted[:n])
	for _, h := range sorted[n:] {
		if h.called <= sorted[n-1].returned && len(h.rows) == 1 && !h.rows[0].looks() {
			some = append(some, &happening{span{h.called, never}, h.call, h.rows})
		}
	}
	return some
}

func (w *world) linearizable(all []*happening, patience time.Duration) porcupine.CheckResult {
	operations := make([]porcupine.Operation, len(all))
	for i, h := range all {
		operations[i] = porcupine.Operation{Input: h, Call: int64(h.called), Return: int64(h.returned)}
	}
	model := porcupine.Model{
		Init: func() any {
			var now []state
			for _, s := range w.subjects {
				now = append(now, s.begin())
			}
			return now
		},
		Step: func(before, input, _ any) (bool, any) {
			after, ok := w.step(before.([]state), input.(*happening))
			return ok, after
		},
		Equal: func(a, b any) bool { return slices.Equal(a.([]state), b.([]state)) },
	}
	return porcupine.CheckOperationsTimeout(model, operations, patience)
}

func (w *world) step(now []state, h *happening) ([]state, bool) {
	now = slices.Clone(now)
	for _, r := range h.rows {
		i := w.number[r.subject]
		after, ok := r.subject.step(now[i], r.event)
		if !ok {
			return now, false
		}
		now[i] = after
	}
	return now, w.floats || w.counts(now, h) && w.continues(now, h)
}

// counts reports whether an inventory can be right. The end of a hold leaves no trace, so an inventory may be the first to
// show it.
func (w *world) counts(now []state, h *happening) bool {
	if h.op != "getInventory" {
		return true
	}
	count, freed := make(map[string]int64), int64(0)
	for i, s := range now {
		if s.phase == alive {
			count[s.status]++
		}
		if w.subjects[i].lapsed(s, h.returned) {
			freed++
		}
	}
	more := h.inventory[available] - count[available]
	return more >= 0 && more <= freed && h.inventory[pending] == count[pending]-more && h.inventory[sold] == count[sold]
}

// continues reports whether a page of animals that promises another one keeps the promise.
func (w *world) continues(now []state, h *happening) bool {
	if h.op != "listPets" || !h.query.more {
		return true
	}
	return slices.ContainsFunc(w.subjects, func(s *subject) bool {
		is := now[w.number[s]]
		asked := h.query.status == "" || h.query.status == is.status || h.query.status == available && s.lapsed(is, h.returned)
		return s.id < h.query.from && is.phase == alive && asked
	})
}

// lapsed reports whether the hold on the animal can have ended by then.
func (s *subject) lapsed(now state, then time.Duration) bool {
	return now.holder != 0 && then >= s.orders[now.holder-1].mayExpire
}
