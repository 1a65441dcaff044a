package history

import (
	"cmp"
	"net/http"
	"slices"

	"petstore/internal/petstore"
)

// names are the categories at one moment, in the order of their ids, and the highest number that the counter gave.
type names struct {
	all     []category
	counter int64
}

func (n names) equal(other names) bool {
	return n.counter == other.counter && slices.Equal(n.all, other.all)
}

func (n names) find(id int64) (int, bool) {
	return slices.BinarySearchFunc(n.all, id, func(c category, id int64) int { return cmp.Compare(c.ID, id) })
}

func (n names) with(c category) names {
	at, found := n.find(c.ID)
	n.all = slices.Clone(n.all)
	if found {
		n.all[at] = c
	} else {
		n.all = slices.Insert(n.all, at, c)
	}
	return n
}

func (n names) without(id int64) names {
	if at, found := n.find(id); found {
		n.all = slices.Delete(slices.Clone(n.all), at, at+1)
	}
	return n
}

// step returns the categories after the event, or false if the event cannot happen to them. Where the counter begins
// depends on the animals, so step checks only that the counter never goes back.
func (r *register) step(now names, e *naming) (names, bool) {
	if e.code == petstore.NameTaken {
		return r.named(now, e, category{e.other, *e.fields.Name})
	}
	if e.code == petstore.NotFound {
		return r.nameless(now, e, e.id)
	}
	ok := true
	switch e.op {
	case "getCategory":
		return r.named(now, e, e.categories[0])
	case "listCategories":
		return r.listed(now, e)
	case "deleteCategory":
		_, ok = now.find(e.id)
		ok = ok || slices.ContainsFunc(r.puts, func(p put) bool { return p.ID == e.id && p.from <= e.returned })
		return now.without(e.id), ok
	case "createCategory":
		made := e.categories[0]
		if e.replay {
			return now, made.ID <= now.counter
		}
		if now, ok = r.untaken(now, e, made); ok {
			now, ok = r.nameless(now, e, made.ID)
		}
		ok = ok && made.ID > now.counter
		now.counter = made.ID
		return now.with(made), ok
	case "nameCategory":
		named := e.categories[0]
		if now, ok = r.untaken(now, e, named); ok && e.Status == http.StatusCreated {
			now, ok = r.nameless(now, e, named.ID)
		} else if _, found := now.find(named.ID); ok && e.Status == http.StatusOK && !found {
			ok = slices.ContainsFunc(r.puts, func(p put) bool { return p.ID == named.ID && p.from <= e.returned })
		}
		return now.with(named), ok
	}
	return now, false
}

func (r *register) listed(now names, e *naming) (names, bool) {
	ok := true
	for _, row := range e.categories {
		if now, ok = r.named(now, e, row); !ok {
			return now, false
		}
	}
	for _, c := range now.all {
		if e.query.covers(c.ID) && !slices.Contains(e.categories, c) {
			if now, ok = r.nameless(now, e, c.ID); !ok {
				return now, false
			}
		}
	}
	return now, true
}

// named returns the categories if the number can have the name at the time of the event.
func (r *register) named(now names, e *naming, want category) (names, bool) {
	if slices.Contains(now.all, want) {
		return now, true
	}
	if !slices.ContainsFunc(r.puts, func(p put) bool { return p.category == want && p.from <= e.returned }) {
		return now, false
	}
	now, ok := r.untaken(now, e, want)
	return now.with(want), ok
}

// nameless returns the categories if the number can be without a name at the time of the event.
func (r *register) nameless(now names, e *naming, id int64) (names, bool) {
	if _, found := now.find(id); !found {
		return now, true
	}
	from, deleted := r.deletes[id]
	return now.without(id), deleted && from <= e.returned
}

// untaken returns the categories if the name can be free for that number at the time of the event.
func (r *register) untaken(now names, e *naming, named category) (names, bool) {
	at := slices.IndexFunc(now.all, func(c category) bool { return c.Name == named.Name && c.ID != named.ID })
	if at < 0 {
		return now, true
	}
	id := now.all[at].ID
	for _, p := range r.puts {
		if p.ID == id && p.Name != named.Name && p.from <= e.returned {
			return now.with(p.category), true
		}
	}
	return r.nameless(now, e, id)
}
