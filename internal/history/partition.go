package history

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"petstore/internal/model"
)

// partition is a part of the store, such as an animal with its orders. No operation touches two partitions, except for lists
// and inventories. A history without those has a linearization if and only if each partition has one.
type partition struct {
	operations []*model.Operation
	ids        map[string][]int64 // of what is in it, by noun
	from, to   time.Duration      // when something can have been in it, apart from closed orders of a deleted animal

	isFaulty      bool
	linearization []*model.Operation
	states        []lasting // of the linearization
}

// thing is something that operations have in common: what has an id, an Idempotency-Key, or a name that can be taken.
type thing struct {
	noun string
	id   int64
	name string
}

// touches returns what an operation has in common with others.
func touches(op *model.Operation) (all []thing) {
	if op.Lists() {
		return nil
	}
	if op.UsesIdempotencyKey() {
		all = append(all, thing{"key", 0, op.Key + " " + op.IdempotencyKey})
	}
	if op.ID != 0 || !op.Makes() {
		all = append(all, thing{noun: op.Noun, id: op.ID})
	}
	if op.Name == "placeOrder" {
		all = append(all, thing{noun: "pets", id: *op.Fields.PetID})
	}
	if op.Noun == "categories" && op.GivenName() != "" {
		all = append(all, thing{"name", 0, op.GivenName()})
	}
	return all
}

// groups is a disjoint-set forest. It maps each thing to another one of its group, and one thing of each group to itself.
type groups map[thing]thing

// of returns the thing that is mapped to itself in the group of t.
func (g groups) of(t thing) thing {
	if up, met := g[t]; met && up != t {
		g[t] = g.of(up)
	} else {
		g[t] = t
	}
	return g[t]
}

// partition puts operations that have something in common, directly or through others, into one partition.
func (c *checker) partition() {
	all := make(groups)
	for _, op := range c.operations {
		for _, row := range op.Rows() {
			all.of(thing{noun: op.Noun, id: row.ID})
		}
		things := touches(op)
		for _, t := range things {
			all[all.of(t)] = all.of(things[0])
		}
	}
	of := make(map[thing]*partition)
	for _, t := range slices.SortedFunc(maps.Keys(all), func(a, b thing) int { return cmp.Compare(a.id, b.id) }) {
		group := all.of(t)
		if of[group] == nil {
			of[group] = &partition{ids: make(map[string][]int64)}
			c.partitions = append(c.partitions, of[group])
		}
		of[t] = of[group]
		of[t].ids[t.noun] = append(of[t].ids[t.noun], t.id)
	}
	for _, op := range c.operations {
		if things := touches(op); len(things) > 0 {
			p := of[things[0]]
			p.operations = append(p.operations, op)
		}
	}
	c.addLists(of)
}

// addLists gives each partition the lists that tell something about it: those that show something of it, and those that
// should show something if it was there.
func (c *checker) addLists(of map[thing]*partition) {
	for _, p := range c.partitions {
		p.findLife()
	}
	for _, op := range c.operations {
		if !op.Lists() {
			continue
		}
		isShown := make(map[*partition]bool)
		for _, row := range op.Rows() {
			isShown[of[thing{noun: op.Noun, id: row.ID}]] = true
		}
		for _, p := range c.partitions {
			if isShown[p] || p.isAskedFor(op) {
				p.operations = append(p.operations, op)
			}
		}
	}
}

// findLife finds out when something can have been in the partition. A deleted animal stays deleted, but a number can get a
// name again.
func (p *partition) findLife() {
	p.from, p.to = model.Never, model.Never
	written := time.Duration(0)
	for _, op := range p.operations {
		if op.Method == "GET" || op.Code != "" && !op.Unknown {
			continue
		}
		isLast := op.Called > written
		p.from, written = min(p.from, op.Called), max(written, op.Returned)
		switch {
		case op.Name == "deletePet" && !op.Unknown && len(p.ids["pets"]) == 1:
			p.to = min(p.to, op.Returned)
		case op.Name == "deleteCategory" && !op.Unknown && !op.Replayed && len(p.ids["categories"]) == 1 && isLast:
			p.to = op.Returned
		case op.Noun == "categories":
			p.to = model.Never
		}
	}
}

// lives reports whether something can have been in the partition during an operation.
func (p *partition) lives(op *model.Operation) bool {
	return op.Returned >= p.from && op.Called <= p.to
}

// isAskedFor reports whether a list should show what can be in the partition. The orders of a deleted animal are all closed.
// The partition gets only those later lists that select orders in any state. Otherwise, in a long history, each partition
// would get most lists.
func (p *partition) isAskedFor(list *model.Operation) bool {
	if list.Page.PetID != nil && !slices.Contains(p.ids["pets"], *list.Page.PetID) {
		return false
	}
	isClosed := list.Noun == "orders" && list.Page.Status == "" && list.Returned >= p.from
	return (p.lives(list) || isClosed) && slices.ContainsFunc(p.ids[list.Noun], list.Page.Covers)
}

// join returns two partitions as one.
func (p *partition) join(other *partition) *partition {
	both := &partition{operations: slices.Concat(p.operations, other.operations), ids: make(map[string][]int64)}
	slices.SortFunc(both.operations, func(a, b *model.Operation) int { return cmp.Compare(a.Called, b.Called) })
	isSecond := make(map[*model.Operation]bool) // a list is in both
	both.operations = slices.DeleteFunc(both.operations, func(op *model.Operation) bool {
		defer func() { isSecond[op] = true }()
		return isSecond[op]
	})
	for _, one := range []*partition{p, other} {
		for noun, ids := range one.ids {
			both.ids[noun] = append(both.ids[noun], ids...)
		}
	}
	return both
}
