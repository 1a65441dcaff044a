package model

import (
	"slices"
	"strings"
)

// Event is one change of the store, as listEvents shows it to a key that may write. The id is left out, because the name of
// the feed is random.
type Event struct {
	ID        string   `json:"id"`
	Sequence  int      `json:"sequence"`
	Type      string   `json:"type"`
	Timestamp string   `json:"timestamp"`
	Data      any      `json:"data"` // a Pet, an Order or a Category
	Previous  Previous `json:"previous,omitzero"`
}

// Previous has the old values of what a change changed.
type Previous struct {
	Name       string `json:"name,omitempty"`
	CategoryID *int64 `json:"categoryId,omitempty"`
	Status     string `json:"status,omitempty"`
	Reference  string `json:"reference,omitempty"`
	ExpiresAt  string `json:"expiresAt,omitempty"`
}

// The function old returns the value before a change, or a zero value if the value is the same afterwards.
func old[T comparable](before, after T) (none T) {
	if before == after {
		return none
	}
	return before
}

// note adds an event to the feed. Only the feed of a whole store is known.
func (s State) note(op *Operation, kind string, data any, previous Previous) State {
	if s.isWhole() {
		e := Event{Sequence: len(s.Events) + 1, Type: kind, Timestamp: s.timeOf(op, 0, nil), Data: data, Previous: previous}
		s.Events = append(slices.Clip(s.Events), e)
	}
	return s
}

// withPet returns the state after the operation has changed an animal.
func (s State) withPet(op *Operation, p Pet) State {
	before := get(s.Pets, p.ID)
	s.Pets = put(s.Pets, p)
	switch {
	case before.Status == "":
		return s.note(op, "pet.created", p.face(), Previous{})
	case p.gone:
		return s.note(op, "pet.deleted", before.face(), Previous{})
	case p.face() == before.face():
		return s
	}
	previous := Previous{Name: old(before.Name, p.Name), Status: old(before.Status, p.Status)}
	if before.CategoryID != p.CategoryID {
		previous.CategoryID = &before.CategoryID
	}
	return s.note(op, "pet.updated", p.face(), previous)
}

// withOrder returns the state after the operation has changed an order. If it removes the reference, no event of the order
// keeps one.
func (s State) withOrder(op *Operation, o Order) State {
	before := get(s.Orders, o.ID)
	s.Orders = put(s.Orders, o)
	switch {
	case before.Status == "":
		return s.note(op, "order.placed", o.face(nil), Previous{})
	case before.Status != o.Status:
		return s.note(op, "order."+o.Status, o.face(nil), Previous{Status: before.Status})
	case o.face(nil) == before.face(nil):
		return s
	}
	s = s.note(op, "order.updated", o.face(nil), Previous{Reference: old(before.Reference, o.Reference), ExpiresAt: old(before.ExpiresAt, o.ExpiresAt)})
	if o.Reference == "" {
		s.Events = slices.Clone(s.Events)
		for i, e := range s.Events {
			if of, isOrder := e.Data.(Order); isOrder && of.ID == o.ID {
				s.Events[i] = e.WithoutReference()
			}
		}
	}
	return s
}

// withCategory returns the state after the operation has changed a category.
func (s State) withCategory(op *Operation, c Category) State {
	before := get(s.Categories, c.ID)
	s.Categories = put(s.Categories, c)
	switch {
	case before.Name == "":
		return s.note(op, "category.created", c, Previous{})
	case c.Name == "":
		return s.note(op, "category.deleted", before, Previous{})
	case c == before:
		return s
	}
	return s.note(op, "category.updated", c, Previous{Name: before.Name})
}

// WithoutReference returns the event as a key sees it that may only read.
func (e Event) WithoutReference() Event {
	if o, isOrder := e.Data.(Order); isOrder {
		o.Reference, e.Previous.Reference = "", ""
		e.Data = o
	}
	return e
}

// IsSelected reports whether a page with these types and this animal shows the event. The types are as in the parameter, and
// empty if there is none. The animal is nil if there is none.
func (e Event) IsSelected(types string, petID *int64) bool {
	isOfPet := petID == nil
	switch data := e.Data.(type) {
	case Pet:
		isOfPet = isOfPet || data.ID == *petID
	case Order:
		isOfPet = isOfPet || data.PetID == *petID
	}
	isOfType := func(word string) bool {
		prefix, isPattern := strings.CutSuffix(word, "*")
		return word == e.Type || isPattern && strings.HasPrefix(e.Type, prefix)
	}
	return isOfPet && (types == "" || slices.ContainsFunc(strings.Split(types, ","), isOfType))
}
