package sqlite

import (
	"context"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	selectSuccessor = "SELECT id FROM keys WHERE owner = ?1 AND id <> ?2 ORDER BY revoked_at IS NOT NULL, rotated_at IS NOT NULL, created_at DESC LIMIT 1"
	updateKey       = "UPDATE keys SET access = ?2, name = ?3, lifetime = ?4, expires_at = ?5, revoked_at = ?6, rotated_at = ?7 WHERE id = ?1"
	updateOwner     = "UPDATE keys SET plan = ?2, per_minute = ?3, per_day = ?4 WHERE owner = ?1"
	countAdmins     = "SELECT count(*) FROM keys WHERE access = 'admin' AND revoked_at IS NULL AND expires_at IS NULL"
)

// changeKeys changes keys in a transaction of its own: the function work does it, with the time of the request. First
// changeKeys authorizes the key that asks. If the same request was done before, changeKeys returns the result of that
// request instead.
func changeKeys[T any](ctx context.Context, db *DB, request petstore.KeyRequest, work func(conn *sqlite3.Conn, now time.Time) (T, error)) (result T, replayed bool, err error) {
	idempotency, now := db.timed(request.Idempotency), request.Now.UTC().Truncate(time.Millisecond)
	err = db.write(ctx, func(w *writer) (err error) {
		if err := authorize(w.conn, request); err != nil {
			return err
		}
		result, replayed, err = recallOrDo(w, idempotency, func(w *writer) (T, error) { return work(w.conn, now) })
		return err
	})
	if err != nil {
		var none T
		return none, false, err
	}
	return result, replayed, nil
}

// authorize checks that the key that asks may change keys. An operator may.
func authorize(conn *sqlite3.Conn, request petstore.KeyRequest) error {
	if request.By == "" {
		return nil
	}
	asking, err := keyByID(conn, request.By)
	if petstore.IsCode(err, petstore.NotFound) {
		return &petstore.Error{Code: petstore.Unauthorized}
	}
	if err != nil {
		return err
	}
	return request.Authorize(asking)
}

// storeChange stores what a request has changed about a key, if the rules for administrators allow the effect.
func storeChange(conn *sqlite3.Conn, request petstore.KeyRequest, before, after petstore.Key) error {
	err := run(conn, updateKey, after.ID, string(after.Access), after.Name, after.Lifetime.Milliseconds(),
		toMillis(after.ExpiresAt), toMillis(after.RevokedAt), toMillis(after.RotatedAt))
	if err != nil {
		return err
	}
	var admins int
	if err := query(conn, func(row *sqlite3.Stmt) { admins = row.ColumnInt(0) }, countAdmins); err != nil {
		return err
	}
	return request.CheckEffect(before, after, admins)
}

// CreateKey stores a new key.
func (db *DB) CreateKey(ctx context.Context, key petstore.Key, hash petstore.SecretHash, request petstore.KeyRequest) error {
	id, replayed, err := changeKeys(ctx, db, request, func(conn *sqlite3.Conn, _ time.Time) (string, error) {
		return key.ID, putKey(conn, insertKey, key, hash)
	})
	if replayed {
		return petstore.ShownSecret(id)
	}
	return err
}

// RotateKey stores the successor of a key and retires the key.
func (db *DB) RotateKey(ctx context.Context, id string, hash petstore.SecretHash, rotation petstore.Rotation, request petstore.KeyRequest) (petstore.Key, error) {
	next, replayed, err := changeKeys(ctx, db, request, func(conn *sqlite3.Conn, now time.Time) (petstore.Key, error) {
		old, err := keyByID(conn, id)
		if err != nil {
			return petstore.Key{}, err
		}
		if !old.RotatedAt.IsZero() {
			return petstore.Key{}, alreadyRotated(conn, old)
		}
		retired, next, err := old.Rotate(rotation, now)
		if err != nil {
			return petstore.Key{}, err
		}
		if err := putKey(conn, insertKey, next, hash); err != nil {
			return petstore.Key{}, err
		}
		return next, storeChange(conn, request, old, retired)
	})
	if replayed {
		return petstore.Key{}, petstore.ShownSecret(next.ID)
	}
	return next, err
}

// alreadyRotated refuses to rotate a key that was rotated before. The refusal names the key that the owner uses now.
func alreadyRotated(conn *sqlite3.Conn, key petstore.Key) error {
	var successor string
	if err := query(conn, func(row *sqlite3.Stmt) { successor = row.ColumnText(0) }, selectSuccessor, key.Owner, key.ID); err != nil {
		return err
	}
	return petstore.AlreadyRotated(key, successor)
}

// UpdateKey changes a key. A change of plan or limits applies to every key of the owner.
func (db *DB) UpdateKey(ctx context.Context, id string, change petstore.KeyChange, request petstore.KeyRequest) (petstore.Key, bool, error) {
	return changeKeys(ctx, db, request, func(conn *sqlite3.Conn, now time.Time) (key petstore.Key, err error) {
		old, err := keyByID(conn, id)
		if err != nil {
			return key, err
		}
		if key, err = old.Change(change, now); err != nil {
			return key, err
		}
		if change.OfOwner() {
			if err := run(conn, updateOwner, key.Owner, string(key.Plan), key.Limits.PerMinute, key.Limits.PerDay); err != nil {
				return key, err
			}
		}
		return key, storeChange(conn, request, old, key)
	})
}

// RevokeKey makes a key unusable for good.
func (db *DB) RevokeKey(ctx context.Context, id string, request petstore.KeyRequest) (petstore.Key, bool, error) {
	return changeKeys(ctx, db, request, func(conn *sqlite3.Conn, now time.Time) (petstore.Key, error) {
		old, err := keyByID(conn, id)
		if err != nil {
			return petstore.Key{}, err
		}
		key := old.Revoke(now)
		return key, storeChange(conn, request, old, key)
	})
}

// UnbanKey lifts the ban of a key's owner and forgets all earlier bans.
func (db *DB) UnbanKey(ctx context.Context, id string, request petstore.KeyRequest) (petstore.Key, bool, error) {
	return changeKeys(ctx, db, request, func(conn *sqlite3.Conn, _ time.Time) (petstore.Key, error) {
		key, err := keyByID(conn, id)
		if err != nil {
			return key, err
		}
		key.BannedFrom, key.BannedUntil = time.Time{}, time.Time{}
		return key, run(conn, deleteBan, key.Owner)
	})
}
