package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"petstore/internal/petstore"
)

// listAll walks all pages of a list of keys.
func (t storageTest) listAll(usableAt time.Time, limit int) (all []petstore.Key) {
	t.Helper()
	for q := (petstore.KeyQuery{UsableAt: usableAt, Limit: limit}); ; {
		page, err := t.ListKeys(t.Context(), q)
		t.noError(err)
		if len(page) > limit {
			t.Fatalf("the page has %d keys, more than the limit of %d", len(page), limit)
		}
		if len(page) == 0 {
			return all
		}
		all = append(all, page...)
		last := page[len(page)-1]
		q.After = petstore.KeyPlace{CreatedAt: last.CreatedAt, ID: last.ID}
	}
}

var keyListCases = []storageCase{
	{"keys are listed newest first, and by id if they are equally old, on pages of any size", func(t storageTest) {
		var want []petstore.Key
		for i, age := range []time.Duration{2, 0, 1, 1, 1, 3, 1, -5} {
			want = append(want, t.addKey(petstore.NewKey(fmt.Sprint("key ", i), petstore.Pro, limits, epoch.Add(-age*time.Millisecond), petstore.Forever)))
		}
		slices.SortFunc(want, func(a, b petstore.Key) int {
			return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
		})
		for limit := 1; limit <= len(want)+1; limit++ {
			t.same(fmt.Sprint("pages of ", limit), t.listAll(time.Time{}, limit), want)
		}
	}},
	{"an empty storage lists no keys", func(t storageTest) {
		t.same("keys", len(t.listAll(time.Time{}, 10)), 0)
	}},
	{"a list of usable keys leaves out the revoked and expired ones", func(t storageTest) {
		forever, hour := t.addKey(newKey("forever")), t.addKey(petstore.NewKey("hour", petstore.Free, limits, epoch, time.Hour))
		revoked := t.addKey(newKey("revoked"))
		t.noError(writeError(t.RevokeKey(t.Context(), revoked.ID, operator)))
		for _, limit := range []int{1, 2, 10} {
			t.sameKeys("before the end", t.listAll(epoch.Add(time.Hour-time.Millisecond), limit), []petstore.Key{forever, hour})
			t.sameKeys("at the end", t.listAll(epoch.Add(time.Hour), limit), []petstore.Key{forever})
		}
		t.same("all", len(t.listAll(time.Time{}, 10)), 3)
	}},
	{"a listed key has its ban, its last use and its times", func(t storageTest) {
		key := t.addKey(newKey("a"))
		t.ban(key.Owner, epoch)
		t.noError(t.UseKey(t.Context(), key.ID, epoch.Truncate(time.Hour)))
		t.rotate(key.ID, "b", epoch.Add(time.Minute), time.Hour)
		listed := t.listAll(time.Time{}, 10)
		t.same("listed", listed, []petstore.Key{t.find("b"), t.find("a")})
		got, err := t.GetKey(t.Context(), key.ID)
		t.noError(err)
		t.same("by its id", got, listed[1])
	}},
	{"an unknown id is not found", func(t storageTest) {
		t.addKey(newKey("a"))
		for _, id := range []string{"key_unknown", "", "a"} {
			_, err := t.GetKey(t.Context(), id)
			t.refused(err, petstore.NotFound)
		}
	}},
}
