package history

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"petstore/internal/model"
)

// model returns the sequential model of the partition, for Porcupine. The model is nondeterministic: no answer shows the
// moment at which an order expires, so an operation may leave the partition in one of several states.
func (p *partition) model() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{model.Part(p.ids)} },
		Step: func(state, input, _ any) (next []any) {
			for _, s := range state.(model.State).Step(input.(*model.Operation)) {
				next = append(next, s)
			}
			return next
		},
		Equal: func(a, b any) bool { return a.(model.State).Equal(b.(model.State)) },
	}
	return m.ToModel()
}

// search looks for a linearization of the partition. If there is none, search returns the longest partial linearization.
func (c *checker) search(p *partition) (result porcupine.CheckResult, longest []*model.Operation) {
	left := time.Until(c.deadline)
	if left <= 0 {
		c.undecided++
		return porcupine.Unknown, nil
	}
	var operations []porcupine.Operation
	for _, op := range p.operations {
		operations = append(operations, porcupine.Operation{Input: op, Call: int64(op.Called), Return: int64(op.Returned)})
	}
	result, info := porcupine.CheckOperationsVerbose(p.model(), operations, left)
	if result == porcupine.Unknown {
		c.undecided++
	}
	for _, order := range info.PartialLinearizations()[0] {
		if len(order) > len(longest) {
			longest = nil
			for _, i := range order {
				longest = append(longest, p.operations[i])
			}
		}
	}
	return result, longest
}

// linearize finds a linearization of the partition. If there is none, linearize reports the first answer that does not fit.
func (c *checker) linearize(p *partition) {
	result, longest := c.search(p)
	p.linearization, p.isFaulty = longest, result != porcupine.Ok
	if result != porcupine.Illegal {
		return
	}
	rest := slices.DeleteFunc(slices.Clone(p.operations), func(op *model.Operation) bool { return slices.Contains(longest, op) })
	culprit := slices.MinFunc(rest, func(a, b *model.Operation) int { return cmp.Compare(a.Returned, b.Returned) })
	exchanges := []model.Exchange{culprit.Exchange}
	for _, op := range slices.Backward(longest) {
		exchanges = append(exchanges, op.Exchange)
	}
	kind := NotLinearizable
	if len(longest) == 0 && culprit.Code == "" {
		kind = NotAskedFor
	}
	c.report(kind, fmt.Sprintf("No order of the operations on animals %v, orders %v and categories %v explains all answers. "+
		"The first exchange below does not fit. Those below it come before it, the latest first.",
		p.ids["pets"], p.ids["orders"], p.ids["categories"]), exchanges[:min(len(exchanges), 9)]...)
}

// The type lasting is a state of a partition, and the interval in which the partition can have had that state.
type lasting struct {
	from, to time.Duration
	model.State
}

// replay finds the states of the linearization. The state after an operation begins, at the earliest, when this operation
// and all earlier operations have been called. The state ends, at the latest, when the first of the later operations has
// returned.
func (p *partition) replay() {
	ends := make([]time.Duration, len(p.linearization)+1)
	ends[len(p.linearization)] = model.Never
	for i, op := range slices.Backward(p.linearization) {
		ends[i] = min(ends[i+1], op.Returned)
	}
	states, from := []model.State{model.Part(p.ids)}, time.Duration(0)
	for i, end := range ends {
		var next []model.State
		for _, s := range states {
			p.states = append(p.states, lasting{from, end, s})
			if i < len(p.linearization) {
				next = append(next, s.Step(p.linearization[i])...)
			}
		}
		if i < len(p.linearization) {
			states, from = next, max(from, p.linearization[i].Called)
		}
	}
}

// The method shows reports whether the answer of a read is possible in the linearization that the checker found.
func (p *partition) shows(read *model.Operation) bool {
	if p.states == nil {
		p.replay()
	}
	return slices.ContainsFunc(p.states, func(s lasting) bool {
		return s.from <= read.Returned && s.to >= read.Called && len(s.Step(read)) > 0
	})
}

// canShow reports whether the answer of a read is possible in any linearization.
func (c *checker) canShow(p *partition, read *model.Operation) bool {
	with := &partition{operations: append(slices.Clip(p.operations), read), ids: p.ids}
	result, _ := c.search(with)
	return result != porcupine.Illegal
}
