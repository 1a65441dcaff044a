package petstore_test

import (
	"testing"

	"pgregory.net/rapid"

	"petstore/internal/petstore"
)

func patchOf(name *string, category *int64, status *petstore.Status) petstore.PetPatch {
	return petstore.PetPatch{Name: name, CategoryID: category, Status: status}
}

func TestAPatchChangesOnlyTheFieldsItNames(t *testing.T) {
	held := orderIn(petstore.Open)
	pet := func(name string, category int64, status petstore.Status) petstore.Pet {
		return petstore.Pet{ID: 7, NewPet: petstore.NewPet{Name: name, CategoryID: category, Status: status}}
	}
	for _, c := range []struct {
		behaviour string
		before    petstore.Pet
		patch     petstore.PetPatch
		holder    *petstore.Order
		after     petstore.Pet // zero if the patch is refused
	}{
		{"an empty patch changes nothing", pet("Rex", 1, petstore.Available), petstore.PetPatch{}, nil, pet("Rex", 1, petstore.Available)},
		{"a name", pet("Rex", 1, petstore.Available), patchOf(new("Max"), nil, nil), nil, pet("Max", 1, petstore.Available)},
		{"a category", pet("Rex", 1, petstore.Sold), patchOf(nil, new(int64(0)), nil), nil, pet("Rex", 0, petstore.Sold)},
		{"everything", pet("Rex", 1, petstore.Sold), patchOf(new("Max"), new(int64(-1)), new(petstore.Pending)), nil, pet("Max", -1, petstore.Pending)},
		{"a held animal's name and category", pet("Rex", 1, petstore.Pending), patchOf(new("Max"), new(int64(2)), nil), &held, pet("Max", 2, petstore.Pending)},
		{"a held animal's status, to the same one", pet("Rex", 1, petstore.Pending), patchOf(new("Max"), nil, new(petstore.Pending)), &held, pet("Max", 1, petstore.Pending)},
		{"not a held animal's status, to available", pet("Rex", 1, petstore.Pending), patchOf(nil, nil, new(petstore.Available)), &held, petstore.Pet{}},
		{"not a held animal's status, to sold, nor its name with it", pet("Rex", 1, petstore.Pending), patchOf(new("Max"), nil, new(petstore.Sold)), &held, petstore.Pet{}},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			got, err := c.before.Patch(c.patch, c.holder)
			if refused := c.after.ID == 0; got != c.after || refused != petstore.IsCode(err, petstore.PetReserved) || !refused && err != nil {
				t.Errorf("got %+v, %v; want %+v", got, err, c.after)
			}
		})
	}
	for _, from := range petstore.Statuses {
		for _, to := range petstore.Statuses {
			if got, err := pet("Rex", 1, from).Patch(patchOf(nil, nil, &to), nil); err != nil || got.Status != to {
				t.Errorf("from %s to %s: %+v, %v", from, to, got, err)
			}
		}
	}
	_, err := pet("Rex", 1, petstore.Pending).Patch(patchOf(nil, nil, new(petstore.Sold)), &held)
	expectRefusal(t, err, petstore.Error{Code: petstore.PetReserved, Order: &held})
}

func optional[T any](g *rapid.Generator[T]) *rapid.Generator[*T] { return rapid.Ptr(g, true) }

func TestPatchesAreIdempotentAndTheLaterOneWins(t *testing.T) {
	name, category, status := rapid.SampledFrom([]string{"Rex", "Max", "Zoë 🐕"}), rapid.Int64(), rapid.SampledFrom(petstore.Statuses)
	patches := rapid.Custom(func(t *rapid.T) petstore.PetPatch {
		return patchOf(optional(name).Draw(t, "name"), optional(category).Draw(t, "category"), optional(status).Draw(t, "status"))
	})
	rapid.Check(t, func(t *rapid.T) {
		before := petstore.Pet{ID: 7, NewPet: petstore.NewPet{Name: name.Draw(t, "name"), CategoryID: category.Draw(t, "category"), Status: status.Draw(t, "status")}}
		first, second := patches.Draw(t, "first"), patches.Draw(t, "second")
		patched := func(p petstore.Pet, patch petstore.PetPatch) petstore.Pet {
			after, err := p.Patch(patch, nil)
			if err != nil || after.ID != p.ID {
				t.Fatalf("%+v becomes %+v, %v", p, after, err)
			}
			return after
		}
		once := patched(before, first)
		if twice := patched(once, first); twice != once {
			t.Fatalf("once %+v, twice %+v", once, twice)
		}
		both := first
		if second.Name != nil {
			both.Name = second.Name
		}
		if second.CategoryID != nil {
			both.CategoryID = second.CategoryID
		}
		if second.Status != nil {
			both.Status = second.Status
		}
		if one, two := patched(before, both), patched(once, second); one != two {
			t.Fatalf("in one patch %+v, one after the other %+v", one, two)
		}
	})
}

func TestAnInventoryCountsEachStatus(t *testing.T) {
	var got petstore.Inventory
	for i, status := range petstore.Statuses {
		got.Add(status, int64(10*(i+1)))
		got.Add(status, -1)
	}
	got.Add(0, 100)
	if want := (petstore.Inventory{Available: 9, Pending: 19, Sold: 29}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
