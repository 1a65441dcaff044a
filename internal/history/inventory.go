package history

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"
)

var counted = []string{available, pending, sold}

// census bounds how many animals of each status there can have been from a moment on: at least those that cannot have
// had another status, at most those that can have had it. The last bound is for all animals together.
type census struct {
	from        time.Duration
	least, most [4]int64
}

// checkInventories looks for a moment at which each inventory can have been right.
func (c *checker) checkInventories(lives map[*subject]*life) {
	censuses := takeCensus(lives)
	faulty := len(c.subjects) - len(lives) // animals with a fault of their own may have had any status
	for _, call := range c.calls {
		if call.op != "getInventory" || call.outcome != done {
			continue
		}
		var got [4]int64
		for i, status := range counted {
			got[i] = call.inventory[status]
			got[3] += got[i]
		}
		unseen := sort.Search(len(c.unseen), func(i int) bool { return c.unseen[i].called > call.Returned })
		right := false
		begin := sort.Search(len(censuses), func(i int) bool { return censuses[i].from > call.Called }) - 1
		for i := max(0, begin); i < len(censuses) && censuses[i].from <= call.Returned; i++ {
			right = right || censuses[i].allows(got, int64(faulty+unseen))
		}
		if !right && len(censuses) > 0 {
			at := censuses[max(0, begin)]
			c.report(OutOfOrder, fmt.Sprintf("An inventory was right at no moment: when it was asked for there were at least %v and at most %v animals that are available, pending, sold, and in all.", at.least, at.most), call)
		}
	}
}

func (c census) allows(got [4]int64, uncertain int64) bool {
	for i := range got {
		if got[i] < c.least[i] || got[i] > c.most[i]+uncertain {
			return false
		}
	}
	return true
}

// takeCensus counts all animals at every moment at which something can have changed.
func takeCensus(lives map[*subject]*life) (all []census) {
	changes := []census{{}}
	for _, l := range lives {
		var before census
		for _, from := range l.moments() {
			now := l.census(from)
			change := census{from: from}
			for i := range now.least {
				change.least[i], change.most[i] = now.least[i]-before.least[i], now.most[i]-before.most[i]
			}
			changes, before = append(changes, change), now
		}
	}
	slices.SortStableFunc(changes, func(a, b census) int { return cmp.Compare(a.from, b.from) })
	var sum census
	for _, change := range changes {
		for i := range sum.least {
			sum.least[i] += change.least[i]
			sum.most[i] += change.most[i]
		}
		sum.from = change.from
		if last := len(all) - 1; last >= 0 && all[last].from == sum.from {
			all[last] = sum
		} else {
			all = append(all, sum)
		}
	}
	return all
}

// moments are the moments at which something can have begun or ended.
func (l *life) moments() (all []time.Duration) {
	note := func(some spells) {
		for _, s := range some {
			all = append(all, s.from)
			if s.to != never {
				all = append(all, s.to)
			}
		}
	}
	note(l.absent)
	note(l.alive)
	for _, some := range l.statuses {
		note(some)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// census counts one animal in the time that follows a moment, until something can change.
func (l *life) census(from time.Duration) (one census) {
	during := spells{{from + 1, from + 1}}
	absent := len(during.meet(l.absent)) > 0
	var can []int
	for i, status := range counted {
		if len(during.meet(l.alive).meet(l.statuses[status])) > 0 {
			can = append(can, i)
		}
	}
	if !absent && len(can) == 0 { // no state is possible, so nothing can be said
		absent, can = true, []int{0, 1, 2}
	}
	for _, i := range can {
		one.most[i] = 1
		one.most[3] = 1
	}
	if !absent {
		one.least[3] = 1
		if len(can) == 1 {
			one.least[can[0]] = 1
		}
	}
	return one
}
