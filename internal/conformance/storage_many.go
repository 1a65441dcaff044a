package conformance

import (
	"fmt"
	"slices"

	"petstore/internal/petstore"
)

// litter returns n animals, with each status in turn.
func litter(n int) []petstore.NewPet {
	pets := make([]petstore.NewPet, n)
	for i := range pets {
		pets[i] = petstore.NewPet{Name: fmt.Sprint("Pup ", i), CategoryID: int64(i) - 7, Status: petstore.Statuses[i%3]}
	}
	return pets
}

// addOnceMany adds animals and checks whether the answer is a replay.
func (t storageTest) addOnceMany(pets []petstore.NewPet, o *petstore.Idempotency, wantReplay bool) {
	t.Helper()
	replayed, err := t.AddPets(t.Context(), pets, o)
	t.noError(err)
	t.same("replayed", replayed, wantReplay)
}

// newestFirst returns the stored animals without their ids.
func (t storageTest) newestFirst() []petstore.NewPet {
	t.Helper()
	var pets []petstore.NewPet
	for _, pet := range t.all() {
		pets = append(pets, pet.NewPet)
	}
	return pets
}

var manyCases = []storageCase{
	{"all are stored in their order, and counted", func(t storageTest) {
		pets := litter(99)
		t.addOnceMany(pets, once("k", 1), false)
		stored := t.newestFirst()
		slices.Reverse(stored)
		t.same("stored", stored, pets)
		counted, err := t.Inventory(t.Context())
		t.noError(err)
		t.same("inventory", counted, petstore.Inventory{Available: 33, Pending: 33, Sold: 33})
	}},
	{"the second time stores nothing", func(t storageTest) {
		t.addOnceMany(litter(20), once("k", 1), false)
		t.addOnceMany(litter(20), once("k", 1), true)
		t.same("animals", len(t.all()), 20)
		t.addOnceMany(litter(20), once("other", 1), false)
		t.same("animals", len(t.all()), 40)
	}},
	{"a request for nothing takes its place", func(t storageTest) {
		t.addOnceMany(nil, once("k", 1), false)
		t.addOnceMany(litter(3), once("k", 1), true)
		t.same("animals", len(t.all()), 0)
	}},
	{"another fingerprint is a conflict and stores nothing", func(t storageTest) {
		t.addOnceMany(litter(2), once("k", 1), false)
		_, err := t.AddPets(t.Context(), litter(5), once("k", 2))
		t.refused(err, petstore.IdempotencyConflict)
		t.same("animals", len(t.all()), 2)
	}},
}
