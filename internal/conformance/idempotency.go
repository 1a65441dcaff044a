package conformance

import (
	"fmt"
	"strings"
	"time"

	"petstore/internal/petstore"
)

var tom = petstore.NewPet{Name: "Tom", CategoryID: -9, Status: petstore.Sold}

// idempotency returns an Idempotency of the owner "ann" at the time epoch. The fingerprint depends only on body.
func idempotency(key string, body byte) *petstore.Idempotency {
	return &petstore.Idempotency{Owner: "ann", Key: key, Fingerprint: [32]byte{31: body}, Now: epoch}
}

// The function shifted returns a copy of o with a time that is later by d.
func shifted(o *petstore.Idempotency, d time.Duration) *petstore.Idempotency {
	other := *o
	other.Now = o.Now.Add(d)
	return &other
}

// addOnce creates an animal. It checks that the answer is a replay if wantReplay is true, and is no replay otherwise.
func (t storageTest) addOnce(pet petstore.NewPet, o *petstore.Idempotency, wantReplay bool) petstore.Pet {
	t.Helper()
	got, replayed, err := t.CreatePet(t.Context(), pet, o)
	t.noError(err)
	t.same("replayed", replayed, wantReplay)
	return got
}

var idempotencyCases = []storageCase{
	{"a replay returns the same pet and stores nothing", func(t storageTest) {
		pet := t.addOnce(tom, idempotency("k", 1), false)
		for range 3 {
			t.same("replayed pet", t.addOnce(tom, idempotency("k", 1), true), pet)
		}
		t.same("listed", t.all(), []petstore.Pet{pet})
	}},
	{"another fingerprint is a conflict and stores nothing", func(t storageTest) {
		pet := t.addOnce(rex, idempotency("k", 1), false)
		_, _, err := t.CreatePet(t.Context(), tom, idempotency("k", 2))
		t.refused(err, petstore.IdempotencyConflict)
		t.same("listed", t.all(), []petstore.Pet{pet})
		t.same("replayed pet", t.addOnce(rex, idempotency("k", 1), true), pet)
	}},
	{"different keys are different creates, and their case matters", func(t storageTest) {
		for _, key := range []string{"k", "K", "k ", " k", "k'", strings.Repeat("~", 255)} {
			t.addOnce(rex, idempotency(key, 1), false)
		}
		t.same("animals", len(t.all()), 6)
	}},
	{"two owners can use the same key", func(t storageTest) {
		ann, bob := idempotency("k", 1), idempotency("k", 2)
		bob.Owner = "bob"
		pet := t.addOnce(rex, ann, false)
		other := t.addOnce(tom, bob, false)
		t.same("ann's", t.addOnce(rex, ann, true), pet)
		t.same("bob's", t.addOnce(tom, bob, true), other)
	}},
	{"a record is valid until IdempotencyKept after the first request", func(t storageTest) {
		first := idempotency("k", 1)
		pet := t.addOnce(rex, first, false)
		t.same("halfway", t.addOnce(rex, shifted(first, petstore.IdempotencyKept/2), true), pet)
		t.same("just before the end", t.addOnce(rex, shifted(first, petstore.IdempotencyKept-time.Millisecond), true), pet)
		t.same("with a slow clock", t.addOnce(rex, shifted(first, -time.Hour), true), pet)

		again := t.addOnce(rex, shifted(first, petstore.IdempotencyKept), false)
		t.same("listed", t.all(), []petstore.Pet{again, pet})
		t.same("the new record", t.addOnce(rex, shifted(first, petstore.IdempotencyKept+time.Hour), true), again)
	}},
	{"a record without a time uses the storage's own clock, also when it is purged", func(t storageTest) {
		young, old := idempotency("young", 1), idempotency("old", 1)
		young.Now, old.Now = time.Time{}, time.Now().Add(-petstore.IdempotencyKept-time.Minute)
		pet := t.addOnce(rex, young, false)
		t.addOnce(rex, old, false)
		t.same("again", t.addOnce(rex, young, true), pet)
		young.Now = time.Now()
		t.same("with a time", t.addOnce(rex, young, true), pet)

		purged, err := t.PurgeIdempotency(t.Context(), time.Time{})
		t.noError(err)
		t.same("purged", purged, int64(1))
		t.addOnce(rex, young, true)

		t.addOnce(rex, old, false)
		old.Now = time.Time{}
		t.addOnce(rex, old, false)
	}},
	{"an expired record is not a conflict", func(t storageTest) {
		t.addOnce(rex, idempotency("k", 1), false)
		t.addOnce(tom, shifted(idempotency("k", 2), petstore.IdempotencyKept), false)
		_, _, err := t.CreatePet(t.Context(), rex, shifted(idempotency("k", 1), petstore.IdempotencyKept))
		t.refused(err, petstore.IdempotencyConflict)
	}},
	{"concurrent duplicates create one pet, and all of them get it, even if an older record has expired", func(t storageTest) {
		const many = 50
		for round, later := range []time.Duration{0, petstore.IdempotencyKept} {
			pets, replays := make([]petstore.Pet, many), make([]bool, many)
			t.concurrently(many, func(i int) (err error) {
				pets[i], replays[i], err = t.CreatePet(t.Context(), rex, shifted(idempotency("k", 1), later))
				return err
			})
			stored := t.all()
			t.same("animals", len(stored), round+1)
			first := 0
			for i := range many {
				t.same("answer", pets[i], stored[0])
				if !replays[i] {
					first++
				}
			}
			t.same("answers that are not replays", first, 1)
		}
	}},
	{"of concurrent creates with one key and two bodies, one body wins", func(t storageTest) {
		pets := make([]petstore.Pet, 40)
		t.concurrently(len(pets), func(i int) (err error) {
			pets[i], _, err = t.CreatePet(t.Context(), rex, idempotency("k", byte(i%2)))
			if petstore.IsCode(err, petstore.IdempotencyConflict) {
				return nil
			}
			return err
		})
		stored := t.all()
		t.same("animals", len(stored), 1)
		winner := -1
		for i, p := range pets {
			if p == stored[0] {
				winner = i % 2
			}
		}
		for i, p := range pets {
			if (p == stored[0]) != (i%2 == winner) {
				t.Fatalf("call %d of body %d got %+v, but body %d won", i, i%2, p, winner)
			}
		}
	}},
	{"a conflict among concurrent creates fails only its own caller", func(t storageTest) {
		taken := t.addOnce(rex, idempotency("taken", 1), false)
		const rounds = 60
		t.concurrently(4*rounds, func(i int) error {
			switch i % 4 {
			case 0: // a create without an idempotency key
				_, _, err := t.CreatePet(t.Context(), tom, nil)
				return err
			case 1: // a create with a new idempotency key
				_, replayed, err := t.CreatePet(t.Context(), tom, idempotency(fmt.Sprint("new ", i), 1))
				if replayed {
					return fmt.Errorf("a first request was called a replay")
				}
				return err
			case 2:
				pet, replayed, err := t.CreatePet(t.Context(), rex, idempotency("taken", 1))
				if err == nil && (pet != taken || !replayed) {
					return fmt.Errorf("got %+v, %v", pet, replayed)
				}
				return err
			default:
				_, _, err := t.CreatePet(t.Context(), tom, idempotency("taken", 2))
				return checkRefusal(err, petstore.IdempotencyConflict)
			}
		})
		t.same("animals", len(t.all()), 1+2*rounds)
	}},
	{"concurrent creates with the same keys in opposite orders all finish", func(t storageTest) {
		const keys = 30
		t.concurrently(8, func(i int) error {
			for j := range keys {
				if i%2 == 1 {
					j = keys - 1 - j
				}
				if _, _, err := t.CreatePet(t.Context(), rex, idempotency(fmt.Sprint(j), 1)); err != nil {
					return err
				}
			}
			return nil
		})
		t.same("animals", len(t.all()), keys)
	}},
	{"a purge deletes the records from before that time, and keeps the pets", func(t storageTest) {
		old, edge, young := idempotency("old", 1), shifted(idempotency("edge", 1), time.Hour), shifted(idempotency("young", 1), 2*time.Hour)
		for _, o := range []*petstore.Idempotency{old, edge, young} {
			t.addOnce(rex, o, false)
		}
		purged, err := t.PurgeIdempotency(t.Context(), edge.Now)
		t.noError(err)
		t.same("purged", purged, int64(1))
		t.same("animals", len(t.all()), 3)

		t.addOnce(rex, edge, true)
		t.addOnce(rex, young, true)
		t.addOnce(rex, old, false)
	}},
	{"a purge deletes any number of records", func(t storageTest) {
		const callers, each = 100, 12
		t.concurrently(callers, func(i int) (err error) {
			for j := 0; j < each && err == nil; j++ {
				_, _, err = t.CreatePet(t.Context(), rex, idempotency(fmt.Sprint(i, j), 1))
			}
			return err
		})
		purged, err := t.PurgeIdempotency(t.Context(), epoch.Add(time.Millisecond))
		t.noError(err)
		t.same("purged", purged, int64(callers*each))
	}},
}
