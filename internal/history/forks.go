package history

import (
	"fmt"
	"time"
)

// age is what is certain about a name that was given only once: it was there by the time begun, and was not gone before
// the time still.
type age struct{ begun, still time.Duration }

// before reports whether a name certainly came before another one. A name that was given only once is there without a
// break. So if it was there before the other was last there, it did not come after the other.
func (a age) before(b age) bool { return a.begun < b.still }

// ages returns the ages of the names that only one write gave.
func ages(names []fact[string]) map[string]age {
	all, writers := make(map[string]age), make(map[string]int)
	for _, f := range names {
		a, met := all[f.value]
		if !met {
			a = age{begun: never}
		}
		all[f.value] = age{min(a.begun, f.returned), max(a.still, f.called)}
		if f.write {
			writers[f.value]++
		}
	}
	for name := range all {
		if writers[name] != 1 {
			delete(all, name)
		}
	}
	return all
}

// checkForks looks for two overlapping lists, each of which shows something older than the other does: whichever came
// first, the other went back. checkLists has ruled this out for lists that do not overlap.
func (c *checker) checkForks(rows map[*call][]row, lives map[*subject]*life) {
	var open []*call
	shows := make(map[*call]map[*subject]string)
	for _, list := range c.calls {
		if list.op != "listPets" || list.outcome != done {
			continue
		}
		shows[list] = make(map[*subject]string, len(rows[list]))
		for _, r := range rows[list] {
			if r.kind == shown {
				shows[list][r.subject] = r.pet.Name
			}
		}
		still := open[:0]
		for _, other := range open {
			if other.Returned < list.Called {
				delete(shows, other)
				continue
			}
			still = append(still, other)
			if older, newer := c.compare(shows[list], shows[other], lives); older != nil && newer != nil {
				c.report(OutOfOrder, fmt.Sprintf("Two lists saw changes in different orders: one shows an older animal %d, the other an older animal %d.", older.id, newer.id), list, other)
				return
			}
		}
		open = append(still, list)
	}
}

// compare finds an animal that the first list shows in an older state than the second, and an animal for which the
// opposite is true.
func (c *checker) compare(one, other map[*subject]string, lives map[*subject]*life) (older, newer *subject) {
	for s, name := range one {
		second, both := other[s]
		if !both || second == name {
			continue
		}
		a, known := lives[s].ages[name]
		b, knownToo := lives[s].ages[second]
		switch {
		case !known || !knownToo:
		case a.before(b) && !b.before(a):
			older = s
		case b.before(a) && !a.before(b):
			newer = s
		}
	}
	return older, newer
}
