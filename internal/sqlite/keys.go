package sqlite

import (
	"context"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	insertKey = `
		INSERT INTO keys (id, hash, name, owner, plan, per_minute, per_day, created_at, lifetime, expires_at, revoked_at, access, rotated_at, last_used_at)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)`
	ensureKey = insertKey + `
		ON CONFLICT (hash) DO UPDATE SET
			revoked_at = NULL, expires_at = CASE WHEN expires_at > excluded.created_at THEN expires_at END`
	selectKeys = `
		SELECT id, name, keys.owner, plan, per_minute, per_day, created_at, lifetime, expires_at, revoked_at, access, rotated_at, last_used_at, started_at, ends_at
		FROM keys LEFT JOIN bans ON bans.owner = keys.owner`
	selectKeyByHash = selectKeys + " WHERE hash = ?1"
	selectKeyByID   = selectKeys + " WHERE id = ?1"
	selectAllKeys   = selectKeys + " ORDER BY created_at, id"
	selectSuccessor = "SELECT id FROM keys WHERE owner = ?1 ORDER BY rotated_at IS NOT NULL, created_at DESC LIMIT 1"
	retireKey       = "UPDATE keys SET expires_at = ?2, rotated_at = ?3 WHERE id = ?1"
	updateKey       = "UPDATE keys SET access = ?2, name = ?3, lifetime = ?4, expires_at = ?5 WHERE id = ?1"
	updateOwner     = "UPDATE keys SET plan = ?2, per_minute = ?3, per_day = ?4 WHERE owner = ?1"
	useKey          = "UPDATE keys SET last_used_at = ?2 WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at < ?2)"
	revokeKey       = "UPDATE keys SET revoked_at = coalesce(revoked_at, ?2) WHERE id = ?1"
)

// CreateKey stores a new key.
func (db *DB) CreateKey(ctx context.Context, key petstore.Key, hash petstore.SecretHash) error {
	return db.write(ctx, func(w *writer) error { return putKey(w.conn, insertKey, key, hash) })
}

// CreateFirstKey stores the key only if there are no keys at all.
func (db *DB) CreateFirstKey(ctx context.Context, key petstore.Key, hash petstore.SecretHash) (made bool, err error) {
	err = db.write(ctx, func(w *writer) error {
		exists := false
		if err := query(w.conn, func(*sqlite3.Stmt) { exists = true }, "SELECT 1 FROM keys LIMIT 1"); exists || err != nil {
			return err
		}
		made = true
		return putKey(w.conn, insertKey, key, hash)
	})
	return made && err == nil, err
}

// EnsureKey stores a new key. If a key with the same hash exists, EnsureKey makes that key usable again.
func (db *DB) EnsureKey(ctx context.Context, key petstore.Key, hash petstore.SecretHash) error {
	return db.write(ctx, func(w *writer) error { return putKey(w.conn, ensureKey, key, hash) })
}

// FindKey returns the key whose secret has the given hash.
func (db *DB) FindKey(ctx context.Context, hash petstore.SecretHash) (key petstore.Key, err error) {
	err = db.read(ctx, func(conn *sqlite3.Conn) error {
		found := false
		err := query(conn, func(row *sqlite3.Stmt) { key, found = scanKey(row), true }, selectKeyByHash, hash[:])
		if err == nil && !found {
			err = petstore.NoSuchSecret()
		}
		return err
	})
	return key, err
}

// Keys returns every key, oldest first.
func (db *DB) Keys(ctx context.Context) (keys []petstore.Key, err error) {
	err = db.read(ctx, func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) { keys = append(keys, scanKey(row)) }, selectAllKeys)
	})
	return keys, err
}

// RotateKey stores the successor of a key and retires the key.
func (db *DB) RotateKey(ctx context.Context, id string, hash petstore.SecretHash, now time.Time, overlap time.Duration) (next petstore.Key, err error) {
	err = db.write(ctx, func(w *writer) error {
		old, err := keyByID(w.conn, id)
		if err != nil {
			return err
		}
		if !old.RotatedAt.IsZero() {
			return alreadyRotated(w.conn, old)
		}
		if next, err = old.Successor(now.UTC().Truncate(time.Millisecond)); err != nil {
			return err
		}
		if err := putKey(w.conn, insertKey, next, hash); err != nil {
			return err
		}
		return run(w.conn, retireKey, id, toMillis(old.RetiredAt(now, overlap)), toMillis(now))
	})
	if err != nil {
		return petstore.Key{}, err
	}
	return next, nil
}

// UpdateKey changes a key. A change of plan or limits applies to every key of the owner.
func (db *DB) UpdateKey(ctx context.Context, id string, change petstore.KeyChange, now time.Time) (key petstore.Key, err error) {
	err = db.write(ctx, func(w *writer) error {
		old, err := keyByID(w.conn, id)
		if err != nil {
			return err
		}
		if key, err = old.Change(change, now.UTC().Truncate(time.Millisecond)); err != nil {
			return err
		}
		err = run(w.conn, updateKey, id, string(key.Access), key.Name, key.Lifetime.Milliseconds(), toMillis(key.ExpiresAt))
		if err != nil || !change.OfOwner() {
			return err
		}
		return run(w.conn, updateOwner, key.Owner, string(key.Plan), key.Limits.PerMinute, key.Limits.PerDay)
	})
	if err != nil {
		return petstore.Key{}, err
	}
	return key, nil
}

// UseKey records when a key was last used. UseKey does not change the version of the store, because no animal changes.
func (db *DB) UseKey(ctx context.Context, id string, hour time.Time) error {
	return db.write(ctx, func(w *writer) error { return run(w.conn, useKey, id, toMillis(hour)) })
}

// RevokeKey makes a key unusable for good.
func (db *DB) RevokeKey(ctx context.Context, id string, now time.Time) error {
	return db.write(ctx, func(w *writer) error {
		if err := run(w.conn, revokeKey, id, toMillis(now)); err != nil {
			return err
		}
		if w.conn.Changes() == 0 {
			return petstore.NoSuchKey(id)
		}
		return nil
	})
}

func keyByID(conn *sqlite3.Conn, id string) (key petstore.Key, err error) {
	found := false
	err = query(conn, func(row *sqlite3.Stmt) { key, found = scanKey(row), true }, selectKeyByID, id)
	if err == nil && !found {
		err = petstore.NoSuchKey(id)
	}
	return key, err
}

// alreadyRotated refuses to rotate a key that was rotated before. The refusal names the key that the owner uses now.
func alreadyRotated(conn *sqlite3.Conn, key petstore.Key) error {
	var successor string
	if err := query(conn, func(row *sqlite3.Stmt) { successor = row.ColumnText(0) }, selectSuccessor, key.Owner); err != nil {
		return err
	}
	return petstore.AlreadyRotated(key, successor)
}

func putKey(conn *sqlite3.Conn, statement string, k petstore.Key, hash petstore.SecretHash) error {
	return run(conn, statement, k.ID, hash[:], k.Name, k.Owner, string(k.Plan), k.Limits.PerMinute, k.Limits.PerDay,
		k.CreatedAt.UnixMilli(), k.Lifetime.Milliseconds(), toMillis(k.ExpiresAt), toMillis(k.RevokedAt),
		string(k.Access), toMillis(k.RotatedAt), toMillis(k.LastUsedAt))
}

func scanKey(row *sqlite3.Stmt) petstore.Key {
	return petstore.Key{
		ID:          row.ColumnText(0),
		Name:        row.ColumnText(1),
		Owner:       row.ColumnText(2),
		Plan:        petstore.Plan(row.ColumnText(3)),
		Limits:      petstore.Limits{PerMinute: row.ColumnInt64(4), PerDay: row.ColumnInt64(5)},
		CreatedAt:   columnTime(row, 6),
		Lifetime:    time.Duration(row.ColumnInt64(7)) * time.Millisecond,
		ExpiresAt:   columnTime(row, 8),
		RevokedAt:   columnTime(row, 9),
		Access:      petstore.Access(row.ColumnText(10)),
		RotatedAt:   columnTime(row, 11),
		LastUsedAt:  columnTime(row, 12),
		BannedFrom:  columnTime(row, 13),
		BannedUntil: columnTime(row, 14),
	}
}

// toMillis converts a time to milliseconds, the form in which times are stored. The zero time becomes NULL.
func toMillis(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

func columnTime(row *sqlite3.Stmt, col int) time.Time {
	if row.ColumnIsNull(col) {
		return time.Time{}
	}
	return time.UnixMilli(row.ColumnInt64(col)).UTC()
}
