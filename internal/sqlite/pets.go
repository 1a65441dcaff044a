package sqlite

import (
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

// maxPage is more than any page has: how much room a list makes beforehand.
const maxPage = 128

// reader is a connection that only reads, with the statements that every request needs.
type reader struct {
	conn         *sqlite3.Conn
	list         *sqlite3.Stmt
	listOfStatus *sqlite3.Stmt
	get          *sqlite3.Stmt
}

func newReader(conn *sqlite3.Conn) (*reader, error) {
	if err := run(conn, "PRAGMA query_only = ON"); err != nil {
		return nil, err
	}
	r := &reader{conn: conn}
	return r, prepare(conn, map[string]**sqlite3.Stmt{
		selectPets:         &r.list,
		selectPetsOfStatus: &r.listOfStatus,
		selectPet:          &r.get,
	})
}

func prepare(conn *sqlite3.Conn, stmts map[string]**sqlite3.Stmt) (err error) {
	for query, stmt := range stmts {
		if *stmt, err = conn.Prepare(query); err != nil {
			return err
		}
	}
	return nil
}

// ListPets returns at most q.Limit animals, newest first.
func (db *DB) ListPets(ctx context.Context, q petstore.PetQuery) ([]petstore.Pet, error) {
	r, err := db.readers.take(ctx)
	if err != nil {
		return nil, err
	}
	defer db.readers.give(r)

	stmt := r.list
	if q.Status != 0 {
		stmt = r.listOfStatus
		stmt.BindInt64(3, int64(q.Status))
	}
	before := q.Before
	if before == 0 {
		before = math.MaxInt64
	}
	stmt.BindInt64(1, before)
	stmt.BindInt64(2, int64(q.Limit))
	defer stmt.Reset() // ends the read: one left open would keep the log from being reused

	pets := make([]petstore.Pet, 0, min(q.Limit, maxPage))
	for {
		row, err := stmt.Step()
		if err != nil {
			return nil, petstore.Unreachable(err)
		}
		if !row {
			return pets, nil
		}
		pets = append(pets, scanPet(stmt))
	}
}

// GetPet returns one animal.
func (db *DB) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	r, err := db.readers.take(ctx)
	if err != nil {
		return petstore.Pet{}, err
	}
	defer db.readers.give(r)
	pet, err := getPet(r.get, id)
	return pet, unreachable(err)
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
