package history

import (
	"cmp"
	"slices"

	"petstore/internal/model"
)

// maxPairs is how many pairs of animals checkLists searches at most. It begins with the pairs that changed together most
// often.
const maxPairs = 5000

// checkLists checks that each list shows all its animals as they were at one moment. An animal that did not change during a
// list looks the same at every moment of the list. So checkLists takes every two animals that both changed during a list,
// and searches for a linearization of the operations on both. For one list, pairs are enough: if every two of several
// intervals overlap, all of them have a moment in common. But checkLists does not find three lists that contradict each
// other only together.
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

// changedDuring returns the lists during which something in the partition was written. It returns no lists if the partition
// is faulty, or if a write with an unknown outcome may still happen in the partition. Two partitions with such writes can
// have too many orders to search.
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

// The variable ones has the inventories of an empty store, and of stores with one animal of each status.
var ones = []model.Inventory{{}, {Available: 1}, {Pending: 1}, {Sold: 1}}

// checkInventories checks each number of an inventory. While the animals were counted, some animals certainly had that
// status, and more animals can have had it. The number must be between these two counts.
func (c *checker) checkInventories() {
	for _, op := range c.operations {
		if op.Name == "getInventory" && !c.isTrue(func(can canRead) bool { return c.isPossible(op, can) }) {
			c.report(NotLinearizable, "An inventory was right at no moment.", op.Exchange)
		}
	}
}

// canRead reports whether the answer of a read is possible for a partition.
type canRead func(p *partition, read *model.Operation) bool

// isTrue answers a question about possible reads. It first considers only the linearizations that the checker has found,
// which is quick. If the answer is no, it considers all linearizations.
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

// inventoryDuring returns a getInventory operation with the given answer. It begins and ends when the operation op does.
func inventoryDuring(op *model.Operation, answer model.Inventory) *model.Operation {
	interval := model.Exchange{Called: op.Called, Returned: op.Returned, Status: 200}
	return &model.Operation{Exchange: interval, Name: "getInventory", Inventory: answer}
}

// checkLinks checks every page that links to a next page: there must have been an animal that the next page could show.
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

// mayFollow reports whether the animal of the partition can have been on a later page.
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
