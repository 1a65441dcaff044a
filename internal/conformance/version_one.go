package conformance

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"testing"
	"time"

	"petstore/internal/petstore"
)

// VersionOne checks the migration of a store that the first version of the program wrote. For each case, open returns a
// migrated copy of that store, and openEmpty returns a new storage. Both functions register a cleanup.
func VersionOne(t *testing.T, open, openEmpty func(t *testing.T) petstore.Database) {
	for _, c := range versionOneCases {
		t.Run(c.behavior, func(t *testing.T) { c.check(copyTest{checks{t}, open(t), openEmpty(t)}) })
	}
}

// These are the animals in the store of the first version. They were created with the Idempotency-Keys first-1, first-2 and
// so on, within a second of versionOneTime.
var (
	versionOnePets = []petstore.Pet{
		{ID: 1, NewPet: petstore.NewPet{Name: "Biscuit, beagle mix", CategoryID: 1, Status: petstore.Available}},
		{ID: 2, NewPet: petstore.NewPet{Name: "Olive, tabby", CategoryID: 2, Status: petstore.Pending}},
		{ID: 3, NewPet: petstore.NewPet{Name: "Zoë 🐕", CategoryID: -7, Status: petstore.Sold}},
		{ID: 4, NewPet: petstore.NewPet{Name: "Rex", CategoryID: 9007199254740993, Status: petstore.Available}},
		{ID: 5, NewPet: petstore.NewPet{Name: "Moss", CategoryID: 12, Status: petstore.Available}},
	}
	versionOneTime = time.UnixMilli(1794772550000)
)

var versionOneCases = []copyCase{
	{"its animals are there, and the inventory counts them", func(t copyTest) {
		for _, want := range versionOnePets {
			got, err := t.from.GetPet(t.Context(), want.ID)
			t.noError(err)
			t.same("animal", got, want)
		}
		inventory, err := t.from.Inventory(t.Context())
		t.noError(err)
		t.same("inventory", inventory, petstore.Inventory{Available: 3, Pending: 1, Sold: 1})
		next := storageTest{t.checks, t.from}.add(rex)
		t.same("the next id", next.ID, int64(6))
	}},
	{"its keys may write, and only the rotated key has a time of rotation", func(t copyTest) {
		keys := map[string][]petstore.StoredKey{}
		all, err := t.from.StoredKeys(t.Context(), petstore.StoredKey{}, 100)
		t.noError(err)
		for _, key := range all {
			keys[key.Name] = append(keys[key.Name], key)
			if key.Access != petstore.ReadWrite || !key.LastUsedAt.IsZero() {
				t.Errorf("the key %+v", key)
			}
			if key.CreatedAt.Sub(versionOneTime).Abs() > time.Minute {
				t.Errorf("the key %s was made at %s", key.Name, key.CreatedAt)
			}
		}
		named, free, revoked := keys["named by the operator"], keys["free"], keys["revoked"]
		if len(all) != 5 || len(named) != 1 || len(free) != 1 || len(revoked) != 1 || len(keys["rotated"]) != 2 {
			t.Fatalf("the keys are %+v", all)
		}
		old, successor := keys["rotated"][0], keys["rotated"][1]
		if successor.CreatedAt.Before(old.CreatedAt) {
			old, successor = successor, old
		}
		t.same("the named key", named[0].Hash, petstore.HashSecret("pets-version-one-key"))
		t.same("its limits", named[0].Limits, petstore.FirstKeyLimits)
		t.same("the ban's length", free[0].Ban.Until.Sub(free[0].Ban.Start), time.Minute)
		t.same("the ban's streak", free[0].Ban.Streak, 1)
		t.same("revoked", revoked[0].RevokedAt.After(revoked[0].CreatedAt), true)
		t.same("the owner of the rotated key", old.Owner, old.ID)
		t.same("the owner of its successor", successor.Owner, old.ID)
		t.same("the end of the rotated key", old.ExpiresAt, successor.CreatedAt.Add(24*time.Hour))
		t.same("rotated", old.RotatedAt, successor.CreatedAt)
		for _, key := range []petstore.StoredKey{named[0], free[0], revoked[0], successor} {
			if !key.RotatedAt.IsZero() || !key.RevokedAt.IsZero() && key.Name != "revoked" || !key.Ban.Start.IsZero() && key.Name != "free" {
				t.Errorf("the key %+v", key)
			}
		}
	}},
	{"a repeated Idempotency-Key gets the first answer, whatever became of the animal", func(t copyTest) {
		t.replayVersionOne()
		s := storageTest{t.checks, t.from}
		s.patch(1, withStatus(petstore.Sold))
		name, category := "Another", int64(99)
		_, _, err := t.from.UpdatePet(t.Context(), 3, petstore.PetPatch{Name: &name, CategoryID: &category}, nil)
		t.noError(err)
		t.noError(errorOf(t.from.DeletePet(t.Context(), 4, nil)))
		s.place(5)
		t.replayVersionOne()
	}},
	{"a new category gets the number after the highest category number that clients read exactly", func(t copyTest) {
		t.same("category", storageTest{t.checks, t.from}.createCategory("Dogs"), petstore.Category{ID: 13, Name: "Dogs"})
	}},
	{"one of its animals can be ordered and sold", func(t copyTest) {
		s := storageTest{t.checks, t.from}
		s.closeOrder(s.place(1).ID, petstore.Completed)
		t.same("the animal", s.status(1), petstore.Sold)
		inventory, err := t.from.Inventory(t.Context())
		t.noError(err)
		t.same("inventory", inventory, petstore.Inventory{Available: 2, Pending: 1, Sold: 2})
	}},
	{"its animals are found by their words and categories", func(t copyTest) {
		s := storageTest{checks{t.T}, t.from}
		t.same("by words", s.names(s.search("ZOE")), "Zoë 🐕")
		t.same("by a category", s.names(s.list(petstore.PetQuery{Category: 12, OfCategory: true, Limit: 10})), "Moss")
	}},
	{"it can be copied", func(t copyTest) {
		t.copyAll()
		t.sameContent()
		t.same("what a search finds in the copy", storageTest{checks{t.T}, t.to}.search("tabby"), versionOnePets[1:2])
		t.same("again", t.copyAll(), nothingDone)
	}},
}

// replayVersionOne repeats the requests that created the animals of the first version.
func (t copyTest) replayVersionOne() {
	t.Helper()
	key, err := t.from.FindKey(t.Context(), petstore.HashSecret("pets-version-one-key"))
	t.noError(err)
	for _, want := range versionOnePets {
		body := fmt.Sprintf(`{"name":%q,"categoryId":%d,"status":%q}`, want.Name, want.CategoryID, want.Status.String())
		repeated := &petstore.Idempotency{Owner: key.Owner, Key: fmt.Sprint("first-", want.ID), Fingerprint: sha256.Sum256([]byte(body)), Now: versionOneTime.Add(time.Hour)}
		got, replayed, err := t.from.CreatePet(t.Context(), petstore.NewPet{}, repeated)
		if err != nil || !replayed || !reflect.DeepEqual(got, want) {
			t.Errorf("%s answers %+v, %v, %v; want %+v", repeated.Key, got, replayed, err, want)
		}
		repeated.Fingerprint[0]++
		_, _, err = t.from.CreatePet(t.Context(), want.NewPet, repeated)
		if !petstore.IsCode(err, petstore.IdempotencyConflict) {
			t.Errorf("%s with another body: %v", repeated.Key, err)
		}
	}
}
