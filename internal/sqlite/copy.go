package sqlite

import (
	"context"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	selectStoredKeys = `
		SELECT id, name, keys.owner, plan, per_minute, per_day, created_at, lifetime, expires_at, revoked_at, access, rotated_at, last_used_at, started_at, ends_at, hash, streak
		FROM keys LEFT JOIN bans ON bans.owner = keys.owner
		WHERE hash > ?1 ORDER BY hash LIMIT ?2`
	selectStoredIdempotency = `
		SELECT owner, key, fingerprint, answer, created_at FROM idempotency
		WHERE (created_at, owner, key) > (?1, ?2, ?3) ORDER BY created_at, owner, key LIMIT ?4`

	copyPet = "INSERT INTO pets (id, name, category_id, status) VALUES (?1, ?2, ?3, ?4)"
	// copyKey and copyBan keep a revocation or a ban that is made at the same moment. NULL means never, but the scalar min of
	// NULL and a time is NULL: hence coalesce.
	copyKey = insertKey + `
		ON CONFLICT (hash) DO UPDATE SET
			id = excluded.id, name = excluded.name, owner = excluded.owner,
			plan = excluded.plan, per_minute = excluded.per_minute, per_day = excluded.per_day,
			created_at = excluded.created_at, lifetime = excluded.lifetime,
			expires_at = coalesce(min(expires_at, excluded.expires_at), expires_at, excluded.expires_at),
			revoked_at = coalesce(min(revoked_at, excluded.revoked_at), revoked_at, excluded.revoked_at),
			access = CASE WHEN access = 'read' OR access = 'write' AND excluded.access = 'admin' THEN access ELSE excluded.access END,
			rotated_at = coalesce(min(rotated_at, excluded.rotated_at), rotated_at, excluded.rotated_at),
			last_used_at = coalesce(max(last_used_at, excluded.last_used_at), last_used_at, excluded.last_used_at)`
	copyBan = `
		INSERT INTO bans (owner, started_at, ends_at, streak) VALUES (?1, ?2, ?3, ?4)
		ON CONFLICT (owner) DO UPDATE SET
			started_at = max(started_at, excluded.started_at), ends_at = max(ends_at, excluded.ends_at), streak = max(streak, excluded.streak)`
	removeIdempotency = "DELETE FROM idempotency WHERE owner = ?1 AND key = ?2 AND created_at = ?3"

	removeOrder  = "DELETE FROM orders WHERE id = ?1"
	removeHolder = "DELETE FROM orders WHERE pet_id = ?1 AND status = 1 AND id <> ?2"
	copyOrder    = `
		INSERT INTO orders (id, pet_id, status, reference, created_at, expires_at, closed_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
		ON CONFLICT (id) DO UPDATE SET pet_id = excluded.pet_id, status = excluded.status, reference = excluded.reference,
			created_at = excluded.created_at, expires_at = excluded.expires_at, closed_at = excluded.closed_at`
	selectOrdersAfter = selectOrders + " WHERE id > ?1 ORDER BY id LIMIT ?2"
	removeNamesake    = "DELETE FROM categories WHERE id = ?1 OR name = ?2"

	selectSequence = "SELECT seq FROM sqlite_sequence WHERE name = ?1"
	raiseSequence  = "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1"
	startSequence  = "INSERT INTO sqlite_sequence (name, seq) SELECT ?1, ?2 WHERE NOT EXISTS (" + selectSequence + ")"
	raiseCategory  = "UPDATE category_counter SET next = max(next, ?1)"
	startCategory  = "INSERT INTO category_counter (next) SELECT ?1 WHERE NOT EXISTS (" + selectNextCategory + ")"

	selectServed = "SELECT 1 FROM settings WHERE name = 'served'"
	insertServed = "INSERT OR IGNORE INTO settings (name, value) VALUES ('served', 'yes')"
)

// StoredKeys returns keys as they are stored.
func (db *DB) StoredKeys(ctx context.Context, after petstore.StoredKey, limit int) (keys []petstore.StoredKey, err error) {
	err = db.read(ctx, func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) {
			k := petstore.StoredKey{Key: scanKey(row)}
			row.ColumnBytes(15, k.Hash[:])
			k.Ban = petstore.Ban{Start: k.BannedFrom, Until: k.BannedUntil, Streak: row.ColumnInt(16)}
			keys = append(keys, k)
		}, selectStoredKeys, after.Hash[:], limit)
	})
	return keys, err
}

// StoredIdempotency returns idempotency records as they are stored.
func (db *DB) StoredIdempotency(ctx context.Context, after petstore.StoredIdempotency, limit int) (records []petstore.StoredIdempotency, err error) {
	err = db.read(ctx, func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) {
			r := petstore.StoredIdempotency{Owner: row.ColumnText(0), Key: row.ColumnText(1), Answer: row.ColumnText(3), MadeAt: columnTime(row, 4)}
			row.ColumnBytes(2, r.Fingerprint[:])
			records = append(records, r)
		}, selectStoredIdempotency, after.MadeAt.UnixMilli(), after.Owner, after.Key, limit)
	})
	return records, err
}

// StoredOrders returns orders as they are stored.
func (db *DB) StoredOrders(ctx context.Context, after petstore.Order, limit int) (orders []petstore.Order, err error) {
	err = db.read(ctx, func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) { orders = append(orders, scanOrder(row)) }, selectOrdersAfter, after.ID, limit)
	})
	return orders, err
}

// Counters returns the highest ids that AUTOINCREMENT and the counter of categories have given.
func (db *DB) Counters(ctx context.Context) (counters petstore.Counters, err error) {
	err = db.read(ctx, func(conn *sqlite3.Conn) error {
		for name, highest := range map[string]*int64{"pets": &counters.Pet, "orders": &counters.Order, "photos": &counters.Photo} {
			if err := query(conn, func(row *sqlite3.Stmt) { *highest = row.ColumnInt64(0) }, selectSequence, name); err != nil {
				return err
			}
		}
		return query(conn, func(row *sqlite3.Stmt) { counters.Category = row.ColumnInt64(0) - 1 }, selectNextCategory)
	})
	return counters, err
}

// ReplacePets stores and removes animals. AUTOINCREMENT by itself continues after the highest id.
func (db *DB) ReplacePets(ctx context.Context, put, remove []petstore.Pet) error {
	return db.writeCopy(ctx, func(w *writer) error {
		for _, pet := range remove {
			if err := w.removePet(pet.ID); err != nil {
				return err
			}
			if err := w.forgetPet(pet.ID); err != nil {
				return err
			}
		}
		for _, pet := range put {
			if err := w.removePet(pet.ID); err != nil {
				return err
			}
			w.noteStored(pet)
			if err := run(w.conn, copyPet, pet.ID, pet.Name, pet.CategoryID, int64(pet.Status)); err != nil {
				return err
			}
			if err := run(w.conn, insertStale, pet.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// removePet removes an animal if it exists.
func (w *writer) removePet(id int64) error {
	pet, err := getPet(w.get, id)
	if err != nil {
		if petstore.IsCode(err, petstore.NotFound) {
			return nil
		}
		return err
	}
	w.noteRemoved(pet)
	return run(w.conn, deletePet, id)
}

// ReplaceCategories stores and removes categories.
func (db *DB) ReplaceCategories(ctx context.Context, put, remove []petstore.Category) error {
	return db.writeCopy(ctx, func(w *writer) error {
		for _, c := range remove {
			if err := run(w.conn, deleteCategory, c.ID); err != nil {
				return err
			}
		}
		for _, c := range put {
			if err := run(w.conn, removeNamesake, c.ID, c.Name); err != nil {
				return err
			}
			if err := run(w.conn, putCategory, c.ID, c.Name); err != nil {
				return err
			}
		}
		return nil
	})
}

// ReplaceOrders stores and removes orders.
func (db *DB) ReplaceOrders(ctx context.Context, put, remove []petstore.Order) error {
	return db.writeCopy(ctx, func(w *writer) error {
		for _, o := range remove {
			if err := run(w.conn, removeOrder, o.ID); err != nil {
				return err
			}
		}
		for _, o := range put {
			if o.Status == petstore.Open {
				if err := run(w.conn, removeHolder, o.PetID, o.ID); err != nil {
					return err
				}
			}
			err := run(w.conn, copyOrder, o.ID, o.PetID, int64(o.Status), o.Reference, o.CreatedAt.UnixMilli(), o.ExpiresAt.UnixMilli(), toMillis(o.ClosedAt))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// ReplaceKeys stores keys with their hashes and bans.
func (db *DB) ReplaceKeys(ctx context.Context, put []petstore.StoredKey) error {
	return db.writeCopy(ctx, func(w *writer) error {
		for _, k := range put {
			if err := putKey(w.conn, copyKey, k.Key, k.Hash); err != nil {
				return err
			}
			if k.Ban == (petstore.Ban{}) {
				continue
			}
			if err := run(w.conn, copyBan, k.Owner, k.Ban.Start.UnixMilli(), k.Ban.Until.UnixMilli(), k.Ban.Streak); err != nil {
				return err
			}
		}
		return nil
	})
}

// ReplaceIdempotency stores and removes idempotency records.
func (db *DB) ReplaceIdempotency(ctx context.Context, put, remove []petstore.StoredIdempotency) error {
	return db.writeCopy(ctx, func(w *writer) error {
		for _, r := range remove {
			if err := run(w.conn, removeIdempotency, r.Owner, r.Key, r.MadeAt.UnixMilli()); err != nil {
				return err
			}
		}
		for _, r := range put {
			if err := run(w.conn, insertIdempotency, r.Owner, r.Key, r.Fingerprint[:], r.Answer, r.MadeAt.UnixMilli()); err != nil {
				return err
			}
		}
		return nil
	})
}

// RaiseCounters raises AUTOINCREMENT and the counter of categories to these ids. It never lowers them.
func (db *DB) RaiseCounters(ctx context.Context, to petstore.Counters) error {
	return db.writeCopy(ctx, func(w *writer) error {
		for name, highest := range map[string]int64{"pets": to.Pet, "orders": to.Order, "photos": to.Photo} {
			if err := w.raiseSequence(name, highest); err != nil {
				return err
			}
		}
		if to.Category == 0 { // there is no counter yet
			return nil
		}
		if err := run(w.conn, raiseCategory, to.Category+1); err != nil {
			return err
		}
		return run(w.conn, startCategory, to.Category+1)
	})
}

// MarkServed records in the settings that a server uses the store.
func (db *DB) MarkServed(ctx context.Context) error {
	return db.write(ctx, func(w *writer) error { return run(w.conn, insertServed) })
}

// writeCopy is writeVersioned for one step of a copy. Once a server has started on the store, every copy is refused.
func (db *DB) writeCopy(ctx context.Context, work func(*writer) error) error {
	return db.writeVersioned(ctx, func(w *writer) error {
		served := false
		if err := query(w.conn, func(*sqlite3.Stmt) { served = true }, selectServed); err != nil {
			return err
		}
		if served {
			return petstore.ErrServed
		}
		w.forget() // because the work may replace events, and store things with higher ids
		return work(w)
	})
}
