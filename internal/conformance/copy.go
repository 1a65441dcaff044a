package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"petstore/internal/petstore"
)

// Copy checks that everything in one storage arrives in another, each opened empty by its function.
func Copy(t *testing.T, openFrom, openTo func(t *testing.T) petstore.Movable) {
	ctx := t.Context()
	from, to := openFrom(t), openTo(t)
	fill(t, from)
	var done, total int64
	progress := func(d, n int64) { done, total = d, n }

	for _, round := range []string{"once", "again"} {
		if err := petstore.Copy(ctx, from, to, progress); err != nil {
			t.Fatalf("copied %s: %v", round, err)
		}
		if done != copied || total != copied {
			t.Errorf("copied %s: %d of %d animals", round, done, total)
		}
		sameContent(t, from, to)
	}

	t.Run("what was added meanwhile comes over with the next copy", func(t *testing.T) {
		late := add(t, from, "Late")
		if err := petstore.Copy(ctx, from, to, progress); err != nil {
			t.Fatal(err)
		}
		if pet, err := to.GetPet(ctx, late.ID); err != nil || pet != late {
			t.Errorf("got %+v, %v; want %+v", pet, err, late)
		}
		sameContent(t, from, to)
	})
	t.Run("what changed of a key meanwhile comes over with the next copy", func(t *testing.T) {
		keys, err := from.Keys(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			if !key.BannedUntil.IsZero() {
				err = from.UnbanOwner(ctx, key.Owner)
			} else {
				err = from.RevokeKey(ctx, key.ID, epoch)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := petstore.Copy(ctx, from, to, progress); err != nil {
			t.Fatal(err)
		}
		sameContent(t, from, to)
	})
	t.Run("a create that is done meanwhile comes over whole or not at all", func(t *testing.T) {
		n := 0
		err := petstore.Copy(ctx, from, to, func(int64, int64) {
			n++
			if _, _, err := from.CreatePet(ctx, rex, once(fmt.Sprint("meanwhile ", n), 1)); err != nil {
				t.Error(err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		records, err := to.DumpOnce(ctx, petstore.StoredOnce{}, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			var made petstore.Pet
			if err := json.Unmarshal([]byte(r.Answer), &made); err != nil {
				t.Fatal(err)
			}
			if _, err := to.GetPet(ctx, made.ID); err != nil {
				t.Errorf("the record of %s came over without its animal: %v", r.Key, err)
			}
		}
		if err := petstore.Copy(ctx, from, to, progress); err != nil {
			t.Fatal(err)
		}
		sameContent(t, from, to)
	})
	t.Run("a new animal gets an id of its own there", func(t *testing.T) {
		last, err := from.ListPets(ctx, petstore.PetQuery{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if pet := add(t, to, "New"); pet.ID <= last[0].ID {
			t.Errorf("the new animal got id %d, and %d was copied", pet.ID, last[0].ID)
		}
	})
	t.Run("a create that was done here is replayed there", func(t *testing.T) {
		pet, again, err := to.CreatePet(ctx, petstore.NewPet{Name: "Once", Status: petstore.Sold}, once("7", 7))
		if err != nil || !again {
			t.Errorf("got %+v, %v, %v", pet, again, err)
		}
	})
	t.Run("an id that has another animal there is refused and nothing is stored", func(t *testing.T) {
		other, err := to.ListPets(ctx, petstore.PetQuery{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		unknown := petstore.Pet{ID: other[0].ID + 1000, NewPet: petstore.NewPet{Name: "Unknown", Status: petstore.Sold}}
		clash := petstore.Pet{ID: other[0].ID, NewPet: petstore.NewPet{Name: "Clash", Status: petstore.Sold}}
		if err := to.LoadPets(ctx, []petstore.Pet{unknown, clash}); err == nil {
			t.Error("the clash was not refused")
		}
		if _, err := to.GetPet(ctx, unknown.ID); !petstore.IsCode(err, petstore.NotFound) {
			t.Errorf("a refused load left something: %v", err)
		}
	})
}

// copied is how many animals fill stores: more than one step of a copy.
const copied = 2500

func fill(t *testing.T, s petstore.Movable) {
	t.Helper()
	ctx := t.Context()
	pets := make([]petstore.Pet, copied-50)
	for i := range pets {
		pets[i] = petstore.Pet{ID: int64(3*i + 1), NewPet: petstore.NewPet{Name: fmt.Sprintf("Pet %d 🐕", i), CategoryID: int64(i - 5), Status: petstore.Statuses[i%3]}}
	}
	if err := s.LoadPets(ctx, pets); err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if _, _, err := s.CreatePet(ctx, petstore.NewPet{Name: "Once", Status: petstore.Sold}, once(fmt.Sprint(i), byte(i))); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		key := petstore.NewKey(fmt.Sprintf("key %d", i), petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, epoch, time.Duration(i)*time.Hour)
		if err := s.CreateKey(ctx, key, petstore.HashSecret(key.ID)); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			if _, err := s.BanOwner(ctx, key.Owner, epoch); err != nil {
				t.Fatal(err)
			}
		}
		if i == 2 {
			if err := s.RevokeKey(ctx, key.ID, epoch.Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func add(t *testing.T, s petstore.Storage, name string) petstore.Pet {
	t.Helper()
	pet, _, err := s.CreatePet(t.Context(), petstore.NewPet{Name: name, Status: petstore.Available}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pet
}

func sameContent(t *testing.T, from, to petstore.Movable) {
	t.Helper()
	want, got := content(t, from), content(t, to)
	if want != got {
		t.Errorf("the copy has\n%.2000s\nand not\n%.2000s", got, want)
	}
}

// content is everything in a storage, as text.
func content(t *testing.T, s petstore.Movable) string {
	t.Helper()
	ctx := context.Background()
	keys, err := s.DumpKeys(ctx)
	if err != nil {
		t.Fatal(err)
	}
	records, err := s.DumpOnce(ctx, petstore.StoredOnce{}, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	pets, err := s.ListPets(ctx, petstore.PetQuery{Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%+v\n%+v\n%+v", keys, records, pets)
}
