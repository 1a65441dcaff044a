package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
)

var _ petstore.Movable = (*DB)(nil)

const (
	selectStoredKeys = `
		SELECT id, name, owner, plan, per_minute, per_day, created_at, lifetime, expires_at, revoked_at, started_at, ends_at, hash, streak
		FROM keys LEFT JOIN bans USING (owner) ORDER BY created_at, id COLLATE "C"`

	selectStoredOnce = `
		SELECT owner, key, fingerprint, pet_id, created_at FROM idempotency
		WHERE (owner, key) > ($1, $2) ORDER BY owner, key LIMIT $3`

	loadPets = `
		INSERT INTO pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE
		SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::smallint[])
		ON CONFLICT (id) DO NOTHING`

	selectClash = `
		SELECT id FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::smallint[]) AS loaded (id, name, category_id, status)
		JOIN pets USING (id)
		WHERE (loaded.name, loaded.category_id, loaded.status) IS DISTINCT FROM (pets.name, pets.category_id, pets.status)
		LIMIT 1`

	// Where nothing is to be raised nothing is set: a new animal may be given the next id at this very moment.
	raiseSequence = "SELECT setval('pets_id', $1) FROM pets_id WHERE last_value < $1 OR NOT is_called"

	loadKey = insertKey + ` ON CONFLICT (hash) DO UPDATE SET
		name = excluded.name, owner = excluded.owner, plan = excluded.plan, per_minute = excluded.per_minute, per_day = excluded.per_day,
		created_at = excluded.created_at, lifetime = excluded.lifetime, expires_at = excluded.expires_at, revoked_at = excluded.revoked_at`

	loadBan = `
		INSERT INTO bans (owner, started_at, ends_at, streak) VALUES ($1, $2, $3, $4)
		ON CONFLICT (owner) DO UPDATE SET started_at = excluded.started_at, ends_at = excluded.ends_at, streak = excluded.streak`

	loadOnce = `
		INSERT INTO idempotency (owner, key, fingerprint, pet_id, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (owner, key) DO UPDATE SET fingerprint = excluded.fingerprint, pet_id = excluded.pet_id, created_at = excluded.created_at`
)

// CountPets counts every row, which may take longer than any other call.
func (db *DB) CountPets(ctx context.Context) (n int64, err error) {
	err = pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0"); err != nil {
			return err
		}
		return tx.QueryRow(ctx, "SELECT count(*) FROM pets").Scan(&n)
	})
	return n, failure(err)
}

// DumpKeys returns every key as it is stored.
func (db *DB) DumpKeys(ctx context.Context) (keys []petstore.StoredKey, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		rows, _ := db.pool.Query(ctx, selectStoredKeys)
		keys, err = pgx.CollectRows(rows, scanStoredKey)
		return err
	})
	return keys, err
}

func scanStoredKey(row pgx.CollectableRow) (petstore.StoredKey, error) {
	var k petstore.StoredKey
	var hash []byte
	var streak *int
	var err error
	k.Key, err = scanKeyAnd(row, &hash, &streak)
	copy(k.Hash[:], hash)
	if streak != nil {
		k.Ban = petstore.Ban{Start: k.BannedFrom, Until: k.BannedUntil, Streak: *streak}
	}
	return k, err
}

// DumpOnce returns idempotency records as they are stored.
func (db *DB) DumpOnce(ctx context.Context, after petstore.StoredOnce, limit int) (records []petstore.StoredOnce, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		rows, _ := db.pool.Query(ctx, selectStoredOnce, after.Owner, after.Key, limit)
		records, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r petstore.StoredOnce, err error) {
			var fingerprint []byte
			var made int64
			err = row.Scan(&r.Owner, &r.Key, &fingerprint, &r.PetID, &made)
			copy(r.Fingerprint[:], fingerprint)
			r.MadeAt = time.UnixMilli(made).UTC()
			return r, err
		})
		return err
	})
	return records, err
}

// LoadPets stores animals under their ids and moves the sequence past them.
func (db *DB) LoadPets(ctx context.Context, pets []petstore.Pet) error {
	ids, names := make([]int64, len(pets)), make([]string, len(pets))
	categories, statuses := make([]int64, len(pets)), make([]int16, len(pets))
	highest := int64(1)
	for i, pet := range pets {
		ids[i], names[i], categories[i], statuses[i] = pet.ID, pet.Name, pet.CategoryID, int16(pet.Status)
		highest = max(highest, pet.ID)
	}
	return db.transaction(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, loadPets, ids, names, categories, statuses); err != nil {
			return err
		}
		var clash int64
		err := tx.QueryRow(ctx, selectClash, ids, names, categories, statuses).Scan(&clash)
		if err == nil {
			return petstore.Errorf(petstore.InvalidField, "the id %d has another animal there already; copy into an empty database", clash)
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		_, err = tx.Exec(ctx, raiseSequence, highest)
		return err
	})
}

// LoadKeys stores keys with their hashes and bans.
func (db *DB) LoadKeys(ctx context.Context, keys []petstore.StoredKey) error {
	batch := &pgx.Batch{}
	for _, k := range keys {
		batch.Queue(loadKey, keyArgs(k.Key, k.Hash)...)
		if k.Ban == (petstore.Ban{}) {
			batch.Queue(deleteBan, k.Owner)
		} else {
			batch.Queue(loadBan, k.Owner, k.Ban.Start.UnixMilli(), k.Ban.Until.UnixMilli(), k.Ban.Streak)
		}
	}
	return db.load(ctx, batch)
}

// LoadOnce stores idempotency records.
func (db *DB) LoadOnce(ctx context.Context, records []petstore.StoredOnce) error {
	batch := &pgx.Batch{}
	for _, r := range records {
		batch.Queue(loadOnce, r.Owner, r.Key, r.Fingerprint[:], r.PetID, r.MadeAt.UnixMilli())
	}
	return db.load(ctx, batch)
}

// load sends statements in one round trip: each in its own would take longer than a call may, to a server far away.
func (db *DB) load(ctx context.Context, batch *pgx.Batch) error {
	return db.transaction(ctx, func(ctx context.Context, tx pgx.Tx) error { return tx.SendBatch(ctx, batch).Close() })
}
