package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"petstore/internal/petstore"
)

// adminLock is the advisory lock under which administrators change keys, one at a time: "petadmin" in ASCII.
const adminLock = 0x70657461646d696e

const (
	selectSuccessor = "SELECT id FROM keys WHERE owner = $1 AND id <> $2 ORDER BY revoked_at IS NOT NULL, rotated_at IS NOT NULL, created_at DESC LIMIT 1"

	updateKey   = "UPDATE keys SET access = $2, name = $3, lifetime = $4, expires_at = $5, revoked_at = $6, rotated_at = $7 WHERE id = $1"
	updateOwner = "UPDATE keys SET plan = $2, per_minute = $3, per_day = $4 WHERE owner = $1"
	countAdmins = "SELECT count(*) FROM keys WHERE access = 'admin' AND revoked_at IS NULL AND expires_at IS NULL"
)

// changeKeys changes keys in a transaction: the function work does it, with the time of the request. First changeKeys
// authorizes the key that asks. If the same request was done before, changeKeys returns the result of that request instead.
func changeKeys[T any](ctx context.Context, db *DB, request petstore.KeyRequest, work func(ctx context.Context, tx pgx.Tx, now time.Time) (T, error)) (result T, replayed bool, err error) {
	err = db.transaction(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
		if err := authorize(ctx, tx, request); err != nil {
			return err
		}
		result, replayed, err = recallOrDo(ctx, tx, request.Idempotency, func(ctx context.Context, tx pgx.Tx) (T, error) {
			return work(ctx, tx, request.Now.UTC().Truncate(time.Millisecond))
		})
		return err
	})
	if err != nil {
		var none T
		return none, false, err
	}
	return result, replayed, nil
}

// authorize checks that the key that asks may change keys, and locks out other administrators until the transaction ends.
// So of two administrators who end each other's keys, the second is no longer authorized. An operator may change keys at
// any time, because no rule binds an operator.
func authorize(ctx context.Context, tx pgx.Tx, request petstore.KeyRequest) error {
	if request.By == "" {
		return nil
	}
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(adminLock)); err != nil {
		return err
	}
	asking, err := keyByID(ctx, tx, request.By)
	if petstore.IsCode(err, petstore.NotFound) {
		return &petstore.Error{Code: petstore.Unauthorized}
	}
	if err != nil {
		return err
	}
	return request.Authorize(asking)
}

// lockKey locks out other rotations and changes of the owner's keys until the transaction ends. So the second of two
// concurrent changes sees the result of the first, including new keys. lockKey locks only the owner's first key, whose id
// is also the owner's id. Locks on all keys would miss keys that another transaction is creating, and two transactions
// could deadlock.
func lockKey(ctx context.Context, tx pgx.Tx, id string) (petstore.Key, error) {
	if _, err := tx.Exec(ctx, "SELECT FROM keys WHERE id = (SELECT owner FROM keys WHERE id = $1) FOR UPDATE", id); err != nil {
		return petstore.Key{}, err
	}
	return keyByID(ctx, tx, id)
}

// storeChange stores what a request has changed about a key, if the rules for administrators allow the effect.
func storeChange(ctx context.Context, tx pgx.Tx, request petstore.KeyRequest, before, after petstore.Key) error {
	_, err := tx.Exec(ctx, updateKey, after.ID, string(after.Access), after.Name, after.Lifetime.Milliseconds(),
		toMillis(after.ExpiresAt), toMillis(after.RevokedAt), toMillis(after.RotatedAt))
	if err != nil {
		return err
	}
	var admins int
	if err := tx.QueryRow(ctx, countAdmins).Scan(&admins); err != nil {
		return err
	}
	return request.CheckEffect(before, after, admins)
}

// CreateKey stores a new key. For an operator, nothing has to be checked, so one statement is enough.
func (db *DB) CreateKey(ctx context.Context, key petstore.Key, hash petstore.SecretHash, request petstore.KeyRequest) error {
	if request.By == "" && request.Idempotency == nil {
		return db.write(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
			_, err := conn.Exec(ctx, insertKey, keyArgs(key, hash)...)
			return err
		})
	}
	id, replayed, err := changeKeys(ctx, db, request, func(ctx context.Context, tx pgx.Tx, _ time.Time) (string, error) {
		_, err := tx.Exec(ctx, insertKey, keyArgs(key, hash)...)
		return key.ID, err
	})
	if replayed {
		return petstore.ShownSecret(id)
	}
	return err
}

// RotateKey stores the successor of a key and retires the key.
func (db *DB) RotateKey(ctx context.Context, id string, hash petstore.SecretHash, rotation petstore.Rotation, request petstore.KeyRequest) (petstore.Key, error) {
	next, replayed, err := changeKeys(ctx, db, request, func(ctx context.Context, tx pgx.Tx, now time.Time) (petstore.Key, error) {
		old, err := lockKey(ctx, tx, id)
		if err != nil {
			return petstore.Key{}, err
		}
		if !old.RotatedAt.IsZero() {
			return petstore.Key{}, alreadyRotated(ctx, tx, old)
		}
		retired, next, err := old.Rotate(rotation, now)
		if err != nil {
			return petstore.Key{}, err
		}
		if _, err := tx.Exec(ctx, insertKey, keyArgs(next, hash)...); err != nil {
			return petstore.Key{}, err
		}
		return next, storeChange(ctx, tx, request, old, retired)
	})
	if replayed {
		return petstore.Key{}, petstore.ShownSecret(next.ID)
	}
	return next, err
}

// alreadyRotated refuses to rotate a key that was rotated before. The refusal names the key that the owner uses now.
func alreadyRotated(ctx context.Context, tx pgx.Tx, key petstore.Key) error {
	var successor string
	err := tx.QueryRow(ctx, selectSuccessor, key.Owner, key.ID).Scan(&successor)
	if err != nil {
		return err
	}
	return petstore.AlreadyRotated(key, successor)
}

// UpdateKey changes a key. A change of plan or limits applies to every key of the owner.
func (db *DB) UpdateKey(ctx context.Context, id string, change petstore.KeyChange, request petstore.KeyRequest) (petstore.Key, bool, error) {
	return changeKeys(ctx, db, request, func(ctx context.Context, tx pgx.Tx, now time.Time) (key petstore.Key, err error) {
		old, err := lockKey(ctx, tx, id)
		if err != nil {
			return key, err
		}
		if key, err = old.Change(change, now); err != nil {
			return key, err
		}
		if change.OfOwner() {
			if _, err := tx.Exec(ctx, updateOwner, key.Owner, string(key.Plan), key.Limits.PerMinute, key.Limits.PerDay); err != nil {
				return key, err
			}
		}
		return key, storeChange(ctx, tx, request, old, key)
	})
}

// RevokeKey makes a key unusable for good. A second call does not change the time of the revocation.
func (db *DB) RevokeKey(ctx context.Context, id string, request petstore.KeyRequest) (petstore.Key, bool, error) {
	return changeKeys(ctx, db, request, func(ctx context.Context, tx pgx.Tx, now time.Time) (petstore.Key, error) {
		old, err := lockKey(ctx, tx, id)
		if err != nil {
			return petstore.Key{}, err
		}
		key := old.Revoke(now)
		return key, storeChange(ctx, tx, request, old, key)
	})
}

// UnbanKey deletes the record of bans of a key's owner.
func (db *DB) UnbanKey(ctx context.Context, id string, request petstore.KeyRequest) (petstore.Key, bool, error) {
	return changeKeys(ctx, db, request, func(ctx context.Context, tx pgx.Tx, _ time.Time) (petstore.Key, error) {
		key, err := keyByID(ctx, tx, id)
		if err != nil {
			return key, err
		}
		key.BannedFrom, key.BannedUntil = time.Time{}, time.Time{}
		_, err = tx.Exec(ctx, deleteBan, key.Owner)
		return key, err
	})
}
