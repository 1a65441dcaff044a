package sqlite

import (
	"cmp"
	"context"
	"math"
	"slices"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	selectPets         = "SELECT id, category_id, status, name FROM pets WHERE id < ?1 ORDER BY id DESC LIMIT ?2"
	selectPetsOfStatus = "SELECT id, category_id, status, name FROM pets WHERE id < ?1 AND status = ?3 ORDER BY id DESC LIMIT ?2"
	selectPet          = "SELECT id, category_id, status, name FROM pets WHERE id = ?1"
	insertPets         = "INSERT INTO pets (id, name, category_id, status) VALUES (?, ?, ?, ?)" // one more (?, ?, ?, ?) for each further row
	updatePet          = "UPDATE pets SET name = ?2, category_id = ?3, status = ?4 WHERE id = ?1"
	deletePet          = "DELETE FROM pets WHERE id = ?1"
)

// maxPage is more than the number of animals on any page. A list allocates room for at most this many in advance.
const maxPage = 128

// maxInsertRows bounds the animals that one statement stores. A statement itself costs only as much as half a row, so more
// rows would save little.
const maxInsertRows = 16

// ListPets returns at most q.Limit animals, newest first.
func (db *DB) ListPets(ctx context.Context, q petstore.PetQuery) (pets []petstore.Pet, err error) {
	if err := ctx.Err(); err != nil {
		return nil, petstore.NotDone(err)
	}
	if !q.IsPlain() {
		return db.searchPets(ctx, q)
	}
	sole := db.soleWriter.Load() // before the cache is read
	pets, complete, since := db.cache.list(q)
	if complete && sole {
		return pets, nil
	}
	db.startFillingCache()
	err = db.readSince(ctx, since, sole, func(r *reader) (err error) {
		pets, err = r.listPets(q)
		return err
	})
	return pets, err
}

func (r *reader) listPets(q petstore.PetQuery) ([]petstore.Pet, error) {
	stmt := r.list
	if q.Status != petstore.AnyStatus {
		stmt = r.listOfStatus
		stmt.BindInt64(3, int64(q.Status))
	}
	return listPets(stmt, q)
}

func listPets(stmt *sqlite3.Stmt, q petstore.PetQuery) ([]petstore.Pet, error) {
	stmt.BindInt64(1, cmp.Or(q.Before, math.MaxInt64))
	stmt.BindInt64(2, int64(q.Limit))
	defer stmt.Reset()

	pets := make([]petstore.Pet, 0, min(q.Limit, maxPage))
	for {
		row, err := stmt.Step()
		if err != nil {
			return nil, err
		}
		if !row {
			return pets, nil
		}
		pets = append(pets, scanPet(stmt))
	}
}

// GetPet returns one animal.
func (db *DB) GetPet(ctx context.Context, id int64) (pet petstore.Pet, err error) {
	if err := ctx.Err(); err != nil {
		return pet, petstore.NotDone(err)
	}
	sole := db.soleWriter.Load() // before the cache is read
	pet, found, known, since := db.cache.get(id)
	switch {
	case !sole:
	case found:
		return pet, nil
	case known:
		return pet, petstore.NoSuchPet()
	}
	db.startFillingCache()
	err = db.readSince(ctx, since, sole, func(r *reader) (err error) {
		pet, err = getPet(r.get, id)
		return err
	})
	return pet, err
}

func getPet(stmt *sqlite3.Stmt, id int64) (petstore.Pet, error) {
	stmt.BindInt64(1, id)
	defer stmt.Reset()
	row, err := stmt.Step()
	if err != nil {
		return petstore.Pet{}, err
	}
	if !row {
		return petstore.Pet{}, petstore.NoSuchPet()
	}
	return scanPet(stmt), nil
}

func scanPet(stmt *sqlite3.Stmt) petstore.Pet {
	return petstore.Pet{
		ID: stmt.ColumnInt64(0),
		NewPet: petstore.NewPet{
			CategoryID: stmt.ColumnInt64(1),
			Status:     petstore.Status(stmt.ColumnInt64(2)),
			Name:       stmt.ColumnText(3),
		},
	}
}

// CreatePet stores an animal in the next commit, together with the animals that others create at the same time.
func (db *DB) CreatePet(ctx context.Context, pet petstore.NewPet, idempotency *petstore.Idempotency) (petstore.Pet, bool, error) {
	if idempotency != nil {
		return doOnce(ctx, db, idempotency, func(w *writer) (petstore.Pet, error) { return w.addPet(pet) })
	}
	id, err := db.submit(ctx, change{pet: pet})
	if err != nil {
		return petstore.Pet{}, false, err
	}
	return petstore.Pet{ID: id, NewPet: pet}, false, nil
}

// AddPets stores animals in the next commit.
func (db *DB) AddPets(ctx context.Context, pets []petstore.NewPet, idempotency *petstore.Idempotency) (bool, error) {
	_, replayed, err := doOnce(ctx, db, idempotency, func(w *writer) (int, error) {
		for some := range slices.Chunk(pets, maxInsertRows) {
			if _, err := w.addPets(some...); err != nil {
				return 0, err
			}
		}
		return len(pets), nil
	})
	return replayed, err
}

// addBatch stores the animals at these positions of the batch.
func (w *writer) addBatch(batch []change, positions []int, results []changeResult) error {
	pets := make([]petstore.NewPet, 0, maxInsertRows)
	for some := range slices.Chunk(positions, maxInsertRows) {
		pets = pets[:0]
		for _, i := range some {
			pets = append(pets, batch[i].pet)
		}
		id, err := w.addPets(pets...)
		if err != nil {
			return err
		}
		for n, i := range some {
			results[i].id = id + int64(n)
		}
	}
	return nil
}

// addPets stores at most maxInsertRows animals and returns the id of the first. The others get the ids that follow.
func (w *writer) addPets(pets ...petstore.NewPet) (first int64, err error) {
	if first, err = w.takeIDs(&w.petIDs, "pets", len(pets)); err != nil {
		return 0, err
	}
	insert := w.inserts[len(pets)-1]
	for i, pet := range pets {
		insert.BindInt64(4*i+1, first+int64(i))
		insert.BindText(4*i+2, pet.Name)
		insert.BindInt64(4*i+3, pet.CategoryID)
		insert.BindInt64(4*i+4, int64(pet.Status))
	}
	defer insert.Reset()
	if _, err := insert.Step(); err != nil {
		return 0, err
	}
	for i, pet := range pets {
		stored := petstore.Pet{ID: first + int64(i), NewPet: pet}
		w.noteStored(stored)
		w.events.note(petstore.Event{Type: petstore.PetCreated, Pet: &petstore.Changed[petstore.Pet]{Now: stored}})
	}
	return first, nil
}

func (w *writer) addPet(pet petstore.NewPet) (petstore.Pet, error) {
	id, err := w.addPets(pet)
	return petstore.Pet{ID: id, NewPet: pet}, err
}

// UpdatePet changes an animal in the next commit.
func (db *DB) UpdatePet(ctx context.Context, id int64, patch petstore.PetPatch, idempotency *petstore.Idempotency) (petstore.Pet, bool, error) {
	return doOnce(ctx, db, idempotency, func(w *writer) (petstore.Pet, error) {
		before, holder, err := w.petWithHolder(id, db.now())
		if err != nil {
			return petstore.Pet{}, err
		}
		pet, err := before.Patch(patch, holder)
		if err != nil {
			return petstore.Pet{}, err
		}
		return pet, w.savePet(before, pet)
	})
}

// DeletePet removes an animal in the next commit. AUTOINCREMENT never reuses its id.
func (db *DB) DeletePet(ctx context.Context, id int64, idempotency *petstore.Idempotency) (replayed bool, err error) {
	_, replayed, err = doOnce(ctx, db, idempotency, func(w *writer) (nothing struct{}, err error) {
		pet, holder, err := w.petWithHolder(id, db.now())
		if err != nil {
			return nothing, err
		}
		if holder != nil {
			return nothing, petstore.PetReservedBy(*holder)
		}
		if err := w.forgetPet(id); err != nil {
			return nothing, err
		}
		w.noteRemoved(pet)
		w.events.note(petstore.PetChanged(&pet, nil))
		return nothing, run(w.conn, deletePet, id)
	})
	return replayed, err
}

// savePet stores an animal that may have changed.
func (w *writer) savePet(before, after petstore.Pet) error {
	if after == before {
		return nil
	}
	w.inventoryDelta[before.Status]--
	w.noteStored(after)
	w.events.note(petstore.PetChanged(&before, &after))
	return run(w.conn, updatePet, after.ID, after.Name, after.CategoryID, int64(after.Status))
}
