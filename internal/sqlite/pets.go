package sqlite

import (
	"cmp"
	"context"
	"math"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	selectPets         = "SELECT id, category_id, status, name FROM pets WHERE id < ?1 ORDER BY id DESC LIMIT ?2"
	selectPetsOfStatus = "SELECT id, category_id, status, name FROM pets WHERE id < ?1 AND status = ?3 ORDER BY id DESC LIMIT ?2"
	selectPet          = "SELECT id, category_id, status, name FROM pets WHERE id = ?1"
)

// maxPage is more than the number of animals on any page. A list allocates room for at most this many in advance.
const maxPage = 128

// ListPets returns at most q.Limit animals, newest first.
func (db *DB) ListPets(ctx context.Context, q petstore.PetQuery) (pets []petstore.Pet, err error) {
	if err := ctx.Err(); err != nil {
		return nil, petstore.NotDone(err)
	}
	alone := db.alone.Load() // before the look at memory
	pets, whole, since := db.newest.list(q)
	if whole && alone {
		return pets, nil
	}
	db.fetchMore()
	err = db.readSince(ctx, since, alone, func(r *reader) (err error) {
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
	alone := db.alone.Load() // before the look at memory
	pet, found, known, since := db.newest.get(id)
	switch {
	case !alone:
	case found:
		return pet, nil
	case known:
		return pet, petstore.NoSuchPet()
	}
	db.fetchMore()
	err = db.readSince(ctx, since, alone, func(r *reader) (err error) {
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

// fetchMore starts to fetch one more block of animals into memory, in the background, if there is room.
func (db *DB) fetchMore() {
	if _, ok := db.newest.room(); ok && db.alone.Load() && db.fetching.CompareAndSwap(false, true) {
		go func() {
			defer db.fetching.Store(false)
			db.fetch()
		}()
	}
}

// fetch reads one more block of animals. It holds the writer, so that no animal changes until the block is in memory.
func (db *DB) fetch() {
	w, err := db.writer.take(context.Background())
	if err != nil {
		return // closed
	}
	defer db.writer.give(w)
	from, ok := db.newest.room()
	if !ok {
		return
	}
	if pets, err := listPets(w.list, petstore.PetQuery{Before: from, Limit: blockSize}); err == nil {
		db.newest.extend(pets)
	}
}
