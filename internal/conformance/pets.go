package conformance

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"petstore/internal/petstore"
)

var rex = petstore.NewPet{Name: "Rex", CategoryID: 7, Status: petstore.Available}

var petCases = []storageCase{
	{"an empty storage lists nothing", func(t storageTest) {
		for _, status := range append([]petstore.Status{0}, petstore.Statuses...) {
			if got := t.list(petstore.PetQuery{Status: status, Limit: 20}); len(got) != 0 {
				t.Fatalf("listed %v of an empty storage", got)
			}
		}
	}},
	{"a created pet can be read", func(t storageTest) {
		for _, want := range t.addMany(5) {
			got, err := t.GetPet(t.Context(), want.ID)
			t.noError(err)
			t.same("got", got, want)
		}
	}},
	{"an id that no pet has is not found", func(t storageTest) {
		pet := t.add(rex)
		for _, id := range []int64{0, -1, pet.ID + 1, math.MaxInt64, math.MinInt64} {
			_, err := t.GetPet(t.Context(), id)
			t.refused(err, petstore.NotFound)
		}
	}},
	{"pets are listed newest first, and at most limit of them", func(t storageTest) {
		pets := t.addMany(9)
		for limit := 1; limit <= len(pets); limit++ {
			t.same("listed", t.list(petstore.PetQuery{Limit: limit}), pets[:limit])
		}
	}},
	{"a list of one status has no pet of another", func(t storageTest) {
		pets := t.addMany(12)
		for _, status := range petstore.Statuses {
			want := only(pets, func(p petstore.Pet) bool { return p.Status == status })
			t.same("listed", t.list(petstore.PetQuery{Status: status, Limit: 100}), want)
			t.same("listed with a limit", t.list(petstore.PetQuery{Status: status, Limit: 2}), want[:2])
		}
	}},
	{"a list before an id has only lower ids", func(t storageTest) {
		pets := t.addMany(12)
		for _, last := range pets {
			lower := only(pets, func(p petstore.Pet) bool { return p.ID < last.ID })
			t.same("listed", t.list(petstore.PetQuery{Before: last.ID, Limit: 100}), lower)

			sold := only(lower, func(p petstore.Pet) bool { return p.Status == petstore.Sold })
			t.same("listed sold", t.list(petstore.PetQuery{Before: last.ID, Status: petstore.Sold, Limit: 100}), sold)
		}
		t.same("before the highest id", t.list(petstore.PetQuery{Before: math.MaxInt64, Limit: 100}), pets)
	}},
	{"names are kept verbatim", func(t storageTest) {
		var pets []petstore.Pet
		for _, name := range verbatimNames {
			pet := t.add(petstore.NewPet{Name: name, CategoryID: 1, Status: petstore.Pending})
			t.same("created", pet.Name, name)
			got, err := t.GetPet(t.Context(), pet.ID)
			t.noError(err)
			t.same("got", got, pet)
			pets = append(pets, pet)
		}
		slices.Reverse(pets)
		t.same("listed", t.all(), pets)
		t.same("listed by status", t.list(petstore.PetQuery{Status: petstore.Pending, Limit: 100}), pets)
	}},
	{"a category is any int64", func(t storageTest) {
		for _, id := range []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, 1 << 53, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64} {
			pet := t.add(petstore.NewPet{Name: "Rex", CategoryID: id, Status: petstore.Sold})
			got, err := t.GetPet(t.Context(), pet.ID)
			t.noError(err)
			t.same("got", got.CategoryID, id)
			t.same("listed", t.list(petstore.PetQuery{Status: petstore.Sold, Limit: 1}), []petstore.Pet{pet})
		}
	}},
	{"each of hundreds of concurrent creates is stored once", func(t storageTest) {
		const many = 400
		created := make([]petstore.Pet, many)
		t.concurrently(many, func(i int) error {
			want := petstore.NewPet{Name: fmt.Sprintf("Pet %d", i), CategoryID: int64(-i), Status: petstore.Statuses[i%3]}
			var err error
			if created[i], _, err = t.CreatePet(t.Context(), want, nil); err == nil && created[i].NewPet != want {
				err = fmt.Errorf("got %+v, want %+v", created[i], want)
			}
			return err
		})
		slices.SortFunc(created, func(a, b petstore.Pet) int { return int(b.ID - a.ID) })
		t.same("listed", t.all(), created)
	}},
	{"every read that starts after an acknowledgment shows the pet", func(t storageTest) {
		t.concurrently(20, func(i int) error {
			for range 5 {
				pet, _, err := t.CreatePet(t.Context(), rex, nil)
				if err != nil {
					return err
				}
				if got, err := t.GetPet(t.Context(), pet.ID); err != nil || got != pet {
					return fmt.Errorf("created %+v, then got %+v, %v", pet, got, err)
				}
				page, err := t.ListPets(t.Context(), petstore.PetQuery{Status: rex.Status, Before: pet.ID + 1, Limit: 1})
				if err != nil || len(page) != 1 || page[0] != pet {
					return fmt.Errorf("created %+v, then listed %+v, %v", pet, page, err)
				}
			}
			return nil
		})
	}},
	{"a walk over the pages finds every pet once while others are added", func(t storageTest) {
		before := t.addMany(60)
		var walking atomic.Bool
		walking.Store(true)
		t.concurrently(6, func(i int) error {
			if i > 0 {
				return addWhile(t.Context(), t.Database, &walking)
			}
			defer walking.Store(false)
			for _, status := range append([]petstore.Status{0}, petstore.Statuses...) {
				if err := walk(t.Context(), t.Database, status, before); err != nil {
					return err
				}
			}
			return nil
		})
	}},
}

var verbatimNames = []string{
	"Rex",
	"🐕‍🦺 with 🦴",
	"e\u0301 is not \u00e9",
	`'; DROP TABLE pets; --`,
	`"quoted" \back\slash %s $1 ?1 :name @name`,
	"two\nlines\r\nand\ta tab",
	"  leading and trailing \u00a0",
	"\u200b\ufeffinvisible\u202e",
	"𐍈𝒳\U0010fffd\uffff\U0010ffff",
	"\x01\x1f\x7f",
	"שלום مرحبا",
	strings.Repeat("a", petstore.MaxNameLength),
	strings.Repeat("🐈", petstore.MaxNameLength),
	"NULL", "0", "1e3", "true",
}

func only(pets []petstore.Pet, keep func(petstore.Pet) bool) []petstore.Pet {
	kept := []petstore.Pet{}
	for _, p := range pets {
		if keep(p) {
			kept = append(kept, p)
		}
	}
	return kept
}

func addWhile(ctx context.Context, s petstore.Database, more *atomic.Bool) error {
	for i := 0; more.Load(); i++ {
		if _, _, err := s.CreatePet(ctx, petstore.NewPet{Name: "Late", Status: petstore.Statuses[i%3]}, nil); err != nil {
			return err
		}
	}
	return nil
}

// walk pages through the animals with the given status. It returns an error unless it finds each animal in pets exactly
// once.
func walk(ctx context.Context, s petstore.Database, status petstore.Status, pets []petstore.Pet) error {
	seen := make(map[int64]int)
	for q := (petstore.PetQuery{Status: status, Limit: 7}); ; {
		page, err := s.ListPets(ctx, q)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		for _, p := range page {
			seen[p.ID]++
		}
		q.Before = page[len(page)-1].ID
	}
	for id, times := range seen {
		if times != 1 {
			return fmt.Errorf("pet %d was found %d times", id, times)
		}
	}
	for _, p := range pets {
		if (status == 0 || p.Status == status) != (seen[p.ID] == 1) {
			return fmt.Errorf("%s pet %d was found %d times in a walk over %q", p.Status, p.ID, seen[p.ID], status)
		}
	}
	return nil
}
