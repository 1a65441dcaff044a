package history

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"petstore/internal/model"
)

// partition is a part of the store, such as an animal with its orders. Except for lists and inventories, no operation
// touches two partitions. A history without lists and inventories has a linearization if and only if each partition has
// one.
type partition struct {
	operations []*model.Operation
	ids        map[string][]int64 // the ids of everything in the partition, by noun
	from, to   time.Duration      // when something can have been in the partition, apart from closed orders of a deleted animal

	isFaulty      bool
	linearization []*model.Operation
	states        []lasting // the states of the linearization
}

// thing is something that several operations may have in common: a row with an id, an Idempotency-Key, or a name that only
// one category can have.
type thing struct {
	noun string
	id   int64
	name string
}

// The function touches returns the things that an operation may have in common with other operations.
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

// groups is a disjoint-set forest. It maps one thing of each group to itself. It maps each other thing to another thing of
// the same group.
type groups map[thing]thing

// root returns the thing that represents the group of t: the thing that is mapped to itself.
func (g groups) root(t thing) thing {
	if up, met := g[t]; met && up != t {
		g[t] = g.root(up)
	} else {
		g[t] = t
	}
	return g[t]
}

// partition puts operations into the same partition if they have something in common, directly or through other operations.
func (c *checker) partition() {
	all := make(groups)
	for _, op := range c.operations {
		for _, row := range op.Rows() {
			all.root(thing{noun: op.Noun, id: row.ID})
		}
		things := touches(op)
		for _, t := range things {
			all[all.root(t)] = all.root(things[0])
		}
	}
	of := make(map[thing]*partition)
	for _, t := range slices.SortedFunc(maps.Keys(all), func(a, b thing) int { return cmp.Compare(a.id, b.id) }) {
		group := all.root(t)
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

// addLists adds to each partition the lists that show one of its rows, and the lists in which one of its rows is missing
// unless it did not exist at the time.
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

// findLife finds out when something can have been in the partition. A deleted animal stays deleted, but a deleted category
// can get a name again.
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

// The method lives reports whether something can have been in the partition during an operation.
func (p *partition) lives(op *model.Operation) bool {
	return op.Returned >= p.from && op.Called <= p.to
}

// isAskedFor reports whether a list would have to show something of the partition. After an animal is deleted, its orders
// are all closed, and the partition gets only those later lists that select orders in any state. Otherwise, in a long
// history, each partition would get most lists.
func (p *partition) isAskedFor(list *model.Operation) bool {
	if list.Page.PetID != nil && !slices.Contains(p.ids["pets"], *list.Page.PetID) {
		return false
	}
	isClosed := list.Noun == "orders" && list.Page.Status == "" && list.Returned >= p.from
	return (p.lives(list) || isClosed) && slices.ContainsFunc(p.ids[list.Noun], list.Page.Covers)
}

// join combines two partitions into one.
func (p *partition) join(other *partition) *partition {
	both := &partition{operations: slices.Concat(p.operations, other.operations), ids: make(map[string][]int64)}
	slices.SortFunc(both.operations, func(a, b *model.Operation) int { return cmp.Compare(a.Called, b.Called) })
	isSecond := make(map[*model.Operation]bool) // a list may be in both partitions; keep only one of the two
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
