package sqlite

import (
	"context"
	"encoding/json"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	selectIdempotency = "SELECT fingerprint, answer FROM idempotency WHERE owner = ?1 AND key = ?2 AND created_at > ?3"
	insertIdempotency = "INSERT OR REPLACE INTO idempotency (owner, key, fingerprint, answer, created_at) VALUES (?1, ?2, ?3, ?4, ?5)"
	purgeIdempotency  = "DELETE FROM idempotency WHERE (owner, key) IN (SELECT owner, key FROM idempotency WHERE created_at < ?1 LIMIT ?2)"
)

// purgeBatchSize is how many records one transaction deletes. Other changes need not wait for the whole purge.
const purgeBatchSize = 500

// doOnce calls the function work as part of the next commit. If a request with the same idempotency key was done before,
// doOnce returns the result of that request instead.
func doOnce[T any](ctx context.Context, db *DB, idempotency *petstore.Idempotency, work func(*writer) (T, error)) (result T, replayed bool, err error) {
	idempotency = db.timed(idempotency)
	err = db.inNextCommit(ctx, func(w *writer) (err error) {
		result, replayed, err = recallOrDo(w, idempotency, work)
		return err
	})
	if err != nil {
		var none T
		return none, false, err
	}
	return result, replayed, nil
}

// timed returns the idempotency with the time of the request. It does not change the given one.
func (db *DB) timed(idempotency *petstore.Idempotency) *petstore.Idempotency {
	if idempotency == nil || !idempotency.Now.IsZero() {
		return idempotency
	}
	timed := *idempotency
	timed.Now = db.now()
	return &timed
}

func recallOrDo[T any](w *writer, idempotency *petstore.Idempotency, work func(*writer) (T, error)) (result T, replayed bool, err error) {
	if idempotency == nil {
		result, err = work(w)
		return result, false, err
	}
	if replayed, err = w.recall(idempotency, &result); replayed || err != nil {
		return result, replayed, err
	}
	if result, err = work(w); err != nil {
		return result, false, err
	}
	return result, false, w.remember(idempotency, result)
}

// recall reads the answer to an earlier request with the same idempotency key, and reports whether there was such a
// request.
func (w *writer) recall(idempotency *petstore.Idempotency, answer any) (found bool, err error) {
	var fingerprint [32]byte
	var text string
	err = query(w.conn, func(row *sqlite3.Stmt) {
		found = true
		row.ColumnBytes(0, fingerprint[:])
		text = row.ColumnText(1)
	}, selectIdempotency, idempotency.Owner, idempotency.Key, idempotency.Now.Add(-petstore.IdempotencyKept).UnixMilli())
	switch {
	case err != nil || !found:
		return false, err
	case fingerprint != idempotency.Fingerprint:
		return false, petstore.IdempotencyKeyReused()
	}
	return true, json.Unmarshal([]byte(text), answer)
}

func (w *writer) remember(idempotency *petstore.Idempotency, answer any) error {
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return run(w.conn, insertIdempotency, idempotency.Owner, idempotency.Key, idempotency.Fingerprint[:], string(text), idempotency.Now.UnixMilli())
}

// PurgeIdempotency deletes old idempotency records, purgeBatchSize at a time.
func (db *DB) PurgeIdempotency(ctx context.Context, before time.Time) (int64, error) {
	if before.IsZero() {
		before = db.now().Add(-petstore.IdempotencyKept)
	}
	return db.purge(ctx, purgeIdempotency, before)
}

// purge deletes old records with a statement that takes the time before which they were made, and how many it may delete.
func (db *DB) purge(ctx context.Context, statement string, before time.Time) (int64, error) {
	for purged := int64(0); ; {
		var some int
		err := db.write(ctx, func(w *writer) error {
			err := run(w.conn, statement, before.UnixMilli(), purgeBatchSize)
			some = w.conn.Changes()
			return err
		})
		if err != nil {
			return purged, err
		}
		purged += int64(some)
		if some < purgeBatchSize {
			return purged, nil
		}
	}
}
