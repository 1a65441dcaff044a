package postgres

import (
	"cmp"
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"petstore/internal/petstore"
)

const (
	// SQL does not define the order of the rows of RETURNING, so each id is assigned to a position before anything is
	// stored.
	insertPets = `
		WITH fresh AS MATERIALIZED (
			SELECT nextval('pets_id') AS id, pet.*
			FROM unnest($1::text[], $2::bigint[], $3::smallint[]) WITH ORDINALITY AS pet (name, category_id, status, position)
		), stored AS (
			INSERT INTO pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE
			SELECT id, name, category_id, status FROM fresh
		)
		SELECT id FROM fresh ORDER BY position`

	updatePet = "UPDATE pets SET name = $2, category_id = $3, status = $4 WHERE id = $1"
	deletePet = "DELETE FROM pets WHERE id = $1"
)

// CreatePet stores the animal together with all that are created at the same time.
func (db *DB) CreatePet(ctx context.Context, pet petstore.NewPet, idempotency *petstore.Idempotency) (petstore.Pet, bool, error) {
	if idempotency != nil {
		return makeOnce(ctx, db, idempotency, func(ctx context.Context, tx pgx.Tx) (petstore.Pet, error) {
			made := petstore.Pet{NewPet: pet}
			err := tx.QueryRow(ctx, insertPets, []string{pet.Name}, []int64{pet.CategoryID}, []int16{int16(pet.Status)}).Scan(&made.ID)
			return made, err
		})
	}
	if err := ctx.Err(); err != nil {
		return petstore.Pet{}, false, failure(err)
	}
	// A caller whose animal was accepted waits for the outcome, even if ctx ends.
	created, err := db.creates.Do(context.Background(), pet)
	return created, false, outcome(err)
}

// AddPets stores animals in a transaction of its own.
func (db *DB) AddPets(ctx context.Context, pets []petstore.NewPet, idempotency *petstore.Idempotency) (bool, error) {
	_, replayed, err := makeOnce(ctx, db, idempotency, func(ctx context.Context, tx pgx.Tx) (int, error) {
		names, categories, statuses := columns(pets)
		_, err := tx.Exec(ctx, insertPets, names, categories, statuses)
		return len(pets), err
	})
	return replayed, err
}

// columns are the parameters of insertPets.
func columns(pets []petstore.NewPet) (names []string, categories []int64, statuses []int16) {
	names, categories, statuses = make([]string, len(pets)), make([]int64, len(pets)), make([]int16, len(pets))
	for i, pet := range pets {
		names[i], categories[i], statuses[i] = pet.Name, pet.CategoryID, int16(pet.Status)
	}
	return names, categories, statuses
}

func (db *DB) insert(pets []petstore.NewPet) ([]petstore.Pet, error) {
	names, categories, statuses := columns(pets)
	created := make([]petstore.Pet, 0, len(pets))
	err := db.write(context.Background(), func(ctx context.Context, conn *pgxpool.Conn) error {
		rows, err := conn.Query(ctx, insertPets, names, categories, statuses)
		if err != nil {
			return err
		}
		var id int64
		_, err = pgx.ForEachRow(rows, []any{&id}, func() error {
			created = append(created, petstore.Pet{ID: id, NewPet: pets[len(created)]})
			return nil
		})
		return err
	})
	if db.batched != nil {
		db.batched(len(pets))
	}
	return created, err
}

// UpdatePet locks the animal, so that the second of two concurrent patches sees the result of the first.
func (db *DB) UpdatePet(ctx context.Context, id int64, patch petstore.PetPatch) (pet petstore.Pet, err error) {
	pet, done, err := db.tryUpdate(ctx, id, patch)
	if done || err != nil {
		return pet, err
	}
	err = db.transaction(begun(ctx), func(ctx context.Context, tx pgx.Tx) error {
		before, holder, _, err := db.lockPet(ctx, tx, id)
		if err != nil {
			return err
		}
		if pet, err = before.Patch(patch, holder); err != nil || pet == before {
			return err
		}
		_, err = tx.Exec(ctx, updatePet, id, pet.Name, pet.CategoryID, int16(pet.Status))
		return err
	})
	if err != nil {
		return petstore.Pet{}, err
	}
	return pet, nil
}

// DeletePet removes an animal that no open order holds.
func (db *DB) DeletePet(ctx context.Context, id int64) error {
	if done, err := db.tryDelete(ctx, id); done || err != nil {
		return err
	}
	err := db.transaction(begun(ctx), func(ctx context.Context, tx pgx.Tx) error {
		_, holder, _, err := db.lockPet(ctx, tx, id)
		if err != nil {
			return err
		}
		if holder != nil {
			return petstore.PetReservedBy(*holder)
		}
		_, err = tx.Exec(ctx, deletePet, id)
		return err
	})
	if petstore.IsCode(err, petstore.NotFound) {
		return cmp.Or(db.confirm(ctx), err)
	}
	return err
}
