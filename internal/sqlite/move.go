package sqlite

import (
	"context"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

var _ petstore.Movable = (*DB)(nil)

const (
	selectStoredKeys = `
		SELECT id, name, keys.owner, plan, per_minute, per_day, created_at, lifetime, expires_at, revoked_at, started_at, ends_at, hash, streak
		FROM keys LEFT JOIN bans ON bans.owner = keys.owner ORDER BY created_at, id`
	selectStoredOnce = `
		SELECT owner, key, fingerprint, pet_id, created_at FROM idempotency
		WHERE (owner, key) > (?1, ?2) ORDER BY owner, key LIMIT ?3`
	loadPet = "INSERT OR IGNORE INTO pets (id, name, category_id, status) VALUES (?1, ?2, ?3, ?4)"
	loadKey = insertKey + `
		ON CONFLICT (hash) DO UPDATE SET
			name = excluded.name, owner = excluded.owner, plan = excluded.plan, per_minute = excluded.per_minute, per_day = excluded.per_day,
			created_at = excluded.created_at, lifetime = excluded.lifetime, expires_at = excluded.expires_at, revoked_at = excluded.revoked_at`
)

// CountPets returns how many animals there are.
func (db *DB) CountPets(ctx context.Context) (n int64, err error) {
	err = db.read(ctx, func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) { n = row.ColumnInt64(0) }, "SELECT count(*) FROM pets")
	})
	return n, err
}

// DumpKeys returns every key as it is stored.
func (db *DB) DumpKeys(ctx context.Context) (keys []petstore.StoredKey, err error) {
	err = db.read(ctx, func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) {
			k := petstore.StoredKey{Key: scanKey(row)}
			row.ColumnBytes(12, k.Hash[:])
			k.Ban = petstore.Ban{Start: k.BannedFrom, Until: k.BannedUntil, Streak: row.ColumnInt(13)}
			keys = append(keys, k)
		}, selectStoredKeys)
	})
	return keys, err
}

// DumpOnce returns idempotency records as they are stored.
func (db *DB) DumpOnce(ctx context.Context, after petstore.StoredOnce, limit int) (records []petstore.StoredOnce, err error) {
	err = db.read(ctx, func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) {
			r := petstore.StoredOnce{Owner: row.ColumnText(0), Key: row.ColumnText(1), PetID: row.ColumnInt64(3), MadeAt: timeAt(row, 4)}
			row.ColumnBytes(2, r.Fingerprint[:])
			records = append(records, r)
		}, selectStoredOnce, after.Owner, after.Key, limit)
	})
	return records, err
}

// LoadPets stores animals under their ids. AUTOINCREMENT goes on after the highest by itself.
func (db *DB) LoadPets(ctx context.Context, pets []petstore.Pet) error {
	defer db.version.Add(1)
	return db.write(ctx, func(w *writer) error {
		for _, pet := range pets {
			if err := run(w.conn, loadPet, pet.ID, pet.Name, pet.CategoryID, int64(pet.Status)); err != nil {
				return err
			}
			if w.conn.Changes() == 1 {
				continue
			}
			if there, err := getPet(w.get, pet.ID); err != nil || there != pet {
				return petstore.Errorf(petstore.InvalidField, "the id %d has another animal there already; copy into an empty database", pet.ID)
			}
		}
		return nil
	})
}

// LoadKeys stores keys with their hashes and bans.
func (db *DB) LoadKeys(ctx context.Context, keys []petstore.StoredKey) error {
	return db.write(ctx, func(w *writer) error {
		for _, k := range keys {
			if err := putKey(w.conn, loadKey, k.Key, k.Hash); err != nil {
				return err
			}
			if err := setBan(w.conn, k.Owner, k.Ban); err != nil {
				return err
			}
		}
		return nil
	})
}

// LoadOnce stores idempotency records.
func (db *DB) LoadOnce(ctx context.Context, records []petstore.StoredOnce) error {
	return db.write(ctx, func(w *writer) error {
		for _, r := range records {
			if err := run(w.conn, insertOnce, r.Owner, r.Key, r.Fingerprint[:], r.PetID, r.MadeAt.UnixMilli()); err != nil {
				return err
			}
		}
		return nil
	})
}
