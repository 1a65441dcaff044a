package history

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"

	"petstore/internal/petstore"
)

// register is what was done to the categories. Names are unique among all of them, so they have one history together.
type register struct {
	events []*naming
	// puts and deletes are the requests whose outcome is unknown and that left no certain trace; see floatUnknown.
	puts    []put
	deletes map[int64]time.Duration

	seen    map[category]time.Duration // when a name was first seen
	writers map[string]int             // how many requests gave a name
}

// put is a name that may have been given at any time after from.
type put struct {
	from time.Duration
	category
}

// naming is a call about categories and when it was done.
type naming struct {
	span
	*call
	replay bool
}

// gatherCategories finds the calls about categories, and when the calls without an answer were done.
func (c *checker) gatherCategories(makings []*made) {
	r := &register{deletes: make(map[int64]time.Duration), seen: make(map[category]time.Duration), writers: make(map[string]int)}
	c.names = r
	for _, call := range c.calls {
		r.see(call)
	}
	making := make(map[*call]*made)
	for _, m := range makings {
		making[m.call] = m
		r.writers[*m.fields.Name]++
	}
	for _, call := range c.calls {
		switch call.op {
		case "createCategory", "nameCategory", "getCategory", "deleteCategory", "listCategories":
		default:
			continue
		}
		m := making[call]
		switch {
		case m != nil && m.answered:
			r.events = append(r.events, &naming{span: m.span, call: call})
		case call.outcome == unknown && (m != nil || call.op != "createCategory"):
			r.float(call)
		case call.outcome == done || call.outcome == refused && call.code != petstore.IdempotencyConflict:
			r.events = append(r.events, &naming{span{call.Called, call.Returned}, call, call.op == "createCategory" && call.outcome == done})
		}
	}
}

// see notes which names a call shows or gives.
func (r *register) see(call *call) {
	shown := call.categories
	if call.code == petstore.NameTaken {
		shown = []category{{call.other, *call.fields.Name}}
	}
	for _, s := range shown {
		if first, met := r.seen[s]; !met || call.Returned < first {
			r.seen[s] = call.Returned
		}
	}
	if call.op == "nameCategory" && call.fields.Name != nil && (call.outcome == done || call.outcome == unknown) {
		r.writers[*call.fields.Name]++
	}
}

// float treats a call whose outcome is unknown in the same way as floatUnknown.
func (r *register) float(call *call) {
	if call.op == "deleteCategory" {
		if from, met := r.deletes[call.id]; !met || call.Called < from {
			r.deletes[call.id] = call.Called
		}
		return
	}
	if call.fields.Name == nil {
		return
	}
	if call.op == "nameCategory" {
		r.floatPut(call, category{call.id, *call.fields.Name})
		return
	}
	for named := range r.seen { // a name that nobody saw has left no trace
		if named.Name == *call.fields.Name {
			r.floatPut(call, named)
		}
	}
}

func (r *register) floatPut(call *call, named category) {
	first, met := r.seen[named]
	if !met || r.writers[named.Name] > 1 {
		r.puts = append(r.puts, put{call.Called, named})
		return
	}
	done := *call
	done.categories = []category{named}
	r.events = append(r.events, &naming{span: span{call.Called, max(first, call.Called)}, call: &done})
}

// checkCategories searches for an order of the events that explains all of them.
func (c *checker) checkCategories() {
	switch r := c.names; r.linearizable(r.events, c.patience()) {
	case porcupine.Unknown:
		c.report(Undecided, fmt.Sprintf("The search for an order of the %d events of the categories took longer than %v.", len(r.events), c.patience()))
	case porcupine.Illegal:
		sorted := slices.SortedStableFunc(slices.Values(r.events), func(a, b *naming) int { return cmp.Compare(a.returned, b.returned) })
		at := sort.Search(len(sorted)-1, func(i int) bool {
			return r.linearizable(r.started(sorted, i+1), c.patience()) == porcupine.Illegal
		})
		concerned := []*call{sorted[at].call}
		for i := at - 1; i >= 0 && len(concerned) < 6; i-- {
			concerned = append(concerned, sorted[i].call)
		}
		c.report(OutOfOrder, "No order of the events of the categories explains all answers. The first that cannot be is the first one below, after those that follow it.", concerned...)
	}
}

// started is the history as it was when the nth event was over.
func (r *register) started(sorted []*naming, n int) []*naming {
	some := slices.Clone(sorted[:n])
	for _, e := range sorted[n:] {
		if e.called <= sorted[n-1].returned && !e.reads() && e.outcome != refused {
			open := *e
			open.returned = never
			some = append(some, &open)
		}
	}
	return some
}

func (r *register) linearizable(events []*naming, patience time.Duration) porcupine.CheckResult {
	operations := make([]porcupine.Operation, len(events))
	for i, e := range events {
		operations[i] = porcupine.Operation{Input: e, Call: int64(e.called), Return: int64(e.returned)}
	}
	model := porcupine.Model{
		Init: func() any { return names{} },
		Step: func(before, input, _ any) (bool, any) {
			after, ok := r.step(before.(names), input.(*naming))
			return ok, after
		},
		Equal: func(a, b any) bool { return a.(names).equal(b.(names)) },
	}
	return porcupine.CheckOperationsTimeout(model, operations, patience)
}
