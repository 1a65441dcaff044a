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
	// The statement also writes a record that still counts, unchanged. So concurrent duplicates wait for the first of them,
	// and a replay is not acknowledged before the original is durable, even on a synchronous standby. The answer of a new
	// record is empty until it is known.
	claimIdempotency = `
		INSERT INTO idempotency AS held (owner, key, fingerprint, answer, created_at) VALUES ($1, $2, $3, '', coalesce($4, ` + theTime + `))
		ON CONFLICT (owner, key) DO UPDATE SET
			fingerprint = CASE WHEN held.created_at > excluded.created_at - $5 THEN held.fingerprint ELSE excluded.fingerprint END,
			answer      = CASE WHEN held.created_at > excluded.created_at - $5 THEN held.answer      ELSE excluded.answer      END,
			created_at  = CASE WHEN held.created_at > excluded.created_at - $5 THEN held.created_at  ELSE excluded.created_at  END
		RETURNING fingerprint, answer`

	rememberIdempotency = "UPDATE idempotency SET answer = $3 WHERE owner = $1 AND key = $2"

	// Old records are deleted in small transactions. Each skips the records that another replica is deleting.
	purgeIdempotency = `
		DELETE FROM idempotency WHERE (owner, key) IN (
			SELECT owner, key FROM idempotency WHERE created_at < coalesce($1, ` + theTime + ` - $3) LIMIT $2 FOR UPDATE SKIP LOCKED
		)`
)

// purgeStep is how many records one transaction purges. It must end before the statement timeout.
const purgeStep = 1000

// makeOnce makes something in a transaction of its own. If it has met the idempotency before, it returns what was made
// then. It does not group such calls: replicas that meet the same keys in opposite orders would block each other.
func makeOnce[T any](ctx context.Context, db *DB, idempotency *petstore.Idempotency, build func(context.Context, pgx.Tx) (T, error)) (made T, replayed bool, err error) {
	err = db.transaction(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
		if idempotency != nil {
			if replayed, err = recall(ctx, tx, idempotency, &made); replayed || err != nil {
				return err
			}
		}
		if made, err = build(ctx, tx); err != nil || idempotency == nil {
			return err
		}
		answer, err := json.Marshal(made)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, rememberIdempotency, idempotency.Owner, idempotency.Key, string(answer))
		return err
	})
	if err != nil {
		var none T
		return none, false, err
	}
	return made, replayed, nil
}

// recall creates the record of a request, or reads the answer if the request was met before.
func recall(ctx context.Context, tx pgx.Tx, idempotency *petstore.Idempotency, made any) (met bool, err error) {
	var fingerprint []byte
	var answer string
	err = tx.QueryRow(ctx, claimIdempotency, idempotency.Owner, idempotency.Key, idempotency.Fingerprint[:], millis(idempotency.Now), petstore.IdempotencyKept.Milliseconds()).
		Scan(&fingerprint, &answer)
	switch {
	case err != nil:
		return false, err
	case answer == "":
		return false, nil
	case !bytes.Equal(fingerprint, idempotency.Fingerprint[:]):
		return false, petstore.IdempotencyKeyReused()
	}
	return true, json.Unmarshal([]byte(answer), made)
}

// PurgeIdempotency deletes old idempotency records, purgeStep at a time.
func (db *DB) PurgeIdempotency(ctx context.Context, before time.Time) (int64, error) {
	for purged := int64(0); ; {
		var some int64
		err := db.write(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
			tag, err := conn.Exec(ctx, purgeIdempotency, millis(before), purgeStep, petstore.IdempotencyKept.Milliseconds())
			some = tag.RowsAffected()
			return err
		})
		if err != nil {
			return purged, err
		}
		purged += some
		if some < purgeStep {
			return purged, nil
		}
	}
}
