package history

import (
	"cmp"
	"slices"

	"petstore/internal/model"
)

// maxPairs is how many pairs of animals checkLists searches at most. It begins with those that changed together most often.
const maxPairs = 5000

// checkLists checks that lists show several animals as they were at one moment. An animal that did not change while a list
// was read looks the same at every moment of the list. So checkLists takes every two animals that both changed during a
// list, and searches for a linearization of the operations on both. That is enough for one list: intervals of which every
// two overlap all have a moment in common. It does not find three lists that contradict each other only together.
func (c *checker) checkLists() {
	changed := make(map[*model.Operation][]*partition)
	for _, p := range c.partitions {
		for _, list := range p.changedDuring() {
			changed[list] = append(changed[list], p)
		}
	}
	type pair struct{ one, other *partition }
	times := make(map[pair]int)
	var pairs []pair
	for _, list := range c.operations {
		for i, one := range changed[list] {
			for _, other := range changed[list][:i] {
				two := pair{one, other}
				if times[two]++; times[two] == 1 {
					pairs = append(pairs, two)
				}
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(times[b], times[a]) })
	for _, two := range pairs[:min(len(pairs), maxPairs)] {
		c.linearize(two.one.join(two.other))
	}
}

// changedDuring returns the lists during which something in the partition was written. It returns none if the partition is faulty, or if
// it has a write that may still be done: two such partitions together can have too many orders to search.
func (p *partition) changedDuring() (lists []*model.Operation) {
	var writes []*model.Operation
	for _, op := range p.operations {
		if op.Method != "GET" && (op.Code == "" || op.Unknown) {
			writes = append(writes, op)
		}
		if p.isFaulty || op.Returned == model.Never {
			return nil
		}
	}
	for _, op := range p.operations {
		overlaps := func(w *model.Operation) bool { return w.Called <= op.Returned && w.Returned >= op.Called }
		if op.Lists() && slices.ContainsFunc(writes, overlaps) {
			lists = append(lists, op)
		}
	}
	return lists
}

// ones are the inventories of a store without an animal, and of stores with one of each status.
var ones = []model.Inventory{{}, {Available: 1}, {Pending: 1}, {Sold: 1}}

// checkInventories checks that each number of an inventory is between how many animals certainly had that status while they
// were counted, and how many can have had it.
func (c *checker) checkInventories() {
	for _, op := range c.operations {
		if op.Name == "getInventory" && !c.isTrue(func(can canRead) bool { return c.isPossible(op, can) }) {
			c.report(NotLinearizable, "An inventory was right at no moment.", op.Exchange)
		}
	}
}

// canRead reports whether a read of a partition can get its answer.
type canRead func(p *partition, read *model.Operation) bool

// isTrue answers a question about what can be read. First it considers only the linearizations that were found, which is
// quick. If the answer is no, it considers all linearizations.
func (c *checker) isTrue(question func(canRead) bool) bool {
	return question((*partition).shows) || question(c.canShow)
}

// isPossible reports whether all numbers of an inventory, and their sum, are possible.
func (c *checker) isPossible(op *model.Operation, can canRead) bool {
	var least, most [4]int
	add := func(options []model.Inventory) {
		low, high := numbersOf(options[0]), numbersOf(options[0])
		for _, one := range options {
			for i, n := range numbersOf(one) {
				low[i], high[i] = min(low[i], n), max(high[i], n)
			}
		}
		for i := range least {
			least[i], most[i] = least[i]+low[i], most[i]+high[i]
		}
	}
	for _, unseen := range c.unseen {
		if unseen.Called <= op.Returned {
			add(ones)
		}
	}
	for _, p := range c.partitions {
		for range p.ids["pets"] {
			if p.isFaulty || len(p.ids["pets"]) > 1 {
				add(ones)
			} else if p.lives(op) {
				isImpossible := func(one model.Inventory) bool { return !can(p, inventoryDuring(op, one)) }
				add(slices.DeleteFunc(slices.Clone(ones), isImpossible))
			}
		}
	}
	for i, n := range numbersOf(op.Inventory) {
		if n < least[i] || n > most[i] {
			return false
		}
	}
	return true
}

func numbersOf(n model.Inventory) [4]int {
	return [4]int{n.Available, n.Pending, n.Sold, n.Available + n.Pending + n.Sold}
}

// inventoryDuring returns a read of the inventory in the interval of an operation.
func inventoryDuring(op *model.Operation, answer model.Inventory) *model.Operation {
	interval := model.Exchange{Called: op.Called, Returned: op.Returned, Status: 200}
	return &model.Operation{Exchange: interval, Name: "getInventory", Inventory: answer}
}

// checkLinks checks that there can have been an animal to show on the page that a page of animals links to.
func (c *checker) checkLinks() {
	for _, op := range c.operations {
		if op.Name != "listPets" || !op.Page.More || len(c.unseen) > 0 {
			continue
		}
		hasNext := func(can canRead) bool {
			return slices.ContainsFunc(c.partitions, func(p *partition) bool { return p.mayFollow(op, can) })
		}
		if !c.isTrue(hasNext) {
			c.report(NotLinearizable, "A page links to a next one, and there was nothing left to show.", op.Exchange)
		}
	}
}

// mayFollow reports whether the animal of the partition can have been on one of the pages that follow.
func (p *partition) mayFollow(page *model.Operation, can canRead) bool {
	if len(p.ids["pets"]) == 0 || p.ids["pets"][0] >= page.Page.First || !p.lives(page) {
		return false
	}
	for i, status := range model.PetStatuses {
		if page.Page.Selects(status) && (p.isFaulty || can(p, inventoryDuring(page, ones[i+1]))) {
			return true
		}
	}
	return false
}
