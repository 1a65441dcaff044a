package sqlite

import (
	"context"
	"slices"

	"petstore/internal/petstore"
)

const (
	insertPets = "INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)" // and as many more as there are rows
	updatePet  = "UPDATE pets SET name = ?2, category_id = ?3, status = ?4 WHERE id = ?1"
	deletePet  = "DELETE FROM pets WHERE id = ?1"
)

// maxRows is the most animals that one statement stores. Besides its rows, a statement costs only as much as half a
// row, so more rows would save little.
const maxRows = 16

// CreatePet stores an animal in the next commit, together with those that others create at the same time.
func (db *DB) CreatePet(ctx context.Context, pet petstore.NewPet, idempotency *petstore.Idempotency) (petstore.Pet, bool, error) {
	if idempotency != nil {
		return makeOnce(ctx, db, idempotency, func(w *writer) (petstore.Pet, error) { return w.addOne(pet) })
	}
	id, err := db.do(ctx, change{pet: pet})
	if err != nil {
		return petstore.Pet{}, false, err
	}
	return petstore.Pet{ID: id, NewPet: pet}, false, nil
}

// AddPets stores animals in the next commit.
func (db *DB) AddPets(ctx context.Context, pets []petstore.NewPet, idempotency *petstore.Idempotency) (bool, error) {
	_, replayed, err := makeOnce(ctx, db, idempotency, func(w *writer) (int, error) {
		for some := range slices.Chunk(pets, maxRows) {
			if _, err := w.add(some...); err != nil {
				return 0, err
			}
		}
		return len(pets), nil
	})
	return replayed, err
}

// addAll stores the animals at these places in the batch.
func (w *writer) addAll(batch []change, places []int, outcomes []outcome) error {
	pets := make([]petstore.NewPet, 0, maxRows)
	for some := range slices.Chunk(places, maxRows) {
		pets = pets[:0]
		for _, i := range some {
			pets = append(pets, batch[i].pet)
		}
		id, err := w.add(pets...)
		if err != nil {
			return err
		}
		for n, i := range some {
			outcomes[i].id = id + int64(n)
		}
	}
	return nil
}

// add stores at most maxRows animals and returns the id of the first one. The ids of the others follow one by one.
func (w *writer) add(pets ...petstore.NewPet) (first int64, err error) {
	insert := w.inserts[len(pets)-1]
	for i, pet := range pets {
		insert.BindText(3*i+1, pet.Name)
		insert.BindInt64(3*i+2, pet.CategoryID)
		insert.BindInt64(3*i+3, int64(pet.Status))
	}
	defer insert.Reset()
	if _, err := insert.Step(); err != nil {
		return 0, err
	}
	first = w.conn.LastInsertRowID() - int64(len(pets)-1)
	for i, pet := range pets {
		w.stored(petstore.Pet{ID: first + int64(i), NewPet: pet})
	}
	return first, nil
}

func (w *writer) addOne(pet petstore.NewPet) (petstore.Pet, error) {
	id, err := w.add(pet)
	return petstore.Pet{ID: id, NewPet: pet}, err
}

// UpdatePet changes an animal in the next commit.
func (db *DB) UpdatePet(ctx context.Context, id int64, patch petstore.PetPatch) (pet petstore.Pet, err error) {
	err = db.change(ctx, func(w *writer) error {
		before, holder, err := w.settled(id, db.now())
		if err != nil {
			return err
		}
		if pet, err = before.Patch(patch, holder); err != nil {
			return err
		}
		return w.replace(before, pet)
	})
	if err != nil {
		return petstore.Pet{}, err
	}
	return pet, nil
}

// DeletePet removes an animal in the next commit. AUTOINCREMENT never gives its id again.
func (db *DB) DeletePet(ctx context.Context, id int64) error {
	return db.change(ctx, func(w *writer) error {
		pet, holder, err := w.settled(id, db.now())
		if err != nil {
			return err
		}
		if holder != nil {
			return petstore.PetReservedBy(*holder)
		}
		w.removed(pet)
		return run(w.conn, deletePet, id)
	})
}

// replace stores an animal that has changed.
func (w *writer) replace(before, after petstore.Pet) error {
	if after == before {
		return nil
	}
	w.counted[before.Status]--
	w.stored(after)
	return run(w.conn, updatePet, after.ID, after.Name, after.CategoryID, int64(after.Status))
}
