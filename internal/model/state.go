// Package model is the reference model of the store, as a step function: [State.Step] takes a state of the store, and an
// operation with its answer. It returns the states that can follow, or none if the answer is wrong. Only tests import it.
//
// Package history searches concurrent histories for a linearization by this model. FuzzSequence compares the whole API with
// it, one request at a time.
//
// Each noun has a file with its type, and with a method of [State] for each of its operations. To add an operation, write
// that method and name it in the table of operations. To add a noun, also add its rows to State, [Part] and [Operation].
package model

import (
	"slices"
	"strings"
	"time"
)

// State is what the store, or a part of it, holds at one moment. A State never changes; its methods return new ones.
type State struct {
	// These are sorted by id. They include deleted animals and numbers that have lost their names. A part of a store also
	// includes what will be made later.
	Pets       []Pet
	Orders     []Order
	Categories []Category
	counter    int64     // the highest number that createCategory gave
	used       []usedKey // in the order of their use

	// began is what the clock of the store showed at the time 0 of the operations. It is zero for a part of a store, whose
	// clock is not known.
	began time.Time
}

// New returns a whole store that is empty. Each operation on it must be called and return at one moment, which is counted
// from that time.
func New(began time.Time) State { return State{began: began} }

// Part returns an empty part of a store. The part will hold only what has those ids, which are given by noun. An operation
// on a part happens at one moment between its call and its return. Step checks only what a list tells about the part.
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

// outcome is one way in which a correct store may answer an operation, and the state in which the store is then.
type outcome struct {
	next   State
	code   string // the code of a refusal
	says   string // a part of its message
	status int    // if it is not a refusal
	body   any    // the Pet, Order or Category in the answer
}

func refused(s State, code, says string) outcome { return outcome{next: s, code: code, says: says} }

// each returns the outcome of an operation in each of the states in which the store can be.
func each(states []State, do func(State) outcome) (all []outcome) {
	for _, s := range states {
		all = append(all, do(s))
	}
	return all
}

// Step returns the states in which the store can be after it has answered the operation in the way it did. It returns none
// if no correct store in this state answers that way.
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

// allows reports whether the outcome is the one that the answer shows.
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
