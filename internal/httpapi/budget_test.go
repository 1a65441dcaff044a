package httpapi

import (
	"math/rand/v2"
	"net/http/httptest"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func TestABudgetIsNeverOverdrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(1, 10_000).Draw(t, "limit")
		b := newBudget(limit, limit/shares)
		type taking struct {
			owner string
			n     int64
		}
		var taken []taking
		held := func(owner string) (sum int64) {
			for _, k := range taken {
				if owner == "" || k.owner == owner {
					sum += k.n
				}
			}
			return sum
		}
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				k := taking{rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}).Draw(t, "owner"), rapid.Int64Range(1, 2000).Draw(t, "n")}
				fits := held("")+k.n <= b.limit && held(k.owner)+k.n <= b.limit/shares
				if got := b.take(k.owner, k.n); got != fits {
					t.Fatalf("take %d for %s: %v, want %v", k.n, k.owner, got, fits)
				}
				if fits {
					taken = append(taken, k)
				}
			},
			"give": func(t *rapid.T) {
				if len(taken) == 0 {
					return
				}
				i := rapid.IntRange(0, len(taken)-1).Draw(t, "which")
				b.giveBack(taken[i].owner, taken[i].n)
				taken = append(taken[:i], taken[i+1:]...)
			},
			"": func(t *rapid.T) {
				if b.taken != held("") || b.taken > b.limit {
					t.Fatalf("%d of %d are taken, want %d", b.taken, b.limit, held(""))
				}
			},
		})
		for _, k := range taken {
			b.giveBack(k.owner, k.n)
		}
		if b.taken != 0 || len(b.owners) != 0 {
			t.Fatalf("%d are left of %v", b.taken, b.owners)
		}
	})
}

func TestConcurrentUseLeavesABudgetEmpty(t *testing.T) {
	b := newBudget(1<<16, 1<<13)
	var group sync.WaitGroup
	for worker := range 16 {
		group.Go(func() {
			owner := string(rune('a' + worker%10))
			for range 1000 {
				n := rand.Int64N(4096) + 1
				if !b.take(owner, n) {
					continue
				}
				if used := b.inUse(); used < float64(n) || used > float64(b.limit) {
					t.Errorf("%v of %d are in use", used, b.limit)
				}
				b.giveBack(owner, n)
			}
		})
	}
	group.Wait()
	if b.taken != 0 || len(b.owners) != 0 {
		t.Errorf("%d are left of %v", b.taken, b.owners)
	}
}

func TestAnswersOfOwnersBeyondTheirShareAreCutOffFirst(t *testing.T) {
	o := newUnreadAnswers(8000)
	w := httptest.NewRecorder()
	put := func(owner string, size int) *unreadAnswer { return o.add(owner, size, w) }
	var first []*unreadAnswer
	for owner := range shares {
		first = append(first, put(string(rune('a'+owner)), 600), put(string(rune('a'+owner)), 400))
	}
	isIn := func(l *unreadAnswer) bool { return l.place != nil }

	own := put("c", 500)
	if isIn(first[4]) || !isIn(first[5]) || !isIn(first[0]) || !isIn(own) {
		t.Error("the oldest answer of the owner was not the one that was cut off")
	}
	strangers := put("stranger", 1000)
	if isIn(first[0]) || isIn(first[1]) || !isIn(first[2]) || !isIn(strangers) {
		t.Error("the oldest answers of all were not the ones that were cut off")
	}
	huge := put("d", 1_000_000)
	if isIn(first[6]) || isIn(first[7]) || !isIn(huge) {
		t.Error("an answer that is larger than a share does not take a whole share")
	}
	for _, l := range append(first, own, strangers, huge) {
		o.remove(l)
	}
	if o.budget.taken != 0 || o.answers.Len() != 0 {
		t.Errorf("%d bytes and %d answers are left", o.budget.taken, o.answers.Len())
	}
}

func TestAnOwnerMayExceedItsShareUntilOthersNeedRoom(t *testing.T) {
	o := newUnreadAnswers(8000)
	w := httptest.NewRecorder()
	modest := o.add("modest", 900, w)
	var many []*unreadAnswer
	for range 7 {
		many = append(many, o.add("many", 1000, w))
	}
	for i, l := range append(many, modest) {
		if l.place == nil {
			t.Errorf("answer %d is cut off although there is room", i)
		}
	}
	another := o.add("another", 1000, w)
	if many[0].place != nil || many[1].place == nil || modest.place == nil || another.place == nil {
		t.Error("the oldest answer of the owner beyond its share was not the one that was cut off")
	}
}
