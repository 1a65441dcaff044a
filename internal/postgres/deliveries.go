package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"petstore/internal/petstore"
)

// purgeLock is the advisory lock under which one replica at a time purges deliveries: "petpurge" in ASCII.
const purgeLock = 0x7065747075726765

const (
	// The subquery walks over as many deliveries of a webhook as are kept.
	selectDeliveries = `
		SELECT id, event_id, at, status, milliseconds, error, skipped FROM webhook_deliveries
		WHERE webhook_id = $1 AND ($2 = '' OR id < $2) AND at > ` + nowMillis + ` - $3
			AND id > coalesce((SELECT id FROM webhook_deliveries WHERE webhook_id = $1 ORDER BY id DESC LIMIT 1 OFFSET $4), '')
		ORDER BY id DESC LIMIT $5`

	// A delivery that is saved again, because nobody knows whether it was saved, is already there. The lock keeps the webhook
	// from being deleted meanwhile.
	insertDeliveries = `
		WITH webhook AS (SELECT id FROM webhooks WHERE id = $1 FOR KEY SHARE)
		INSERT INTO webhook_deliveries (webhook_id, id, event_id, at, status, milliseconds, error, skipped)
		SELECT webhook.id, made.* FROM webhook,
			unnest($2::text[], $3::text[], $4::bigint[], $5::integer[], $6::bigint[], $7::text[], $8::boolean[]) AS made
		ON CONFLICT (webhook_id, id) DO NOTHING`

	purgeDeliveries = `
		DELETE FROM webhook_deliveries old
		USING webhooks LEFT JOIN LATERAL (
			SELECT id FROM webhook_deliveries WHERE webhook_id = webhooks.id ORDER BY id DESC LIMIT 1 OFFSET $2
		) AS excess ON true
		WHERE old.webhook_id = webhooks.id AND (old.at <= ` + nowMillis + ` - $1 OR old.id <= excess.id)`

	// Everybody who locks several webhooks does so in the order of their ids, so that nobody deadlocks.
	leaseWebhooks = `
		WITH held AS (
			SELECT id FROM webhooks WHERE holder = $1 OR held_until <= ` + nowMillis + ` ORDER BY id FOR UPDATE
		)
		UPDATE webhooks SET holder = $1, held_until = ` + nowMillis + ` + $2 FROM held WHERE webhooks.id = held.id`
	selectLeased    = selectWebhooks + " WHERE holder = $1 ORDER BY created_at, id"
	selectVersions  = "SELECT id, version FROM webhooks"
	releaseWebhooks = `
		WITH held AS (SELECT id FROM webhooks WHERE holder = $1 ORDER BY id FOR UPDATE)
		UPDATE webhooks SET holder = '', held_until = 0 FROM held WHERE webhooks.id = held.id`
	saveAttempts = `
		UPDATE webhooks SET position = $4, confirmed = $5, failing_since = $6, failures = $7, rejections = $8, next_attempt = $9,
			enabled = enabled AND $10::text = '', reason = CASE WHEN $10 <> '' THEN $10 WHEN $11 THEN $12 ELSE reason END
		WHERE id = $1 AND holder = $2 AND version = $3`
)

// ListDeliveries returns a page of deliveries.
func (db *DB) ListDeliveries(ctx context.Context, q petstore.DeliveryQuery) (deliveries []petstore.Delivery, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		found, err := readWebhooks(ctx, db.pool, selectWebhook, q.WebhookID)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return petstore.NoSuchWebhook()
		}
		rows, _ := db.pool.Query(ctx, selectDeliveries, q.WebhookID, q.Before, petstore.DeliveriesKept.Milliseconds(), petstore.MaxDeliveries, q.Limit)
		deliveries, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (petstore.Delivery, error) {
			d := petstore.Delivery{WebhookID: q.WebhookID}
			var at, took int64
			err := row.Scan(&d.ID, &d.EventID, &at, &d.Status, &took, &d.Error, &d.Skipped)
			d.At, d.Took = fromMillis(&at), time.Duration(took)*time.Millisecond
			return d, err
		})
		return err
	})
	return deliveries, err
}

// deliveryArgs returns the arguments of insertDeliveries.
func deliveryArgs(webhookID string, deliveries []petstore.Delivery) []any {
	n := len(deliveries)
	ids, eventIDs, errors := make([]string, n), make([]string, n), make([]string, n)
	ats, took := make([]int64, n), make([]int64, n)
	statuses, skipped := make([]int32, n), make([]bool, n)
	for i, d := range deliveries {
		ids[i], eventIDs[i], errors[i] = d.ID, d.EventID, d.Error
		ats[i], took[i] = d.At.UnixMilli(), d.Took.Milliseconds()
		statuses[i], skipped[i] = int32(d.Status), d.Skipped
	}
	return []any{webhookID, ids, eventIDs, ats, statuses, took, errors, skipped}
}

// LeaseWebhooks makes the holder the holder of every webhook that has none.
func (db *DB) LeaseWebhooks(ctx context.Context, holder string) (held []petstore.Webhook, err error) {
	err = db.transaction(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, leaseWebhooks, holder, petstore.WebhookLease.Milliseconds()); err != nil {
			return err
		}
		if held, err = readWebhooks(ctx, tx, selectLeased, holder); err != nil {
			return err
		}
		feed, err := readFeed(ctx, tx)
		for i := range held {
			held[i].Feed = feed.Name
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return held, nil
}

// WebhookVersions returns the version of every webhook.
func (db *DB) WebhookVersions(ctx context.Context) (versions map[string]int64, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		versions = make(map[string]int64)
		var id string
		var version int64
		rows, _ := db.pool.Query(ctx, selectVersions)
		_, err := pgx.ForEachRow(rows, []any{&id, &version}, func() error { versions[id] = version; return nil })
		return err
	})
	return versions, err
}

// ReleaseWebhooks ends the leases of the holder.
func (db *DB) ReleaseWebhooks(ctx context.Context, holder string) error {
	return db.write(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		_, err := conn.Exec(ctx, releaseWebhooks, holder)
		return err
	})
}

// SaveAttempts stores the outcome of attempts in one transaction and one round trip.
func (db *DB) SaveAttempts(ctx context.Context, holder string, attempts []petstore.WebhookAttempts) (refused []string, err error) {
	attempts = slices.SortedFunc(slices.Values(attempts), func(a, b petstore.WebhookAttempts) int { return cmp.Compare(a.ID, b.ID) })
	batch := &pgx.Batch{}
	for _, a := range attempts {
		p := a.Progress
		batch.Queue(saveAttempts, a.ID, holder, a.Version, p.Position, p.Confirmed, toMillis(p.FailingSince), p.Failures, p.Rejections,
			toMillis(p.NextAttempt), string(a.Disabled), a.Missed, string(petstore.WebhookMissed))
		batch.Queue(insertDeliveries, deliveryArgs(a.ID, a.Deliveries)...)
	}
	err = db.transaction(ctx, func(ctx context.Context, tx pgx.Tx) error {
		results := tx.SendBatch(ctx, batch)
		for _, a := range attempts {
			tag, err := results.Exec()
			if err == nil && tag.RowsAffected() == 0 {
				refused = append(refused, a.ID)
			}
			if err == nil {
				_, err = results.Exec()
			}
			if err != nil {
				results.Close()
				return err
			}
		}
		return results.Close()
	})
	if err != nil {
		return nil, err
	}
	return refused, nil
}

// PurgeDeliveries removes deliveries that ListDeliveries no longer returns, unless another replica is doing so.
func (db *DB) PurgeDeliveries(ctx context.Context) error {
	return db.transaction(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var mine bool
		if err := tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1)", int64(purgeLock)).Scan(&mine); err != nil || !mine {
			return err
		}
		_, err := tx.Exec(ctx, purgeDeliveries, petstore.DeliveriesKept.Milliseconds(), petstore.MaxDeliveries)
		return err
	})
}
