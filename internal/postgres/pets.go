package postgres

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
)

const (
	selectPets = "SELECT id, name, category_id, status FROM pets WHERE id < $1 ORDER BY id DESC LIMIT $2"

	// The status is compared as a row, so that the planner does not treat it as a constant, and only the index on the status
	// is in the order of the page. With a constant, the planner may walk the primary key through the whole table to find a
	// rare status.
	selectPetsOfStatus = `
		SELECT id, name, category_id, status FROM pets
		WHERE (status, id) < ($3, $1) AND status >= $3 ORDER BY status DESC, id DESC LIMIT $2`

	selectPetsByID = "SELECT id, name, category_id, status FROM pets WHERE id = ANY ($1)"

	updatePet = "UPDATE pets SET name = $2, category_id = $3, status = $4 WHERE id = $1"
	deletePet = "DELETE FROM pets WHERE id = $1"
)

// ListPets returns at most q.Limit animals, newest first. It takes them from memory if it can. Otherwise callers that want the
// same page at the same time share one query.
func (db *DB) ListPets(ctx context.Context, q petstore.PetQuery) ([]petstore.Pet, error) {
	if err := ctx.Err(); err != nil {
		return nil, failure(err)
	}
	if q.IsPlain() {
		if pets, complete, err := db.recent.list(ctx, q); complete || err != nil {
			return pets, failure(err)
		}
	}
	pets, err := db.pages.Do(ctx, q)
	return pets, failure(err)
}

// listPage returns a page.
func (db *DB) listPage(q petstore.PetQuery) ([]petstore.Pet, error) {
	if !q.IsPlain() {
		return db.searchPage(q)
	}
	return db.readPage(q)
}

// readPage reads a page, in one round trip with other pages that are wanted at the same time.
func (db *DB) readPage(q petstore.PetQuery) ([]petstore.Pet, error) {
	return db.lanes[db.nextLane.Add(1)%laneCount].Do(context.Background(), q)
}

// listBatch reads pages in one round trip.
func (db *DB) listBatch(queries []petstore.PetQuery) ([][]petstore.Pet, error) {
	pages := make([][]petstore.Pet, len(queries))
	err := db.read(context.Background(), func(ctx context.Context) error {
		results := db.pool.SendBatch(ctx, pageBatch(queries))
		defer results.Close()
		for i := range pages {
			rows, err := results.Query()
			if err == nil {
				pages[i], err = collectPets(rows)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return pages, err
}

// pageBatch returns a new batch for each attempt, because a batch remembers the connection that it was sent on.
func pageBatch(queries []petstore.PetQuery) *pgx.Batch {
	batch := &pgx.Batch{}
	for _, q := range queries {
		sql, args := pageQuery(q)
		batch.Queue(sql, args...)
	}
	return batch
}

func pageQuery(q petstore.PetQuery) (sql string, args []any) {
	before := cmp.Or(q.Before, math.MaxInt64)
	if q.Status == petstore.AnyStatus {
		return selectPets, []any{before, q.Limit}
	}
	return selectPetsOfStatus, []any{before, q.Limit, int16(q.Status)}
}

func collectPets(rows pgx.Rows) (pets []petstore.Pet, err error) {
	defer rows.Close()
	for rows.Next() {
		pet, err := readPet(rows)
		if err != nil {
			return nil, err
		}
		pets = append(pets, pet)
	}
	return pets, rows.Err()
}

// readPet reads a row in PostgreSQL's binary format, at a quarter of the cost of Scan. If the URL chooses the text format,
// readPet uses Scan.
func readPet(rows pgx.Rows) (petstore.Pet, error) {
	if rows.FieldDescriptions()[0].Format != pgx.BinaryFormatCode {
		return scanPet(rows)
	}
	row := rows.RawValues()
	return petstore.Pet{ID: int64(binary.BigEndian.Uint64(row[0])), NewPet: petstore.NewPet{
		Name:       string(row[1]),
		CategoryID: int64(binary.BigEndian.Uint64(row[2])),
		Status:     petstore.Status(binary.BigEndian.Uint16(row[3])),
	}}, nil
}

func scanPet(row pgx.Row) (pet petstore.Pet, err error) {
	var status int16
	err = row.Scan(&pet.ID, &pet.Name, &pet.CategoryID, &status)
	pet.Status = petstore.Status(status)
	return pet, err
}

// GetPet returns one animal. It takes it from memory if it can. Otherwise it shares a query with all calls that arrive at the
// same time.
func (db *DB) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	if err := ctx.Err(); err != nil {
		return petstore.Pet{}, failure(err)
	}
	pet, known, err := db.recent.get(ctx, id)
	if !known && err == nil {
		pet, err = db.gets.Do(ctx, id)
	}
	if err == nil && pet.ID == 0 {
		err = petstore.NoSuchPet()
	}
	return pet, failure(err)
}

// getBatch returns the animals with these ids. For an id that does not exist, it returns a zero animal.
func (db *DB) getBatch(ids []int64) ([]petstore.Pet, error) {
	var found []petstore.Pet
	err := db.read(context.Background(), func(ctx context.Context) error {
		rows, err := db.pool.Query(ctx, selectPetsByID, ids)
		if err == nil {
			found, err = collectPets(rows)
		}
		return err
	})
	byID := make(map[int64]petstore.Pet, len(found))
	for _, pet := range found {
		byID[pet.ID] = pet
	}
	pets := make([]petstore.Pet, len(ids))
	for i, id := range ids {
		pets[i] = byID[id]
	}
	return pets, err
}

// UpdatePet changes an animal. It locks the animal, so that the second of two concurrent patches sees the result of the
// first.
func (db *DB) UpdatePet(ctx context.Context, id int64, patch petstore.PetPatch, idempotency *petstore.Idempotency) (petstore.Pet, bool, error) {
	pet, done, err := tryChange[petstore.Pet](ctx, db, change{changeKind: updates, id: id, patch: patch, once: idempotency})
	if done || err != nil {
		return pet, false, err
	}
	return doOnce(detached(ctx), db, idempotency, func(ctx context.Context, tx pgx.Tx) (petstore.Pet, error) {
		before, holder, _, err := db.lockPetWithHolder(ctx, tx, id)
		if err != nil {
			return before, err
		}
		pet, err := before.Patch(patch, holder)
		if err != nil || pet == before {
			return pet, err
		}
		_, err = tx.Exec(ctx, updatePet, id, pet.Name, pet.CategoryID, int16(pet.Status))
		return pet, err
	})
}

// DeletePet removes an animal that no open order holds.
func (db *DB) DeletePet(ctx context.Context, id int64, idempotency *petstore.Idempotency) (replayed bool, err error) {
	_, done, err := tryChange[struct{}](ctx, db, change{changeKind: deletes, id: id, once: idempotency})
	if done || err != nil {
		return false, err
	}
	_, replayed, err = doOnce(detached(ctx), db, idempotency, func(ctx context.Context, tx pgx.Tx) (nothing struct{}, err error) {
		_, holder, _, err := db.lockPetWithHolder(ctx, tx, id)
		if err != nil {
			return nothing, err
		}
		if holder != nil {
			return nothing, petstore.PetReservedBy(*holder)
		}
		_, err = tx.Exec(ctx, deletePet, id)
		return nothing, err
	})
	if petstore.IsCode(err, petstore.NotFound) {
		err = cmp.Or(db.confirmDurable(ctx), err)
	}
	return replayed, err
}
