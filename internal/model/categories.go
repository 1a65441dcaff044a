package model

import (
	"fmt"
	"slices"
)

// Category is a name for the animals with a certain category number.
type Category struct {
	ID   int64  `json:"id"`
	Name string `json:"name"` // empty while the number has no name
}

func (c Category) id() int64 { return c.ID }

// The method taken refuses a name that another category has.
func (s State) taken(c Category) (refusal outcome, isTaken bool) {
	at := slices.IndexFunc(s.Categories, func(other Category) bool { return other.Name == c.Name && other.ID != c.ID })
	if at < 0 {
		return outcome{}, false
	}
	return refused(s, "name_taken", fmt.Sprintf("Category %d ", s.Categories[at].ID)), true
}

// createCategory gives the name to the next number of a counter. The counter never goes back, and skips numbers that
// already have a name.
func (s State) createCategory(op *Operation) []outcome {
	c := Category{op.ID, *op.Fields.Name}
	if refusal, isTaken := s.taken(Category{Name: c.Name, ID: -1 << 63}); isTaken {
		return []outcome{refusal}
	}
	if get(s.Categories, c.ID).Name != "" || c.ID <= s.counter || s.isWhole() && c.ID != s.nextCategory() {
		return nil
	}
	s.counter = c.ID
	return []outcome{{next: s.withCategory(op, c), status: 201, body: c}}
}

// nextCategory returns the number that createCategory uses next. The counter begins when the first category is created. Its
// first number is one higher than the highest positive category number of an animal, or 1. Category numbers from 2^52 on do
// not count.
func (s State) nextCategory() int64 {
	next := s.counter + 1
	for _, p := range s.Pets {
		if s.counter == 0 && p.isThere() && p.CategoryID < 1<<52 {
			next = max(next, p.CategoryID+1)
		}
	}
	for get(s.Categories, next).Name != "" {
		next++
	}
	return next
}

// listCategories shows all categories of the page as they are at one moment.
func (s State) listCategories(op *Operation) []outcome {
	return listed(s, op, op.Categories, s.Categories, func(c Category) (Category, bool) { return c, c.Name != "" })
}

func (s State) getCategory(op *Operation) []outcome {
	c := get(s.Categories, op.ID)
	if c.Name == "" {
		return []outcome{refused(s, "not_found", "")}
	}
	return []outcome{{next: s, status: 200, body: c}}
}

// nameCategory gives a category number its first name or a new name.
func (s State) nameCategory(op *Operation) []outcome {
	c := Category{op.ID, *op.Fields.Name}
	if refusal, isTaken := s.taken(c); isTaken {
		return []outcome{refusal}
	}
	status := 200
	if get(s.Categories, c.ID).Name == "" {
		status = 201
	}
	return []outcome{{next: s.withCategory(op, c), status: status, body: c}}
}

func (s State) deleteCategory(op *Operation) []outcome {
	if get(s.Categories, op.ID).Name == "" {
		return []outcome{refused(s, "not_found", "")}
	}
	return []outcome{{next: s.withCategory(op, Category{ID: op.ID}), status: 204}}
}
