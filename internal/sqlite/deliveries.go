package sqlite

import (
	"context"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	// The subquery walks over as many deliveries of a webhook as are kept.
	selectDeliveries = `
		SELECT id, event_id, at, status, milliseconds, error, skipped FROM webhook_deliveries
		WHERE webhook_id = ?1 AND id < ?2 AND at > ?3 AND id > coalesce((` + firstExcessDelivery + `), '')
		ORDER BY id DESC LIMIT ?5`
	firstExcessDelivery = "SELECT id FROM webhook_deliveries WHERE webhook_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?4"

	// A delivery that is saved again, because nobody knows whether it was saved, is already there.
	insertDelivery = `
		INSERT OR IGNORE INTO webhook_deliveries (webhook_id, id, event_id, at, status, milliseconds, error, skipped)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 WHERE EXISTS (` + selectWebhook + `)`
	purgeDeliveries = "DELETE FROM webhook_deliveries WHERE webhook_id = ?1 AND (at <= ?3 OR id <= (" + firstExcessDelivery + "))"

	leaseWebhooks   = "UPDATE webhooks SET holder = ?1, held_until = ?2 WHERE holder = ?1 OR held_until <= ?3"
	selectLeased    = selectWebhooks + " WHERE holder = ?1 ORDER BY created_at, id"
	selectVersions  = "SELECT id, version FROM webhooks"
	releaseWebhooks = "UPDATE webhooks SET holder = '', held_until = 0 WHERE holder = ?1"
	saveAttempts    = `
		UPDATE webhooks SET position = ?4, confirmed = ?5, failing_since = ?6, failures = ?7, rejections = ?8, next_attempt = ?9,
			enabled = enabled AND ?10 = '', reason = CASE WHEN ?10 <> '' THEN ?10 WHEN ?11 THEN ?12 ELSE reason END
		WHERE id = ?1 AND holder = ?2 AND version = ?3`
)

// lastDeliveryID is higher than the id of any delivery.
const lastDeliveryID = "dlv_g"

// ListDeliveries returns a page of deliveries.
func (db *DB) ListDeliveries(ctx context.Context, q petstore.DeliveryQuery) (deliveries []petstore.Delivery, err error) {
	before := q.Before
	if before == "" {
		before = lastDeliveryID
	}
	err = db.readFresh(ctx, func(r *reader) error {
		if _, err := webhookByID(r.conn, q.WebhookID); err != nil {
			return err
		}
		return query(r.conn, func(row *sqlite3.Stmt) {
			deliveries = append(deliveries, petstore.Delivery{
				ID: row.ColumnText(0), WebhookID: q.WebhookID, EventID: row.ColumnText(1), At: columnTime(row, 2), Status: row.ColumnInt(3),
				Took: time.Duration(row.ColumnInt64(4)) * time.Millisecond, Error: row.ColumnText(5), Skipped: row.ColumnBool(6),
			})
		}, selectDeliveries, q.WebhookID, before, db.now().Add(-petstore.DeliveriesKept).UnixMilli(), petstore.MaxDeliveries, q.Limit)
	})
	return deliveries, err
}

// saveDelivery stores a delivery, unless its webhook was deleted.
func saveDelivery(conn *sqlite3.Conn, d petstore.Delivery) error {
	return run(conn, insertDelivery, d.WebhookID, d.ID, d.EventID, d.At.UnixMilli(), d.Status, d.Took.Milliseconds(), d.Error, d.Skipped)
}

// LeaseWebhooks makes the holder the holder of every webhook that has none.
func (db *DB) LeaseWebhooks(ctx context.Context, holder string) (held []petstore.Webhook, err error) {
	now := db.now()
	err = db.write(ctx, func(w *writer) error {
		if err := run(w.conn, leaseWebhooks, holder, now.Add(petstore.WebhookLease).UnixMilli(), now.UnixMilli()); err != nil {
			return err
		}
		if held, err = readWebhooks(w.conn, selectLeased, holder); err != nil {
			return err
		}
		feed, err := readFeed(w.conn)
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
func (db *DB) WebhookVersions(ctx context.Context) (map[string]int64, error) {
	versions := make(map[string]int64)
	err := db.read(ctx, func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) { versions[row.ColumnText(0)] = row.ColumnInt64(1) }, selectVersions)
	})
	return versions, err
}

// ReleaseWebhooks ends the leases of the holder.
func (db *DB) ReleaseWebhooks(ctx context.Context, holder string) error {
	return db.write(ctx, func(w *writer) error { return run(w.conn, releaseWebhooks, holder) })
}

// SaveAttempts stores the outcome of attempts in one transaction.
func (db *DB) SaveAttempts(ctx context.Context, holder string, attempts []petstore.WebhookAttempts) (refused []string, err error) {
	err = db.write(ctx, func(w *writer) error {
		for _, a := range attempts {
			p := a.Progress
			err := run(w.conn, saveAttempts, a.ID, holder, a.Version, p.Position, p.Confirmed, toMillis(p.FailingSince), p.Failures, p.Rejections,
				toMillis(p.NextAttempt), string(a.Disabled), a.Missed, string(petstore.WebhookMissed))
			if err != nil {
				return err
			}
			if w.conn.Changes() == 0 {
				refused = append(refused, a.ID)
			}
			for _, d := range a.Deliveries {
				if err := saveDelivery(w.conn, d); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return refused, nil
}

// PurgeDeliveries removes deliveries that ListDeliveries no longer returns.
func (db *DB) PurgeDeliveries(ctx context.Context) error {
	var webhooks []petstore.Webhook
	err := db.read(ctx, func(conn *sqlite3.Conn) (err error) {
		webhooks, err = readWebhooks(conn, selectWebhooks)
		return err
	})
	for _, webhook := range webhooks {
		if err != nil {
			return err
		}
		err = db.write(ctx, func(w *writer) error {
			return run(w.conn, purgeDeliveries, webhook.ID, nil, db.now().Add(-petstore.DeliveriesKept).UnixMilli(), petstore.MaxDeliveries)
		})
	}
	return err
}
