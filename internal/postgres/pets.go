package postgres

import (
	"cmp"
	"context"
	"math"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
)

const (
	selectPets = "SELECT id, name, category_id, status FROM pets WHERE id < $1 ORDER BY id DESC LIMIT $2"

	// Compared as a row, the status is no constant to the planner: only the index on it gives this order. Otherwise it
	// may walk down the primary key in search of a status that is rare, through the whole table.
	selectPetsOfStatus = `
		SELECT id, name, category_id, status FROM pets
		WHERE (status, id) < ($3, $1) AND status >= $3 ORDER BY status DESC, id DESC LIMIT $2`

	selectPetsByID = "SELECT id, name, category_id, status FROM pets WHERE id = ANY ($1)"
)

// ListPets shares one query among all who ask for the same page at the same time.
func (db *DB) ListPets(ctx context.Context, q petstore.PetQuery) ([]petstore.Pet, error) {
	if err := ctx.Err(); err != nil {
		return nil, failure(err)
	}
	pets, err := db.pages.Do(ctx, q)
	return pets, failure(err)
}

func (db *DB) page(q petstore.PetQuery) (pets []petstore.Pet, err error) {
	before := cmp.Or(q.Before, math.MaxInt64)
	sql, args := selectPets, []any{before, q.Limit}
	if q.Status != 0 {
		sql, args = selectPetsOfStatus, []any{before, q.Limit, int16(q.Status)}
	}
	err = db.read(context.Background(), func(ctx context.Context) (err error) {
		pets, err = db.query(ctx, sql, args...)
		return err
	})
	return pets, err
}

func (db *DB) query(ctx context.Context, sql string, args ...any) ([]petstore.Pet, error) {
	rows, err := db.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var pets []petstore.Pet
	for rows.Next() {
		pet, err := scanPet(rows)
		if err != nil {
			return nil, err
		}
		pets = append(pets, pet)
	}
	return pets, rows.Err()
}

func scanPet(row pgx.Row) (pet petstore.Pet, err error) {
	var status int16
	err = row.Scan(&pet.ID, &pet.Name, &pet.CategoryID, &status)
	pet.Status = petstore.Status(status)
	return pet, err
}

// GetPet reads the animal together with all that are asked for at the same time.
func (db *DB) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	if err := ctx.Err(); err != nil {
		return petstore.Pet{}, failure(err)
	}
	pet, err := db.gets.Do(ctx, id)
	if err == nil && pet.ID == 0 {
		err = petstore.NoSuchPet()
	}
	return pet, failure(err)
}

// fetch returns the animals with these ids, and a zero one where there is none.
func (db *DB) fetch(ids []int64) ([]petstore.Pet, error) {
	var found []petstore.Pet
	err := db.read(context.Background(), func(ctx context.Context) (err error) {
		found, err = db.query(ctx, selectPetsByID, ids)
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
