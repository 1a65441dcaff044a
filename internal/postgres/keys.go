package postgres

import (
	"context"
	"errors"
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

// CreateKey stores a new key.
func (db *DB) CreateKey(ctx context.Context, key petstore.Key, hash petstore.SecretHash) error {
	return db.write(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		_, err := conn.Exec(ctx, insertKey, keyArgs(key, hash)...)
		return err
	})
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

// Keys returns every key, oldest first. Keys that were created at the same time are ordered by id.
func (db *DB) Keys(ctx context.Context) (keys []petstore.Key, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		rows, _ := db.pool.Query(ctx, selectKeys+` ORDER BY created_at, id COLLATE "C"`)
		keys, err = pgx.CollectRows(rows, scanKey)
		return err
	})
	return keys, err
}

// lockKey locks out other rotations and changes of the owner's keys until the transaction ends. So the second of two
// concurrent changes sees the result of the first, including new keys. lockKey locks only the owner's first key, whose id
// is also the owner's id. Locks on all keys would miss keys that another transaction is creating, and two transactions
// could deadlock.
func lockKey(ctx context.Context, tx pgx.Tx, id string) (petstore.Key, error) {
	if _, err := tx.Exec(ctx, "SELECT FROM keys WHERE id = (SELECT owner FROM keys WHERE id = $1) FOR UPDATE", id); err != nil {
		return petstore.Key{}, err
	}
	rows, _ := tx.Query(ctx, selectKeys+" WHERE id = $1", id)
	key, err := pgx.CollectExactlyOneRow(rows, scanKey)
	if errors.Is(err, pgx.ErrNoRows) {
		return petstore.Key{}, petstore.NoSuchKey(id)
	}
	return key, err
}

// RotateKey stores the successor of a key and retires the key.
func (db *DB) RotateKey(ctx context.Context, id string, hash petstore.SecretHash, now time.Time, overlap time.Duration) (next petstore.Key, err error) {
	err = db.transaction(ctx, func(ctx context.Context, tx pgx.Tx) error {
		old, err := lockKey(ctx, tx, id)
		if err != nil {
			return err
		}
		if !old.RotatedAt.IsZero() {
			return alreadyRotated(ctx, tx, old)
		}
		if next, err = old.Successor(now.UTC().Truncate(time.Millisecond)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, insertKey, keyArgs(next, hash)...); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "UPDATE keys SET expires_at = $2, rotated_at = $3 WHERE id = $1", id, toMillis(old.RetiredAt(now, overlap)), toMillis(now))
		return err
	})
	if err != nil {
		return petstore.Key{}, err
	}
	return next, nil
}

// alreadyRotated refuses to rotate a key that was rotated before. The refusal names the key that the owner uses now.
func alreadyRotated(ctx context.Context, tx pgx.Tx, key petstore.Key) error {
	var successor string
	err := tx.QueryRow(ctx, "SELECT id FROM keys WHERE owner = $1 ORDER BY rotated_at IS NOT NULL, created_at DESC LIMIT 1", key.Owner).Scan(&successor)
	if err != nil {
		return err
	}
	return petstore.AlreadyRotated(key, successor)
}

// UpdateKey changes a key. A change of plan or limits applies to every key of the owner.
func (db *DB) UpdateKey(ctx context.Context, id string, change petstore.KeyChange, now time.Time) (key petstore.Key, err error) {
	err = db.transaction(ctx, func(ctx context.Context, tx pgx.Tx) error {
		old, err := lockKey(ctx, tx, id)
		if err != nil {
			return err
		}
		if key, err = old.Change(change, now.UTC().Truncate(time.Millisecond)); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "UPDATE keys SET access = $2, name = $3, lifetime = $4, expires_at = $5 WHERE id = $1",
			id, string(key.Access), key.Name, key.Lifetime.Milliseconds(), toMillis(key.ExpiresAt))
		if err != nil || !change.OfOwner() {
			return err
		}
		_, err = tx.Exec(ctx, "UPDATE keys SET plan = $2, per_minute = $3, per_day = $4 WHERE owner = $1",
			key.Owner, string(key.Plan), key.Limits.PerMinute, key.Limits.PerDay)
		return err
	})
	if err != nil {
		return petstore.Key{}, err
	}
	return key, nil
}

// UseKey records when a key was last used. It writes at most once an hour, however many replicas report the use.
func (db *DB) UseKey(ctx context.Context, id string, hour time.Time) error {
	return db.write(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		_, err := conn.Exec(ctx, "UPDATE keys SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)", id, hour.UnixMilli())
		return err
	})
}

// RevokeKey makes a key unusable for good. A second call does not change the time of the revocation.
func (db *DB) RevokeKey(ctx context.Context, id string, now time.Time) error {
	return db.write(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		tag, err := conn.Exec(ctx, "UPDATE keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1", id, now.UnixMilli())
		if err == nil && tag.RowsAffected() == 0 {
			return petstore.NoSuchKey(id)
		}
		return err
	})
}
