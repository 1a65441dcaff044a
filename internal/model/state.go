// Package model is the reference model of the store, as a step function. [State.Step] takes a state of the store, and an
// operation with its answer. It returns the states that can follow, or none if the answer is wrong. Only tests import the
// package.
//
// Package history uses the model to search concurrent histories for a linearization. FuzzSequence compares the whole API
// with the model, one request at a time.
//
// Each noun has a file with its type, and with a method of [State] for each of its operations. To add an operation, write
// the method and add a row to the table of operations. To add a noun, also add its rows to State, [Part] and [Operation].
package model

import (
	"slices"
	"strings"
	"time"
)

// State is the content of the store, or of a part of the store, at one moment. A State never changes: its methods return
// new states.
type State struct {
	// These rows are sorted by id. They include deleted animals, and category numbers that have lost their names. In a part
	// of a store, they also include rows that will be created later.
	Pets       []Pet
	Orders     []Order
	Categories []Category
	Events     []Event   // the feed, oldest first; empty in a part of a store
	counter    int64     // the highest number that createCategory returned
	used       []usedKey // in the order in which requests used the keys

	// began is the time that the store's clock showed when the history began. It is zero for a part of a store, because the
	// clock of a part is not known.
	began time.Time
}

// New returns the state of an empty store that the model knows as a whole. Each operation on the store must be called and
// return at the same moment. The operations count their times from began.
func New(began time.Time) State { return State{began: began} }

// Part returns an empty part of a store. The part will hold only rows with the given ids. The map has the ids by noun. An
// operation on a part happens at one moment between its call and its return. Step checks only what a list shows about the
// part.
func Part(ids map[string][]int64) (s State) {
	for _, id := range ids["pets"] {
		s.Pets = put(s.Pets, Pet{ID: id})
	}
	for _, id := range ids["orders"] {
		s.Orders = put(s.Orders, Order{ID: id})
	}
	for _, id := range ids["categories"] {
		s.Categories = put(s.Categories, Category{ID: id})
	}
	return s
}

func (s State) isWhole() bool { return !s.began.IsZero() }

// Equal reports whether two states are the same.
func (s State) Equal(other State) bool {
	return slices.Equal(s.Pets, other.Pets) && slices.Equal(s.Orders, other.Orders) && slices.Equal(s.Categories, other.Categories) &&
		s.counter == other.counter && slices.Equal(s.used, other.used)
}

// outcome is one way in which a correct store may answer an operation, and the state of the store afterwards.
type outcome struct {
	next   State
	code   string // the code of a refusal
	says   string // a part of the refusal's message
	status int    // the status, unless the outcome is a refusal
	body   any    // the Pet, Order or Category in the answer
}

func refused(s State, code, says string) outcome { return outcome{next: s, code: code, says: says} }

// The function each returns the outcomes of an operation, one for each possible state of the store.
func each(states []State, do func(State) outcome) (all []outcome) {
	for _, s := range states {
		all = append(all, do(s))
	}
	return all
}

// Step returns the possible states of the store after it has given this answer to the operation. It returns no state if no
// correct store in the state s gives this answer.
func (s State) Step(op *Operation) (next []State) {
	do := operations[op.Name].do
	if op.UsesIdempotencyKey() {
		do = once(do)
	}
	for _, o := range do(s, op) {
		if op.allows(o) {
			next = append(next, o.next)
		}
	}
	return next
}

// allows reports whether the answer matches the outcome.
func (op *Operation) allows(o outcome) bool {
	switch {
	case op.Unknown:
		return true
	case o.code != "":
		return op.Code == o.code && strings.Contains(op.Message, o.says)
	case op.Code != "" || op.Status != o.status:
		return false
	}
	switch want := o.body.(type) {
	case Pet:
		return slices.Equal(op.Pets, []Pet{want})
	case Order:
		return slices.Equal(op.Orders, []Order{want})
	case Category:
		return slices.Equal(op.Categories, []Category{want})
	}
	return true
}
