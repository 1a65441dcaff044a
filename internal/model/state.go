// Package model is a sequential model of the store. For every state of the store and every operation it says which answers
// are right, and in which state each of them leaves the store. Only tests import it.
//
// Package history searches concurrent histories for a linearization by this model. FuzzSequence compares the whole API with
// it, one request after the other.
//
// Each noun has a file with its type, and with a method of [State] for each of its operations. To add an operation, write
// that method and name it in the table of operations. To add a noun, also add its rows to State, [Part] and [Operation].
package model

import (
	"slices"
	"strings"
	"time"
)

// State is what the store holds, or a part of it, at one moment. A State never changes; its methods return others.
type State struct {
	// These are in the order of their ids. They include animals that are gone and numbers that have no name any more, and in
	// a part of a store also what is still to come.
	Pets       []Pet
	Orders     []Order
	Categories []Category
	counter    int64     // the highest number that createCategory gave
	used       []usedKey // in the order of their use

	// began is the clock of the store at the time 0 of the operations. It is zero for a part of a store, whose clock is not
	// known.
	began time.Time
}

// New returns a whole store that is empty. Its operations must be called and return at the same moment, counted from that
// time.
func New(began time.Time) State { return State{began: began} }

// Part returns a part of a store that is empty, and that will hold only what has those ids, given by noun. An operation on a
// part happens at one moment between its call and its return. Of a list, Step checks only what it tells about the part.
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

// outcome is something that a correct store may do when it is asked: refuse, or give an answer and be in the next state.
type outcome struct {
	next   State
	code   string // the code of the refusal
	says   string // a part of its message
	status int
	body   any // the Pet, Order or Category in the answer
}

func refused(s State, code, says string) outcome { return outcome{next: s, code: code, says: says} }

// each returns the outcomes of an operation, if the store can be in several states.
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
	if op.Honours() {
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
