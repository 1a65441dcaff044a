package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
)

const (
	selectStoredKeys = `
		SELECT id, name, owner, plan, per_minute, per_day, created_at, lifetime, expires_at, revoked_at, access, rotated_at, last_used_at, started_at, ends_at, hash, streak
		FROM keys LEFT JOIN bans USING (owner)
		WHERE hash > $1 ORDER BY hash LIMIT $2`

	// The query walks the index on the age. Records of the same age are ordered by bytes, whatever the collation of the
	// database is.
	selectStoredIdempotency = `
		SELECT owner, key, fingerprint, answer, created_at FROM idempotency
		WHERE (created_at, owner COLLATE "C", key COLLATE "C") > ($1, $2, $3)
		ORDER BY created_at, owner COLLATE "C", key COLLATE "C" LIMIT $4`

	copyPets = `
		INSERT INTO pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE
		SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::smallint[])
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, category_id = excluded.category_id, status = excluded.status`

	// copyKey and copyBan keep a revocation or a ban that is made at the same moment. NULL means never, and least and greatest
	// ignore it.
	copyKey = insertKey + ` ON CONFLICT (hash) DO UPDATE SET
		id = excluded.id, name = excluded.name, owner = excluded.owner,
		plan = excluded.plan, per_minute = excluded.per_minute, per_day = excluded.per_day,
		created_at = excluded.created_at, lifetime = excluded.lifetime,
		expires_at = least(keys.expires_at, excluded.expires_at), revoked_at = least(keys.revoked_at, excluded.revoked_at),
		access = CASE WHEN keys.access = 'read' OR keys.access = 'write' AND excluded.access = 'admin' THEN keys.access ELSE excluded.access END,
		rotated_at = least(keys.rotated_at, excluded.rotated_at), last_used_at = greatest(keys.last_used_at, excluded.last_used_at)`

	copyBan = `
		INSERT INTO bans (owner, started_at, ends_at, streak) VALUES ($1, $2, $3, $4)
		ON CONFLICT (owner) DO UPDATE SET started_at = greatest(bans.started_at, excluded.started_at),
			ends_at = greatest(bans.ends_at, excluded.ends_at), streak = greatest(bans.streak, excluded.streak)`

	copyIdempotency = `
		INSERT INTO idempotency (owner, key, fingerprint, answer, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (owner, key) DO UPDATE SET fingerprint = excluded.fingerprint, answer = excluded.answer, created_at = excluded.created_at`

	removePets        = "DELETE FROM pets WHERE id = ANY ($1)"
	removeIdempotency = "DELETE FROM idempotency WHERE owner = $1 AND key = $2 AND created_at = $3"

	removeOrders     = "DELETE FROM orders WHERE id = ANY ($1)"
	removeHolder     = "DELETE FROM orders WHERE pet_id = $1 AND status = 1 AND id <> $2"
	removeCategories = "DELETE FROM categories WHERE id = ANY ($1)"
	removeNamesake   = "DELETE FROM categories WHERE id = $1 OR name = $2"

	copyOrder = `
		INSERT INTO orders (id, pet_id, status, reference, created_at, expires_at, closed_at) OVERRIDING SYSTEM VALUE
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (id) DO UPDATE SET pet_id = excluded.pet_id, status = excluded.status, reference = excluded.reference,
			created_at = excluded.created_at, expires_at = excluded.expires_at, closed_at = excluded.closed_at`
	selectOrdersAfter = orderColumns + " FROM orders WHERE id > $1 ORDER BY id LIMIT $2"

	// If a sequence was never called, its next number is last_value itself.
	selectCounters = `
		SELECT p.last_value - (NOT p.is_called)::integer, o.last_value - (NOT o.is_called)::integer,
			coalesce((SELECT next - 1 FROM category_counter), 0), f.last_value - (NOT f.is_called)::integer
		FROM pets_id p, orders_id o, photos_id f`
	// A sequence that is already high enough is not set, because a new record may be taking its next id at this moment.
	raisePets     = "SELECT setval('pets_id', $1) FROM pets_id WHERE last_value - (NOT is_called)::integer < $1"
	raiseOrders   = "SELECT setval('orders_id', $1) FROM orders_id WHERE last_value - (NOT is_called)::integer < $1"
	raiseCategory = `
		INSERT INTO category_counter (next) SELECT $1::bigint + 1 WHERE $1 > 0
		ON CONFLICT (single) DO UPDATE SET next = greatest(category_counter.next, excluded.next)`

	selectServed = "SELECT EXISTS (SELECT FROM settings WHERE name = 'served')"
	insertServed = "INSERT INTO settings (name, value) VALUES ('served', 'yes') ON CONFLICT (name) DO NOTHING"
)

// servingLock is the advisory lock under which a copy writes and a server starts to serve, one at a time: "petserve" in
// ASCII.
const servingLock = 0x7065747365727665

// StoredKeys returns keys as they are stored.
func (db *DB) StoredKeys(ctx context.Context, after petstore.StoredKey, limit int) (keys []petstore.StoredKey, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		rows, _ := db.pool.Query(ctx, selectStoredKeys, after.Hash[:], limit)
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

// StoredIdempotency returns idempotency records as they are stored.
func (db *DB) StoredIdempotency(ctx context.Context, after petstore.StoredIdempotency, limit int) (records []petstore.StoredIdempotency, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		rows, _ := db.pool.Query(ctx, selectStoredIdempotency, after.MadeAt.UnixMilli(), after.Owner, after.Key, limit)
		records, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (r petstore.StoredIdempotency, err error) {
			var fingerprint []byte
			var made int64
			err = row.Scan(&r.Owner, &r.Key, &fingerprint, &r.Answer, &made)
			copy(r.Fingerprint[:], fingerprint)
			r.MadeAt = time.UnixMilli(made).UTC()
			return r, err
		})
		return err
	})
	return records, err
}

// StoredOrders returns orders as they are stored.
func (db *DB) StoredOrders(ctx context.Context, after petstore.Order, limit int) (orders []petstore.Order, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		rows, _ := db.pool.Query(ctx, selectOrdersAfter, after.ID, limit)
		orders, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (petstore.Order, error) { return scanOrder(row) })
		return err
	})
	return orders, err
}

// Counters returns the highest ids that the sequences and the counter of categories have given.
func (db *DB) Counters(ctx context.Context) (counters petstore.Counters, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		return db.pool.QueryRow(ctx, selectCounters).Scan(&counters.Pet, &counters.Order, &counters.Category, &counters.Photo)
	})
	return counters, explainMissingGrant(err)
}

// ReplacePets stores and removes animals, and raises the sequence to their highest id.
func (db *DB) ReplacePets(ctx context.Context, put, remove []petstore.Pet) error {
	numbers, names := make([]int64, len(put)), make([]string, len(put))
	categories, statuses := make([]int64, len(put)), make([]int16, len(put))
	highest := int64(0)
	for i, pet := range put {
		numbers[i], names[i], categories[i], statuses[i] = pet.ID, pet.Name, pet.CategoryID, int16(pet.Status)
		highest = max(highest, pet.ID)
	}
	batch := &pgx.Batch{}
	batch.Queue(removePets, ids(remove, func(pet petstore.Pet) int64 { return pet.ID }))
	batch.Queue(copyPets, numbers, names, categories, statuses)
	batch.Queue(raisePets, highest)
	return db.writeCopy(ctx, batch)
}

// ids returns the ids of records.
func ids[T any](records []T, id func(T) int64) []int64 {
	all := make([]int64, len(records))
	for i, record := range records {
		all[i] = id(record)
	}
	return all
}

// ReplaceCategories stores and removes categories.
func (db *DB) ReplaceCategories(ctx context.Context, put, remove []petstore.Category) error {
	batch := &pgx.Batch{}
	batch.Queue(removeCategories, ids(remove, func(c petstore.Category) int64 { return c.ID }))
	for _, c := range put {
		batch.Queue(removeNamesake, c.ID, c.Name)
		batch.Queue(insertCategory, c.ID, c.Name)
	}
	return db.writeCopy(ctx, batch)
}

// ReplaceOrders stores and removes orders, and raises the sequence to their highest id.
func (db *DB) ReplaceOrders(ctx context.Context, put, remove []petstore.Order) error {
	batch := &pgx.Batch{}
	batch.Queue(removeOrders, ids(remove, func(o petstore.Order) int64 { return o.ID }))
	highest := int64(0)
	for _, o := range put {
		if o.Status == petstore.Open {
			batch.Queue(removeHolder, o.PetID, o.ID)
		}
		batch.Queue(copyOrder, o.ID, o.PetID, int16(o.Status), o.Reference, o.CreatedAt.UnixMilli(), o.ExpiresAt.UnixMilli(), toMillis(o.ClosedAt))
		highest = max(highest, o.ID)
	}
	batch.Queue(raiseOrders, highest)
	return db.writeCopy(ctx, batch)
}

// ReplaceKeys stores keys with their hashes and bans.
func (db *DB) ReplaceKeys(ctx context.Context, put []petstore.StoredKey) error {
	batch := &pgx.Batch{}
	for _, k := range put {
		batch.Queue(copyKey, keyArgs(k.Key, k.Hash)...)
		if k.Ban != (petstore.Ban{}) {
			batch.Queue(copyBan, k.Owner, k.Ban.Start.UnixMilli(), k.Ban.Until.UnixMilli(), k.Ban.Streak)
		}
	}
	return db.writeCopy(ctx, batch)
}

// ReplaceIdempotency stores and removes idempotency records.
func (db *DB) ReplaceIdempotency(ctx context.Context, put, remove []petstore.StoredIdempotency) error {
	batch := &pgx.Batch{}
	for _, r := range remove {
		batch.Queue(removeIdempotency, r.Owner, r.Key, r.MadeAt.UnixMilli())
	}
	for _, r := range put {
		batch.Queue(copyIdempotency, r.Owner, r.Key, r.Fingerprint[:], r.Answer, r.MadeAt.UnixMilli())
	}
	return db.writeCopy(ctx, batch)
}

// RaiseCounters raises the sequences and the counter of categories to these ids. It never lowers them.
func (db *DB) RaiseCounters(ctx context.Context, to petstore.Counters) error {
	batch := &pgx.Batch{}
	batch.Queue(raisePets, to.Pet)
	batch.Queue(raiseOrders, to.Order)
	batch.Queue(raiseCategory, to.Category)
	batch.Queue(raisePhotos, to.Photo)
	return db.writeCopy(ctx, batch)
}

// MarkServed records in the settings that a server uses the store. If a step of a copy is running, it waits for that step.
func (db *DB) MarkServed(ctx context.Context) error {
	err := db.transaction(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(servingLock)); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, insertServed)
		return err
	})
	if err == nil {
		db.recent.serving.Store(true) // no copy changes animals any more
	}
	return err
}

// writeCopy runs the statements of one step of a copy. Once a server has started on the store, every copy is refused. All
// statements share one round trip: with a round trip each, a call to a distant server could exceed its timeout.
func (db *DB) writeCopy(ctx context.Context, batch *pgx.Batch) error {
	return db.copyStep(ctx, func(ctx context.Context, tx pgx.Tx) error { return tx.SendBatch(ctx, batch).Close() })
}

// copyStep calls the function work in a transaction of a copy, whose changes are no events.
func (db *DB) copyStep(ctx context.Context, work func(context.Context, pgx.Tx) error) error {
	return explainMissingGrant(db.transaction(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1), set_config('petstore.copying', 'on', true)", int64(servingLock)); err != nil {
			return err
		}
		var served bool
		if err := tx.QueryRow(ctx, selectServed).Scan(&served); err != nil {
			return err
		}
		if served {
			return petstore.ErrServed
		}
		return work(ctx, tx)
	}))
}

// explainMissingGrant names the rights that imports and copies need and servers do not, if err says that one is missing.
func explainMissingGrant(err error) error {
	if sqlState(err) == insufficientPrivilege {
		return fmt.Errorf("the database does not let this user read and set the highest ids; grant this user SELECT, UPDATE and USAGE on all sequences (%w)", err)
	}
	return err
}
