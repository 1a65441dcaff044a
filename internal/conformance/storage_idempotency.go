package conformance

import (
	"fmt"
	"strings"
	"time"

	"petstore/internal/petstore"
)

var tom = petstore.NewPet{Name: "Tom", CategoryID: -9, Status: petstore.Sold}

// once is an idempotency record of the owner "ann", made at epoch. The body decides its fingerprint.
func once(key string, body byte) *petstore.Idempotency {
	return &petstore.Idempotency{Owner: "ann", Key: key, Fingerprint: [32]byte{31: body}, Now: epoch}
}

func later(o *petstore.Idempotency, d time.Duration) *petstore.Idempotency {
	moved := *o
	moved.Now = o.Now.Add(d)
	return &moved
}

// addOnce creates an animal and checks whether the answer is a replay.
func (t storageTest) addOnce(pet petstore.NewPet, o *petstore.Idempotency, wantReplay bool) petstore.Pet {
	t.Helper()
	got, replayed, err := t.CreatePet(t.Context(), pet, o)
	t.noError(err)
	t.same("replayed", replayed, wantReplay)
	return got
}

var idempotencyCases = []storageCase{
	{"the first time stores the pet", func(t storageTest) {
		pet := t.addOnce(rex, once("k", 1), false)
		t.same("listed", t.all(), []petstore.Pet{pet})
		t.same("created", pet.NewPet, rex)
	}},
	{"a replay returns the same pet and stores nothing", func(t storageTest) {
		pet := t.addOnce(tom, once("k", 1), false)
		for range 3 {
			t.same("replayed pet", t.addOnce(tom, once("k", 1), true), pet)
		}
		t.same("listed", t.all(), []petstore.Pet{pet})
	}},
	{"another fingerprint is a conflict and stores nothing", func(t storageTest) {
		pet := t.addOnce(rex, once("k", 1), false)
		_, _, err := t.CreatePet(t.Context(), tom, once("k", 2))
		t.refused(err, petstore.IdempotencyConflict)
		t.same("listed", t.all(), []petstore.Pet{pet})
		t.same("replayed pet", t.addOnce(rex, once("k", 1), true), pet)
	}},
	{"other keys are other creates, and their case matters", func(t storageTest) {
		for _, key := range []string{"k", "K", "k ", " k", "k'", strings.Repeat("~", 255)} {
			t.addOnce(rex, once(key, 1), false)
		}
		t.same("animals", len(t.all()), 6)
	}},
	{"owners do not meet each other's keys", func(t storageTest) {
		ann, bob := once("k", 1), once("k", 2)
		bob.Owner = "bob"
		pet := t.addOnce(rex, ann, false)
		other := t.addOnce(tom, bob, false)
		t.same("ann's", t.addOnce(rex, ann, true), pet)
		t.same("bob's", t.addOnce(tom, bob, true), other)
	}},
	{"a record holds until IdempotencyKept has passed, counted from the first time", func(t storageTest) {
		first := once("k", 1)
		pet := t.addOnce(rex, first, false)
		t.same("halfway", t.addOnce(rex, later(first, petstore.IdempotencyKept/2), true), pet)
		t.same("just before the end", t.addOnce(rex, later(first, petstore.IdempotencyKept-time.Millisecond), true), pet)
		t.same("by a clock that is behind", t.addOnce(rex, later(first, -time.Hour), true), pet)

		again := t.addOnce(rex, later(first, petstore.IdempotencyKept), false)
		t.same("listed", t.all(), []petstore.Pet{again, pet})
		t.same("the new record", t.addOnce(rex, later(first, petstore.IdempotencyKept+time.Hour), true), again)
	}},
	{"without a time, a record holds and is purged by the store's own clock", func(t storageTest) {
		young, old := once("young", 1), once("old", 1)
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
	{"an expired record is no conflict", func(t storageTest) {
		t.addOnce(rex, once("k", 1), false)
		t.addOnce(tom, later(once("k", 2), petstore.IdempotencyKept), false)
		_, _, err := t.CreatePet(t.Context(), rex, later(once("k", 1), petstore.IdempotencyKept))
		t.refused(err, petstore.IdempotencyConflict)
	}},
	{"concurrent duplicates make one pet, and all get it", func(t storageTest) {
		const many = 50
		pets, replays := make([]petstore.Pet, many), make([]bool, many)
		t.atOnce(many, func(i int) (err error) {
			pets[i], replays[i], err = t.CreatePet(t.Context(), rex, once("k", 1))
			return err
		})
		stored := t.all()
		t.same("animals", len(stored), 1)
		first := 0
		for i := range many {
			t.same("answer", pets[i], stored[0])
			if !replays[i] {
				first++
			}
		}
		t.same("answers that are no replay", first, 1)
	}},
	{"of concurrent creates with one key and two bodies one body wins", func(t storageTest) {
		pets := make([]petstore.Pet, 40)
		t.atOnce(len(pets), func(i int) (err error) {
			pets[i], _, err = t.CreatePet(t.Context(), rex, once("k", byte(i%2)))
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
		taken := t.addOnce(rex, once("taken", 1), false)
		const rounds = 60
		t.atOnce(4*rounds, func(i int) error {
			switch i % 4 {
			case 0: // with no key at all
				_, _, err := t.CreatePet(t.Context(), tom, nil)
				return err
			case 1: // a key that is used here for the first time
				_, replayed, err := t.CreatePet(t.Context(), tom, once(fmt.Sprint("new ", i), 1))
				if replayed {
					return fmt.Errorf("a first time was said to be a replay")
				}
				return err
			case 2:
				pet, replayed, err := t.CreatePet(t.Context(), rex, once("taken", 1))
				if err == nil && (pet != taken || !replayed) {
					return fmt.Errorf("got %+v, %v", pet, replayed)
				}
				return err
			default:
				_, _, err := t.CreatePet(t.Context(), tom, once("taken", 2))
				return notRefused(err, petstore.IdempotencyConflict)
			}
		})
		t.same("animals", len(t.all()), 1+2*rounds)
	}},
	{"concurrent creates with the same keys in opposite orders all end", func(t storageTest) {
		const keys = 30
		t.atOnce(8, func(i int) error {
			for j := range keys {
				if i%2 == 1 {
					j = keys - 1 - j
				}
				if _, _, err := t.CreatePet(t.Context(), rex, once(fmt.Sprint(j), 1)); err != nil {
					return err
				}
			}
			return nil
		})
		t.same("animals", len(t.all()), keys)
	}},
	{"a purge forgets the records made before, and keeps the pets", func(t storageTest) {
		old, edge, young := once("old", 1), later(once("edge", 1), time.Hour), later(once("young", 1), 2*time.Hour)
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
	{"a purge without such records does nothing", func(t storageTest) {
		purged, err := t.PurgeIdempotency(t.Context(), epoch)
		t.noError(err)
		t.same("purged", purged, int64(0))
	}},
	{"a purge forgets however many records there are", func(t storageTest) {
		const callers, each = 100, 12
		t.atOnce(callers, func(i int) (err error) {
			for j := 0; j < each && err == nil; j++ {
				_, _, err = t.CreatePet(t.Context(), rex, once(fmt.Sprint(i, j), 1))
			}
			return err
		})
		purged, err := t.PurgeIdempotency(t.Context(), epoch.Add(time.Millisecond))
		t.noError(err)
		t.same("purged", purged, int64(callers*each))
	}},
}
