package sqlite

import (
	"context"
	"math"
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
	selectKeyPage   = selectKeys + `
		WHERE (?1 IS NULL OR revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?1)) AND (created_at, id) < (?2, ?3)
		ORDER BY created_at DESC, id DESC LIMIT ?4`
	useKey = "UPDATE keys SET last_used_at = ?2 WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at < ?2)"
)

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

// GetKey returns the key with the given id.
func (db *DB) GetKey(ctx context.Context, id string) (key petstore.Key, err error) {
	err = db.read(ctx, func(conn *sqlite3.Conn) error {
		key, err = keyByID(conn, id)
		return err
	})
	return key, err
}

// ListKeys returns a page of keys. It walks the index on their age.
func (db *DB) ListKeys(ctx context.Context, q petstore.KeyQuery) (keys []petstore.Key, err error) {
	created, id := int64(math.MaxInt64), ""
	if q.After != (petstore.KeyPlace{}) {
		created, id = q.After.CreatedAt.UnixMilli(), q.After.ID
	}
	err = db.read(ctx, func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) { keys = append(keys, scanKey(row)) }, selectKeyPage, toMillis(q.UsableAt), created, id, q.Limit)
	})
	return keys, err
}

// Keys returns every key, oldest first.
func (db *DB) Keys(ctx context.Context) (keys []petstore.Key, err error) {
	err = db.read(ctx, func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) { keys = append(keys, scanKey(row)) }, selectAllKeys)
	})
	return keys, err
}

// UseKey records when a key was last used. UseKey does not change the version of the store, because no animal changes.
func (db *DB) UseKey(ctx context.Context, id string, hour time.Time) error {
	return db.write(ctx, func(w *writer) error { return run(w.conn, useKey, id, toMillis(hour)) })
}

func keyByID(conn *sqlite3.Conn, id string) (key petstore.Key, err error) {
	found := false
	err = query(conn, func(row *sqlite3.Stmt) { key, found = scanKey(row), true }, selectKeyByID, id)
	if err == nil && !found {
		err = petstore.NoSuchKey(id)
	}
	return key, err
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
