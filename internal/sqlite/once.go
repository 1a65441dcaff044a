package sqlite

import (
	"context"
	"encoding/json"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	selectOnce = "SELECT fingerprint, answer FROM idempotency WHERE owner = ?1 AND key = ?2 AND created_at > ?3"
	insertOnce = "INSERT OR REPLACE INTO idempotency (owner, key, fingerprint, answer, created_at) VALUES (?1, ?2, ?3, ?4, ?5)"
	purgeOnce  = "DELETE FROM idempotency WHERE (owner, key) IN (SELECT owner, key FROM idempotency WHERE created_at < ?1 LIMIT ?2)"
)

// purgeStep is how many records are purged in one transaction, so that creates need not wait for all of them.
const purgeStep = 500

// makeOnce makes something in the next commit or, if it was met before, returns what was made then.
func makeOnce[T any](ctx context.Context, db *DB, once *petstore.Once, build func(*writer) (T, error)) (made T, replayed bool, err error) {
	err = db.change(ctx, func(w *writer) (err error) {
		made, replayed, err = recallOrMake(w, once, build)
		return err
	})
	if err != nil {
		var none T
		return none, false, err
	}
	return made, replayed, nil
}

func recallOrMake[T any](w *writer, once *petstore.Once, build func(*writer) (T, error)) (made T, replayed bool, err error) {
	if once == nil {
		made, err = build(w)
		return made, false, err
	}
	if replayed, err = w.recall(once, &made); replayed || err != nil {
		return made, replayed, err
	}
	if made, err = build(w); err != nil {
		return made, false, err
	}
	return made, false, w.remember(once, made)
}

// recall reads what was answered to a request that was met before.
func (w *writer) recall(once *petstore.Once, answer any) (met bool, err error) {
	var fingerprint [32]byte
	var text string
	err = query(w.conn, func(row *sqlite3.Stmt) {
		met = true
		row.ColumnBytes(0, fingerprint[:])
		text = row.ColumnText(1)
	}, selectOnce, once.Owner, once.Key, once.Now.Add(-petstore.OnceKept).UnixMilli())
	switch {
	case err != nil || !met:
		return false, err
	case fingerprint != once.Fingerprint:
		return false, petstore.ConflictOnce()
	}
	return true, json.Unmarshal([]byte(text), answer)
}

func (w *writer) remember(once *petstore.Once, answer any) error {
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return run(w.conn, insertOnce, once.Owner, once.Key, once.Fingerprint[:], string(text), once.Now.UnixMilli())
}

// PurgeOnce forgets old idempotency records, a few at a time.
func (db *DB) PurgeOnce(ctx context.Context, before time.Time) (int64, error) {
	for purged := int64(0); ; {
		var some int
		err := db.write(ctx, func(w *writer) error {
			err := run(w.conn, purgeOnce, before.UnixMilli(), purgeStep)
			some = w.conn.Changes()
			return err
		})
		if err != nil {
			return purged, err
		}
		purged += int64(some)
		if some < purgeStep {
			return purged, nil
		}
	}
}
