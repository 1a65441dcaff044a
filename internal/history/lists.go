package history

import (
	"cmp"
	"fmt"
	"slices"
)

// row is one thing that a list shows or leaves out.
type row struct {
	*subject
	*event
}

// checkLists searches, for each list, for a moment at which everything that the list shows and leaves out was true.
// checkAnimals has checked each animal by itself, but a list shows many animals at once, so there must be one moment for
// all of them. For each row there is a time during which it can have been true: not before it was written, and not after
// something else was certainly seen or written. These times, and the time between the call of the list and its answer,
// must have a moment in common. What one list shows ends the time of what was true before, so no later list can show the
// older state.
func (c *checker) checkLists() {
	lives := make(map[*subject]*life)
	rows := make(map[*call][]row)
	for _, s := range c.subjects {
		if s.faulty {
			continue
		}
		lives[s] = s.live()
		for _, e := range s.events {
			if e.looks() && (e.call.op == "listPets" || e.call.op == "listOrders") {
				rows[e.call] = append(rows[e.call], row{s, e})
			}
		}
	}
	for _, list := range c.calls {
		c.checkList(list, rows[list], lives)
	}
	c.checkForks(rows, lives)
	c.checkInventories(lives)
}

func (c *checker) checkList(list *call, rows []row, lives map[*subject]*life) {
	moments := spells{{list.Called, list.Returned}}
	for i, r := range rows {
		moments = lives[r.subject].when(r.event, moments)
		if len(moments) > 0 {
			continue
		}
		concerned := []*call{list}
		for _, r := range rows[:i+1] { // the rows that were not possible during the whole time
			alone := lives[r.subject].when(r.event, spells{{list.Called, list.Returned}})
			if len(alone) == 0 || alone[0].from > list.Called || alone[0].to < list.Returned {
				concerned = append(concerned, r.subject.lastWrites(list)...)
			}
		}
		c.report(OutOfOrder, fmt.Sprintf("There was no moment at which everything in a list was true; animal %d was the last to leave none.", r.subject.id), concerned...)
		return
	}
}

// lastWrites are the writes to an animal that were under way during a call, and the last one before it.
func (s *subject) lastWrites(during *call) (calls []*call) {
	writes := slices.DeleteFunc(slices.Clone(s.events), func(e *event) bool { return e.looks() || e.called > during.Returned })
	slices.SortFunc(writes, func(a, b *event) int { return cmp.Compare(b.returned, a.returned) })
	for _, e := range writes {
		calls = append(calls, e.call)
		if e.returned < during.Called || len(calls) == 4 {
			break
		}
	}
	return calls
}
