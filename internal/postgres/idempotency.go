package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"petstore/internal/petstore"
)

const (
	// The statement also writes to a record that is still valid, without changing the record. So concurrent duplicates wait
	// for the first request. No replay is acknowledged before the original is durable, even on a synchronous standby. The
	// answer in a new record is empty until the request is done.
	claimIdempotency = `
		INSERT INTO idempotency AS held (owner, key, fingerprint, answer, created_at) VALUES ($1, $2, $3, '', coalesce($4, ` + nowMillis + `))
		ON CONFLICT (owner, key) DO UPDATE SET
			fingerprint = CASE WHEN held.created_at > excluded.created_at - $5 THEN held.fingerprint ELSE excluded.fingerprint END,
			answer      = CASE WHEN held.created_at > excluded.created_at - $5 THEN held.answer      ELSE excluded.answer      END,
			created_at  = CASE WHEN held.created_at > excluded.created_at - $5 THEN held.created_at  ELSE excluded.created_at  END
		RETURNING fingerprint, answer`

	rememberIdempotency = "UPDATE idempotency SET answer = $3 WHERE owner = $1 AND key = $2"

	// Each statement deletes a limited number of records, and skips the records that another replica is deleting.
	purgeIdempotency = `
		DELETE FROM idempotency WHERE (owner, key) IN (
			SELECT owner, key FROM idempotency WHERE created_at < coalesce($1, ` + nowMillis + ` - $3) LIMIT $2 FOR UPDATE SKIP LOCKED
		)`
)

// purgeBatchSize is how many records one statement deletes. The statement must end before its timeout.
const purgeBatchSize = 1000

// doOnce calls the function work in a transaction of its own. If a request with the same idempotency key was done before,
// doOnce returns the result of that request instead.
func doOnce[T any](ctx context.Context, db *DB, idempotency *petstore.Idempotency, work func(context.Context, pgx.Tx) (T, error)) (result T, replayed bool, err error) {
	err = db.transaction(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
		result, replayed, err = recallOrDo(ctx, tx, idempotency, work)
		return err
	})
	if err != nil {
		var none T
		return none, false, err
	}
	return result, replayed, nil
}

func recallOrDo[T any](ctx context.Context, tx pgx.Tx, idempotency *petstore.Idempotency, work func(context.Context, pgx.Tx) (T, error)) (result T, replayed bool, err error) {
	if idempotency == nil {
		result, err = work(ctx, tx)
		return result, false, err
	}
	if replayed, err = recall(ctx, tx, idempotency, &result); replayed || err != nil {
		return result, replayed, err
	}
	if result, err = work(ctx, tx); err != nil {
		return result, false, err
	}
	answer, err := json.Marshal(result)
	if err != nil {
		return result, false, err
	}
	_, err = tx.Exec(ctx, rememberIdempotency, idempotency.Owner, idempotency.Key, string(answer))
	return result, false, err
}

// recall creates the record of a request. If there is already a valid record, recall reads the answer from that record and
// reports true.
func recall(ctx context.Context, tx pgx.Tx, idempotency *petstore.Idempotency, result any) (found bool, err error) {
	var fingerprint []byte
	var answer string
	err = tx.QueryRow(ctx, claimIdempotency, idempotency.Owner, idempotency.Key, idempotency.Fingerprint[:], toMillis(idempotency.Now), petstore.IdempotencyKept.Milliseconds()).
		Scan(&fingerprint, &answer)
	switch {
	case err != nil:
		return false, err
	case answer == "":
		return false, nil
	case !bytes.Equal(fingerprint, idempotency.Fingerprint[:]):
		return false, petstore.IdempotencyKeyReused()
	}
	return true, json.Unmarshal([]byte(answer), result)
}

// PurgeIdempotency deletes old idempotency records, purgeBatchSize at a time.
func (db *DB) PurgeIdempotency(ctx context.Context, before time.Time) (int64, error) {
	return db.purge(ctx, purgeIdempotency, before, petstore.IdempotencyKept)
}

// purge deletes old records with a statement that takes the time before which they were made, how many it may delete, and
// how long the records are kept, which counts if the time is zero.
func (db *DB) purge(ctx context.Context, statement string, before time.Time, kept time.Duration) (int64, error) {
	for purged := int64(0); ; {
		var some int64
		err := db.write(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
			tag, err := conn.Exec(ctx, statement, toMillis(before), purgeBatchSize, kept.Milliseconds())
			some = tag.RowsAffected()
			return err
		})
		if err != nil {
			return purged, err
		}
		purged += some
		if some < purgeBatchSize {
			return purged, nil
		}
	}
}
