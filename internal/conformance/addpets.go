package conformance

import (
	"fmt"
	"slices"

	"petstore/internal/petstore"
)

// manyPets returns n animals, with each status in turn.
func manyPets(n int) []petstore.NewPet {
	pets := make([]petstore.NewPet, n)
	for i := range pets {
		pets[i] = petstore.NewPet{Name: fmt.Sprint("Pup ", i), CategoryID: int64(i) - 7, Status: petstore.Statuses[i%3]}
	}
	return pets
}

// addPetsOnce adds animals. It checks that the answer is a replay if wantReplay is true, and is no replay otherwise.
func (t storageTest) addPetsOnce(pets []petstore.NewPet, o *petstore.Idempotency, wantReplay bool) {
	t.Helper()
	replayed, err := t.AddPets(t.Context(), pets, o)
	t.noError(err)
	t.same("replayed", replayed, wantReplay)
}

// newestFirst returns the stored animals without their ids, newest first.
func (t storageTest) newestFirst() []petstore.NewPet {
	t.Helper()
	var pets []petstore.NewPet
	for _, pet := range t.all() {
		pets = append(pets, pet.NewPet)
	}
	return pets
}

var addPetsCases = []storageCase{
	{"all pets are stored in their order, and the inventory counts them", func(t storageTest) {
		pets := manyPets(99)
		t.addPetsOnce(pets, idempotency("k", 1), false)
		stored := t.newestFirst()
		slices.Reverse(stored)
		t.same("stored", stored, pets)
		counted, err := t.Inventory(t.Context())
		t.noError(err)
		t.same("inventory", counted, petstore.Inventory{Available: 33, Pending: 33, Sold: 33})
	}},
	{"the second request stores nothing", func(t storageTest) {
		t.addPetsOnce(manyPets(20), idempotency("k", 1), false)
		t.addPetsOnce(manyPets(20), idempotency("k", 1), true)
		t.same("animals", len(t.all()), 20)
		t.addPetsOnce(manyPets(20), idempotency("other", 1), false)
		t.same("animals", len(t.all()), 40)
	}},
	{"a request without pets uses its key", func(t storageTest) {
		t.addPetsOnce(nil, idempotency("k", 1), false)
		t.addPetsOnce(manyPets(3), idempotency("k", 1), true)
		t.same("animals", len(t.all()), 0)
	}},
	{"another fingerprint is a conflict and stores nothing", func(t storageTest) {
		t.addPetsOnce(manyPets(2), idempotency("k", 1), false)
		_, err := t.AddPets(t.Context(), manyPets(5), idempotency("k", 2))
		t.refused(err, petstore.IdempotencyConflict)
		t.same("animals", len(t.all()), 2)
	}},
}
