package postgres

import (
	"bytes"
	"context"
	"errors"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
)

// ListPets shares one query among all who ask for the same page at the same time.
func (db *DB) ListPets(ctx context.Context, q petstore.PetQuery) ([]petstore.Pet, error) {
	if err := ctx.Err(); err != nil {
		return nil, failure(err)
	}
	pets, err := db.pages.Do(ctx, q)
	return pets, failure(err)
}

const listAll = `
SELECT id, name, category_id, status FROM pets WHERE id < $1 ORDER BY id DESC LIMIT $2`

// Compared as a row, the status is not a constant to the planner: only the index on (status, id) gives the order, and a
// walk down the primary key, endless when the status is rare, is no choice, whatever the statistics say.
const listByStatus = `
SELECT id, name, category_id, status FROM pets
WHERE (status, id) < ($3, $1) AND status >= $3 ORDER BY status DESC, id DESC LIMIT $2`

func (db *DB) page(q petstore.PetQuery) (pets []petstore.Pet, err error) {
	before := q.Before
	if before == 0 {
		before = math.MaxInt64
	}
	sql, args := listAll, []any{before, q.Limit}
	if q.Status != 0 {
		sql, args = listByStatus, append(args, int16(q.Status))
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

// GetPet reads one row.
func (db *DB) GetPet(ctx context.Context, id int64) (pet petstore.Pet, err error) {
	err = db.read(ctx, func(ctx context.Context) (err error) {
		pet, err = scanPet(db.pool.QueryRow(ctx, "SELECT id, name, category_id, status FROM pets WHERE id = $1", id))
		if errors.Is(err, pgx.ErrNoRows) {
			return petstore.NoSuchPet()
		}
		return err
	})
	return pet, err
}

// CreatePet stores the animal together with all that come at the same time, or, with a once, in a transaction of its
// own: in groups, replicas that meet the same keys in opposite orders would block each other.
func (db *DB) CreatePet(ctx context.Context, pet petstore.NewPet, once *petstore.Once) (petstore.Pet, bool, error) {
	if err := ctx.Err(); err != nil {
		return petstore.Pet{}, false, failure(err)
	}
	if once != nil {
		return db.createOnce(ctx, pet, once)
	}
	created, err := db.creates.Do(ctx, pet)
	return created, false, failure(err)
}

// SQL does not say in which order RETURNING returns: each id is bound to a position before anything is stored.
const insert = `
WITH fresh AS MATERIALIZED (
    SELECT nextval('pets_id') AS id, pet.*
    FROM unnest($1::text[], $2::bigint[], $3::smallint[]) WITH ORDINALITY AS pet (name, category_id, status, position)
), stored AS (
    INSERT INTO pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE
    SELECT id, name, category_id, status FROM fresh
)
SELECT id FROM fresh ORDER BY position`

func (db *DB) insert(pets []petstore.NewPet) ([]petstore.Pet, error) {
	names, categories, statuses := make([]string, len(pets)), make([]int64, len(pets)), make([]int16, len(pets))
	for i, pet := range pets {
		names[i], categories[i], statuses[i] = pet.Name, pet.CategoryID, int16(pet.Status)
	}
	created := make([]petstore.Pet, 0, len(pets))
	err := db.attempt(context.Background(), func(ctx context.Context) error {
		rows, err := db.pool.Query(ctx, insert, names, categories, statuses)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		for i, id := range ids {
			created = append(created, petstore.Pet{ID: id, NewPet: pets[i]})
		}
		return err
	})
	return created, err
}

// A record that still holds is written too, unchanged: so concurrent duplicates wait for the first of them, and a replay
// is not acknowledged before what it repeats is durable, on a synchronous standby too.
const claim = `
WITH fresh AS MATERIALIZED (
    SELECT nextval('pets_id') AS id
), claim AS (
    INSERT INTO idempotency AS held (owner, key, fingerprint, pet_id, created_at)
    SELECT $1, $2, $3, id, $4 FROM fresh
    ON CONFLICT (owner, key) DO UPDATE SET
        fingerprint = CASE WHEN held.created_at > $5 THEN held.fingerprint ELSE excluded.fingerprint END,
        pet_id      = CASE WHEN held.created_at > $5 THEN held.pet_id      ELSE excluded.pet_id      END,
        created_at  = CASE WHEN held.created_at > $5 THEN held.created_at  ELSE excluded.created_at  END
    RETURNING pet_id, fingerprint
), stored AS (
    INSERT INTO pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE
    SELECT id, $6, $7, $8 FROM fresh JOIN claim ON pet_id = id
)
SELECT pet_id, pet_id <> id, fingerprint FROM claim, fresh`

func (db *DB) createOnce(ctx context.Context, pet petstore.NewPet, once *petstore.Once) (petstore.Pet, bool, error) {
	created := petstore.Pet{NewPet: pet}
	var replayed bool
	var fingerprint []byte
	err := db.attempt(ctx, func(ctx context.Context) error {
		return db.pool.QueryRow(ctx, claim, once.Owner, once.Key, once.Fingerprint[:], once.Now.UnixMilli(),
			once.Now.Add(-petstore.OnceKept).UnixMilli(), pet.Name, pet.CategoryID, int16(pet.Status)).
			Scan(&created.ID, &replayed, &fingerprint)
	})
	switch {
	case err != nil:
		return petstore.Pet{}, false, err
	case !bytes.Equal(fingerprint, once.Fingerprint[:]):
		return petstore.Pet{}, false, petstore.ConflictOnce()
	case replayed:
		created, err = db.GetPet(ctx, created.ID)
	}
	return created, replayed, err
}

// Old records go in small transactions, each of which passes over what another replica is about to remove.
const purge = `
DELETE FROM idempotency WHERE (owner, key) IN (
    SELECT owner, key FROM idempotency WHERE created_at < $1 LIMIT 1000 FOR UPDATE SKIP LOCKED
)`

// PurgeOnce removes what is old a thousand records at a time.
func (db *DB) PurgeOnce(ctx context.Context, before time.Time) (int64, error) {
	for total := int64(0); ; {
		var purged int64
		err := db.attempt(ctx, func(ctx context.Context) error {
			tag, err := db.pool.Exec(ctx, purge, before.UnixMilli())
			purged = tag.RowsAffected()
			return err
		})
		total += purged
		if err != nil || purged == 0 {
			return total, err
		}
	}
}
