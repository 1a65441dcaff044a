package postgres

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"petstore/internal/petstore"
)

const selectKeys = `
SELECT id, name, owner, plan, per_minute, per_day, created_at, lifetime, expires_at, revoked_at, access, rotated_at, last_used_at, started_at, ends_at
FROM keys LEFT JOIN bans USING (owner)`

func scanKey(row pgx.CollectableRow) (petstore.Key, error) { return scanKeyAnd(row) }

// scanKeyAnd scans a key. It scans the columns after the key into the variables that the argument more points to.
func scanKeyAnd(row pgx.CollectableRow, more ...any) (petstore.Key, error) {
	var key petstore.Key
	var created, lifetime int64
	var expires, revoked, rotated, used, banned, unbanned *int64
	err := row.Scan(append([]any{&key.ID, &key.Name, &key.Owner, &key.Plan, &key.Limits.PerMinute, &key.Limits.PerDay,
		&created, &lifetime, &expires, &revoked, &key.Access, &rotated, &used, &banned, &unbanned}, more...)...)
	key.CreatedAt, key.Lifetime = fromMillis(&created), time.Duration(lifetime)*time.Millisecond
	key.ExpiresAt, key.RevokedAt = fromMillis(expires), fromMillis(revoked)
	key.RotatedAt, key.LastUsedAt = fromMillis(rotated), fromMillis(used)
	key.BannedFrom, key.BannedUntil = fromMillis(banned), fromMillis(unbanned)
	return key, err
}

// toMillis and fromMillis convert a time to and from milliseconds, the form in which times are stored. The zero time is
// stored as NULL.
func toMillis(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}

func fromMillis(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return time.UnixMilli(*ms).UTC()
}

const insertKey = `
INSERT INTO keys (id, hash, name, owner, plan, per_minute, per_day, created_at, lifetime, expires_at, revoked_at, access, rotated_at, last_used_at)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14`

func keyArgs(key petstore.Key, hash petstore.SecretHash) []any {
	return []any{
		key.ID, hash[:], key.Name, key.Owner, string(key.Plan), key.Limits.PerMinute, key.Limits.PerDay,
		key.CreatedAt.UnixMilli(), key.Lifetime.Milliseconds(), toMillis(key.ExpiresAt), toMillis(key.RevokedAt),
		string(key.Access), toMillis(key.RotatedAt), toMillis(key.LastUsedAt),
	}
}

// CreateFirstKey stores the key only if there are no keys at all. Before it looks for keys, it locks out all other writers
// of keys.
func (db *DB) CreateFirstKey(ctx context.Context, key petstore.Key, hash petstore.SecretHash) (made bool, err error) {
	err = db.transaction(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "LOCK TABLE keys IN SHARE ROW EXCLUSIVE MODE"); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, insertKey+" WHERE NOT EXISTS (SELECT FROM keys)", keyArgs(key, hash)...)
		made = tag.RowsAffected() == 1
		return err
	})
	return made && err == nil, err
}

// EnsureKey stores a new key. If a key with the same hash exists, EnsureKey makes that key usable again.
func (db *DB) EnsureKey(ctx context.Context, key petstore.Key, hash petstore.SecretHash) error {
	return db.write(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		_, err := conn.Exec(ctx, insertKey+` ON CONFLICT (hash) DO UPDATE SET
			revoked_at = NULL, expires_at = CASE WHEN keys.expires_at > excluded.created_at THEN keys.expires_at END`,
			keyArgs(key, hash)...)
		return err
	})
}

// FindKey returns the key whose secret has the given hash, and the ban of the key's owner.
func (db *DB) FindKey(ctx context.Context, hash petstore.SecretHash) (key petstore.Key, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		rows, _ := db.pool.Query(ctx, selectKeys+" WHERE hash = $1", hash[:])
		key, err = pgx.CollectExactlyOneRow(rows, scanKey)
		if errors.Is(err, pgx.ErrNoRows) {
			return petstore.NoSuchSecret()
		}
		return err
	})
	return key, err
}

// GetKey returns the key with the given id, and the ban of the key's owner.
func (db *DB) GetKey(ctx context.Context, id string) (key petstore.Key, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		key, err = keyByID(ctx, db.pool, id)
		return err
	})
	return key, err
}

func keyByID(ctx context.Context, q querier, id string) (petstore.Key, error) {
	rows, _ := q.Query(ctx, selectKeys+" WHERE id = $1", id)
	key, err := pgx.CollectExactlyOneRow(rows, scanKey)
	if errors.Is(err, pgx.ErrNoRows) {
		return petstore.Key{}, petstore.NoSuchKey(id)
	}
	return key, err
}

// The query walks the index on the age of the keys.
const selectKeyPage = selectKeys + `
WHERE ($1::bigint IS NULL OR revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1)) AND (created_at, id COLLATE "C") < ($2, $3)
ORDER BY created_at DESC, id COLLATE "C" DESC LIMIT $4`

// ListKeys returns a page of keys.
func (db *DB) ListKeys(ctx context.Context, q petstore.KeyQuery) (keys []petstore.Key, err error) {
	created, id := int64(math.MaxInt64), ""
	if q.After != (petstore.KeyPlace{}) {
		created, id = q.After.CreatedAt.UnixMilli(), q.After.ID
	}
	err = db.read(ctx, func(ctx context.Context) error {
		rows, _ := db.pool.Query(ctx, selectKeyPage, toMillis(q.UsableAt), created, id, q.Limit)
		keys, err = pgx.CollectRows(rows, scanKey)
		return err
	})
	return keys, err
}

// Keys returns every key, oldest first. Keys that were created at the same time are ordered by id.
func (db *DB) Keys(ctx context.Context) (keys []petstore.Key, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		rows, _ := db.pool.Query(ctx, selectKeys+` ORDER BY created_at, id COLLATE "C"`)
		keys, err = pgx.CollectRows(rows, scanKey)
		return err
	})
	return keys, err
}

// UseKey records when a key was last used. It writes at most once an hour, however many replicas report the use.
func (db *DB) UseKey(ctx context.Context, id string, hour time.Time) error {
	return db.write(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		_, err := conn.Exec(ctx, "UPDATE keys SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)", id, hour.UnixMilli())
		return err
	})
}
