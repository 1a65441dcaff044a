package history

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// spell is a time during which something can have been true.
type spell struct{ from, to time.Duration }

// spells do not overlap and are in order.
type spells []spell

// union puts spells in order and joins those that overlap.
func union(all ...spell) (joined spells) {
	slices.SortFunc(all, func(a, b spell) int { return cmp.Compare(a.from, b.from) })
	for _, s := range all {
		if last := len(joined) - 1; last >= 0 && s.from <= joined[last].to {
			joined[last].to = max(joined[last].to, s.to)
		} else if s.from <= s.to {
			joined = append(joined, s)
		}
	}
	return joined
}

// meet is when both things can have been true. The first list is short, so meet looks up its spells in the second.
func (a spells) meet(b spells) (both spells) {
	for _, s := range a {
		for i := sort.Search(len(b), func(i int) bool { return b[i].to >= s.from }); i < len(b) && b[i].from <= s.to; i++ {
			both = append(both, spell{max(s.from, b[i].from), min(s.to, b[i].to)})
		}
	}
	return both
}

// fact is a value that something had at one moment of the span. A write gave it the value at that moment; a maybe write
// may or may not have happened.
type fact[V comparable] struct {
	span
	value V
	write bool
	maybe bool
}

// possible returns when something can have had each of its values. A value begins with a write of it, not before the
// call of that write. It ends when another value is certain after the write: of the facts with another value that were
// called after the write returned, the first one to be over ends it.
func possible[V comparable](facts []fact[V]) map[V]spells {
	certain := slices.DeleteFunc(slices.Clone(facts), func(f fact[V]) bool { return f.maybe })
	slices.SortFunc(certain, func(a, b fact[V]) int { return cmp.Compare(a.called, b.called) })
	first, second := soonest(certain)
	begun := make(map[V][]spell)
	for _, w := range facts {
		if !w.write {
			continue
		}
		end := never
		if after := sort.Search(len(certain), func(i int) bool { return certain[i].called > w.returned }); after < len(certain) {
			if end = first[after].returned; first[after].value == w.value {
				end = second[after]
			}
		}
		begun[w.value] = append(begun[w.value], spell{w.called, end})
	}
	when := make(map[V]spells, len(begun))
	for value, all := range begun {
		when[value] = union(all...)
	}
	return when
}

// soonest looks, for each fact, at that fact and all later ones. It finds the fact that is over first, and when the
// first fact with a different value from that one is over.
func soonest[V comparable](facts []fact[V]) (first []fact[V], second []time.Duration) {
	first, second = make([]fact[V], len(facts)), make([]time.Duration, len(facts))
	best, other := fact[V]{span: span{never, never}}, never
	for i := len(facts) - 1; i >= 0; i-- {
		switch f := facts[i]; {
		case f.returned < best.returned && (f.value == best.value || best.returned == never):
			best = f
		case f.returned < best.returned:
			best, other = f, best.returned
		case f.value != best.value:
			other = min(other, f.returned)
		}
		first[i], second[i] = best, other
	}
	return first, second
}
