package postgres

import (
	"bytes"
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"petstore/internal/petstore"
)

const (
	// SQL does not say in which order RETURNING returns: each id is bound to a position before anything is stored.
	insertPets = `
		WITH fresh AS MATERIALIZED (
			SELECT nextval('pets_id') AS id, pet.*
			FROM unnest($1::text[], $2::bigint[], $3::smallint[]) WITH ORDINALITY AS pet (name, category_id, status, position)
		), stored AS (
			INSERT INTO pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE
			SELECT id, name, category_id, status FROM fresh
		)
		SELECT id FROM fresh ORDER BY position`

	// A record that still holds is written too, unchanged: so concurrent duplicates wait for the first of them, and a replay
	// is not acknowledged before what it repeats is durable, on a synchronous standby too.
	claimOnce = `
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

	// Old records go in small transactions, each of which passes over what another replica is about to remove.
	purgeOnce = `
		DELETE FROM idempotency WHERE (owner, key) IN (
			SELECT owner, key FROM idempotency WHERE created_at < $1 LIMIT $2 FOR UPDATE SKIP LOCKED
		)`
)

// purgeStep is how many records are purged in one transaction, which must end before the statement timeout.
const purgeStep = 1000

// CreatePet stores the animal together with all that come at the same time, or, with a once, in a transaction of its
// own: in groups, replicas that meet the same keys in opposite orders would block each other.
func (db *DB) CreatePet(ctx context.Context, pet petstore.NewPet, once *petstore.Once) (petstore.Pet, bool, error) {
	if err := ctx.Err(); err != nil {
		return petstore.Pet{}, false, failure(err)
	}
	if once != nil {
		return db.createOnce(ctx, pet, once)
	}
	// Who has been accepted waits for the outcome, even if ctx ends.
	created, err := db.creates.Do(context.Background(), pet)
	return created, false, outcome(err)
}

func (db *DB) insert(pets []petstore.NewPet) ([]petstore.Pet, error) {
	names, categories, statuses := make([]string, len(pets)), make([]int64, len(pets)), make([]int16, len(pets))
	for i, pet := range pets {
		names[i], categories[i], statuses[i] = pet.Name, pet.CategoryID, int16(pet.Status)
	}
	created := make([]petstore.Pet, 0, len(pets))
	err := db.write(context.Background(), func(ctx context.Context, conn *pgxpool.Conn) error {
		rows, err := conn.Query(ctx, insertPets, names, categories, statuses)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		for i, id := range ids {
			created = append(created, petstore.Pet{ID: id, NewPet: pets[i]})
		}
		return err
	})
	if db.batched != nil {
		db.batched(len(pets))
	}
	return created, err
}

func (db *DB) createOnce(ctx context.Context, pet petstore.NewPet, once *petstore.Once) (petstore.Pet, bool, error) {
	created := petstore.Pet{NewPet: pet}
	var replayed bool
	var fingerprint []byte
	err := db.write(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		return conn.QueryRow(ctx, claimOnce, once.Owner, once.Key, once.Fingerprint[:], once.Now.UnixMilli(),
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

// PurgeOnce forgets old idempotency records, a few at a time.
func (db *DB) PurgeOnce(ctx context.Context, before time.Time) (int64, error) {
	for purged := int64(0); ; {
		var some int64
		err := db.write(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
			tag, err := conn.Exec(ctx, purgeOnce, before.UnixMilli(), purgeStep)
			some = tag.RowsAffected()
			return err
		})
		if err != nil {
			return purged, err
		}
		purged += some
		if some < purgeStep {
			return purged, nil
		}
	}
}
