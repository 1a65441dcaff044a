package conformance

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"petstore/internal/petstore"
)

var (
	limits      = petstore.Limits{PerMinute: 60, PerDay: 1000}
	otherLimits = petstore.Limits{PerMinute: 500, PerDay: petstore.MaxLimit}
)

func newKey(name string) petstore.Key {
	return petstore.NewKey(name, petstore.Free, limits, epoch, petstore.Forever)
}

// addKey stores a key. The key's name is also its secret.
func (t storageTest) addKey(key petstore.Key) petstore.Key {
	t.Helper()
	t.noError(t.CreateKey(t.Context(), key, petstore.HashSecret(key.Name), operator))
	return key
}

func (t storageTest) find(secret string) petstore.Key {
	t.Helper()
	key, err := t.FindKey(t.Context(), petstore.HashSecret(secret))
	t.noError(err)
	return key
}

func (t storageTest) keys() []petstore.Key {
	t.Helper()
	keys, err := t.Keys(t.Context())
	t.noError(err)
	return keys
}

var keyCases = []storageCase{
	{"an empty storage has no keys", func(t storageTest) {
		t.same("keys", len(t.keys()), 0)
	}},
	{"a created key is found by its hash and listed", func(t storageTest) {
		key := t.addKey(petstore.NewKey("ci 🔑 'quoted'", petstore.Enterprise, otherLimits, epoch, 90*24*time.Hour))
		t.same("found", t.find(key.Name), key)
		t.same("listed", t.keys(), []petstore.Key{key})
	}},
	{"an unknown hash is not found", func(t storageTest) {
		t.addKey(newKey("a"))
		for _, hash := range []petstore.SecretHash{petstore.HashSecret("b"), {}} {
			_, err := t.FindKey(t.Context(), hash)
			t.refused(err, petstore.NotFound)
		}
	}},
	{"keys are listed oldest first, and by id if they are equally old", func(t storageTest) {
		var want []petstore.Key
		for i, age := range []time.Duration{2, 0, 1, 1, 1, 3, 1} {
			key := petstore.NewKey(fmt.Sprint("key ", i), petstore.Pro, limits, epoch.Add(-age*time.Millisecond), petstore.Forever)
			want = append(want, t.addKey(key))
		}
		slices.SortFunc(want, func(a, b petstore.Key) int {
			return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
		})
		t.same("listed", t.keys(), want)
	}},
	{"keys may share a name", func(t storageTest) {
		for i := range 3 {
			t.noError(t.CreateKey(t.Context(), newKey("ci"), petstore.HashSecret(fmt.Sprint(i)), operator))
		}
		t.same("keys", len(t.keys()), 3)
	}},
	{"a hash that another key has is refused and changes nothing", func(t storageTest) {
		key := t.addKey(newKey("a"))
		if err := t.CreateKey(t.Context(), newKey("b"), petstore.HashSecret("a"), operator); err == nil {
			t.Fatal("a second key with the same hash was stored")
		}
		t.same("listed", t.keys(), []petstore.Key{key})
	}},
	{"times are kept to the millisecond, in UTC, and zero stays zero", func(t storageTest) {
		berlin := time.FixedZone("", 3600)
		precise := time.Date(2026, 3, 29, 1, 59, 59, 987_654_321, berlin)
		key := t.addKey(petstore.NewKey("a", petstore.Free, limits, precise, 1500*time.Millisecond))
		found := t.find("a")
		t.same("created", found.CreatedAt.Truncate(time.Millisecond), key.CreatedAt.UTC().Truncate(time.Millisecond))
		t.same("expires", found.ExpiresAt.Truncate(time.Millisecond), key.ExpiresAt.UTC().Truncate(time.Millisecond))
		t.same("lifetime", found.Lifetime, key.Lifetime)
		t.same("never", []bool{found.RevokedAt.IsZero(), found.BannedUntil.IsZero()}, []bool{true, true})

		t.addKey(newKey("b"))
		if forever := t.find("b"); !forever.ExpiresAt.IsZero() || forever.Lifetime != petstore.Forever {
			t.Fatalf("a key without an expiry expires: %+v", forever)
		}
	}},
	{"the largest limits are kept exactly, and no daily limit stays none", func(t storageTest) {
		for i, l := range []petstore.Limits{{PerMinute: petstore.MaxLimit, PerDay: petstore.MaxLimit}, {PerMinute: 1}, {PerMinute: 1, PerDay: math.MaxInt32 + 1}} {
			key := newKey(fmt.Sprint(i))
			key.Limits = l
			t.addKey(key)
			t.same("limits", t.find(key.Name).Limits, l)
		}
	}},
	{"concurrent creates of keys are all stored", func(t storageTest) {
		keys := make([]petstore.Key, 40)
		t.concurrently(len(keys), func(i int) error {
			keys[i] = newKey(fmt.Sprint(i))
			return t.CreateKey(t.Context(), keys[i], petstore.HashSecret(keys[i].Name), operator)
		})
		t.sameKeys("listed", t.keys(), keys)
	}},
	{"the first key is stored only if there are no keys", func(t storageTest) {
		first := newKey("first")
		for _, key := range []petstore.Key{first, newKey("second"), newKey("third")} {
			made, err := t.CreateFirstKey(t.Context(), key, petstore.HashSecret(key.Name))
			t.noError(err)
			t.same("made", made, key == first)
		}
		t.same("listed", t.keys(), []petstore.Key{first})
	}},
	{"a revoked key counts as a key, so no first key is stored after it", func(t storageTest) {
		key := t.addKey(newKey("a"))
		t.noError(writeError(t.RevokeKey(t.Context(), key.ID, operator)))
		made, err := t.CreateFirstKey(t.Context(), newKey("b"), petstore.HashSecret("b"))
		t.noError(err)
		t.same("made", made, false)
	}},
	{"of concurrent first keys, exactly one is stored", func(t storageTest) {
		var winners atomic.Int64
		t.concurrently(20, func(i int) error {
			made, err := t.CreateFirstKey(t.Context(), newKey("first"), petstore.HashSecret(fmt.Sprint(i)))
			if made {
				winners.Add(1)
			}
			return err
		})
		t.same("made", winners.Load(), int64(1))
		t.same("keys", len(t.keys()), 1)
	}},
	{"ensuring a new key stores it", func(t storageTest) {
		key := newKey("a")
		t.noError(t.EnsureKey(t.Context(), key, petstore.HashSecret("a")))
		t.same("listed", t.keys(), []petstore.Key{key})
	}},
	{"ensuring a usable key changes nothing", func(t storageTest) {
		key := petstore.NewKey("a", petstore.Free, limits, epoch, 2*time.Hour)
		key.Access = petstore.ReadOnly
		want := []petstore.Key{t.addKey(key)}
		t.noError(t.EnsureKey(t.Context(), petstore.NewKey("b", petstore.Enterprise, otherLimits, epoch.Add(time.Hour), petstore.Forever), petstore.HashSecret("a")))
		t.same("listed", t.keys(), want)
	}},
	{"ensuring a revoked or expired key makes it usable again", func(t storageTest) {
		revoked := t.addKey(newKey("revoked"))
		t.noError(writeError(t.RevokeKey(t.Context(), revoked.ID, operator)))
		t.addKey(petstore.NewKey("expired", petstore.Free, limits, epoch, time.Minute))
		for _, secret := range []string{"revoked", "expired"} {
			now := epoch.Add(time.Hour)
			if t.find(secret).Usable(now) == nil {
				t.Fatalf("the %s key is usable", secret)
			}
			t.noError(t.EnsureKey(t.Context(), petstore.NewKey("again", petstore.Pro, otherLimits, now, petstore.Forever), petstore.HashSecret(secret)))
			t.noError(t.find(secret).Usable(now.AddDate(10, 0, 0)))
			t.same("plan", t.find(secret).Plan, petstore.Free)
		}
	}},
	{"ensuring a new key concurrently stores one key", func(t storageTest) {
		t.concurrently(20, func(int) error {
			return t.EnsureKey(t.Context(), newKey("a"), petstore.HashSecret("a"))
		})
		t.same("keys", len(t.keys()), 1)
	}},
}
