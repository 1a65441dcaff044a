package sqlite

import (
	"context"
	"encoding/json"
	"math"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	webhookColumns = `id, url, types, description, created_at, enabled, reason, secret, old_secret, old_until, version,
		position, confirmed, failing_since, failures, rejections, next_attempt`
	selectWebhooks    = "SELECT " + webhookColumns + " FROM webhooks"
	selectWebhook     = selectWebhooks + " WHERE id = ?1"
	selectWebhookPage = selectWebhooks + " WHERE (created_at, id) < (?1, ?2) ORDER BY created_at DESC, id DESC LIMIT ?3"
	countWebhooks     = "SELECT count(*) FROM webhooks"
	putWebhook        = "INSERT INTO webhooks (" + webhookColumns + `)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
		ON CONFLICT (id) DO UPDATE SET url = excluded.url, types = excluded.types, description = excluded.description,
			created_at = excluded.created_at, enabled = excluded.enabled, reason = excluded.reason,
			secret = excluded.secret, old_secret = excluded.old_secret, old_until = excluded.old_until, version = excluded.version,
			position = excluded.position, confirmed = excluded.confirmed, failing_since = excluded.failing_since,
			failures = excluded.failures, rejections = excluded.rejections, next_attempt = excluded.next_attempt`
	deleteWebhook    = "DELETE FROM webhooks WHERE id = ?1"
	deleteDeliveries = "DELETE FROM webhook_deliveries WHERE webhook_id = ?1"
)

// ListWebhooks returns a page of webhooks.
func (db *DB) ListWebhooks(ctx context.Context, q petstore.WebhookQuery) (webhooks []petstore.Webhook, err error) {
	created, id := int64(math.MaxInt64), ""
	if q.After != (petstore.KeyPlace{}) {
		created, id = q.After.CreatedAt.UnixMilli(), q.After.ID
	}
	err = db.readFresh(ctx, func(r *reader) error {
		webhooks, err = readWebhooks(r.conn, selectWebhookPage, created, id, q.Limit)
		if err != nil {
			return err
		}
		return countBehind(r.conn, webhooks)
	})
	return webhooks, err
}

// GetWebhook returns one webhook.
func (db *DB) GetWebhook(ctx context.Context, id string) (webhook petstore.Webhook, err error) {
	err = db.readFresh(ctx, func(r *reader) error {
		webhook, err = webhookByID(r.conn, id)
		return err
	})
	return webhook, err
}

// readWebhooks returns the webhooks that a query selects. It does not set how far they are behind.
func readWebhooks(conn *sqlite3.Conn, statement string, args ...any) (webhooks []petstore.Webhook, err error) {
	var malformed error
	err = query(conn, func(row *sqlite3.Stmt) {
		w, err := scanWebhook(row)
		if err != nil {
			malformed = err
		}
		webhooks = append(webhooks, w)
	}, statement, args...)
	if err == nil {
		err = malformed
	}
	return webhooks, err
}

func webhookByID(conn *sqlite3.Conn, id string) (petstore.Webhook, error) {
	found, err := readWebhooks(conn, selectWebhook, id)
	if err == nil && len(found) == 0 {
		err = petstore.NoSuchWebhook()
	}
	if err == nil {
		err = countBehind(conn, found)
	}
	if err != nil {
		return petstore.Webhook{}, err
	}
	return found[0], nil
}

func scanWebhook(row *sqlite3.Stmt) (petstore.Webhook, error) {
	w := petstore.Webhook{
		ID:              row.ColumnText(0),
		WebhookSettings: petstore.WebhookSettings{URL: row.ColumnText(1), Description: row.ColumnText(3)},
		CreatedAt:       columnTime(row, 4),
		Enabled:         row.ColumnBool(5),
		Reason:          petstore.WebhookReason(row.ColumnText(6)),
		Secret:          row.ColumnText(7),
		OldSecret:       row.ColumnText(8),
		OldSecretUntil:  columnTime(row, 9),
		Version:         row.ColumnInt64(10),
		WebhookProgress: petstore.WebhookProgress{
			Position:     row.ColumnInt64(11),
			Confirmed:    row.ColumnBool(12),
			FailingSince: columnTime(row, 13),
			Failures:     row.ColumnInt(14),
			Rejections:   row.ColumnInt(15),
			NextAttempt:  columnTime(row, 16),
		},
	}
	return w, json.Unmarshal([]byte(row.ColumnText(2)), &w.Types)
}

func saveWebhook(conn *sqlite3.Conn, w petstore.Webhook) error {
	types, err := json.Marshal(w.Types)
	if err != nil {
		return err
	}
	return run(conn, putWebhook, w.ID, w.URL, string(types), w.Description, w.CreatedAt.UnixMilli(), w.Enabled, string(w.Reason),
		w.Secret, w.OldSecret, toMillis(w.OldSecretUntil), w.Version,
		w.Position, w.Confirmed, toMillis(w.FailingSince), w.Failures, w.Rejections, toMillis(w.NextAttempt))
}

// onceAlone does work in a transaction of its own. If the same request was done before, onceAlone returns the result of that
// request instead.
func onceAlone[T any](ctx context.Context, db *DB, idempotency *petstore.Idempotency, work func(conn *sqlite3.Conn) (T, error)) (result T, replayed bool, err error) {
	idempotency = db.timed(idempotency)
	err = db.write(ctx, func(w *writer) (err error) {
		result, replayed, err = recallOrDo(w, idempotency, func(w *writer) (T, error) { return work(w.conn) })
		return err
	})
	if err != nil {
		var none T
		return none, false, err
	}
	return result, replayed, nil
}

// CreateWebhook stores a webhook at the end of the feed.
func (db *DB) CreateWebhook(ctx context.Context, webhook petstore.Webhook, idempotency *petstore.Idempotency) (petstore.Webhook, error) {
	id, replayed, err := onceAlone(ctx, db, idempotency, func(conn *sqlite3.Conn) (string, error) {
		count := 0
		if err := query(conn, func(row *sqlite3.Stmt) { count = row.ColumnInt(0) }, countWebhooks); err != nil {
			return "", err
		}
		if count >= petstore.MaxWebhooks {
			return "", &petstore.Error{Code: petstore.TooManyWebhooks}
		}
		feed, err := readFeed(conn)
		if err != nil {
			return "", err
		}
		webhook.Position, webhook.Feed = feed.Last, feed.Name
		return webhook.ID, saveWebhook(conn, webhook)
	})
	switch {
	case replayed:
		return petstore.Webhook{}, petstore.ShownWebhookSecret(id)
	case err != nil:
		return petstore.Webhook{}, err
	}
	return webhook, nil
}

// UpdateWebhook changes a webhook.
func (db *DB) UpdateWebhook(ctx context.Context, id string, patch petstore.WebhookPatch, idempotency *petstore.Idempotency) (petstore.Webhook, bool, error) {
	return onceAlone(ctx, db, idempotency, func(conn *sqlite3.Conn) (petstore.Webhook, error) {
		changed, err := changeWebhook(conn, id, func(w petstore.Webhook, feed petstore.Feed) (petstore.Webhook, error) {
			return w.Patch(patch, feed)
		})
		return changed.WithoutSecrets(), err
	})
}

// RotateWebhook gives a webhook a new secret.
func (db *DB) RotateWebhook(ctx context.Context, id, secret string, now time.Time, idempotency *petstore.Idempotency) (petstore.Webhook, error) {
	var rotated petstore.Webhook // what is recorded has no secret
	_, replayed, err := onceAlone(ctx, db, idempotency, func(conn *sqlite3.Conn) (_ string, err error) {
		rotated, err = changeWebhook(conn, id, func(w petstore.Webhook, _ petstore.Feed) (petstore.Webhook, error) {
			return w.Rotate(secret, now), nil
		})
		return id, err
	})
	switch {
	case replayed:
		return petstore.Webhook{}, petstore.ShownWebhookSecret(id)
	case err != nil:
		return petstore.Webhook{}, err
	}
	return rotated, nil
}

// changeWebhook makes a change by an administrator.
func changeWebhook(conn *sqlite3.Conn, id string, change func(petstore.Webhook, petstore.Feed) (petstore.Webhook, error)) (petstore.Webhook, error) {
	feed, err := readFeed(conn)
	if err != nil {
		return petstore.Webhook{}, err
	}
	webhook, err := webhookByID(conn, id)
	if err != nil {
		return petstore.Webhook{}, err
	}
	if webhook, err = change(webhook, feed); err != nil {
		return petstore.Webhook{}, err
	}
	webhook.Version++
	if err := saveWebhook(conn, webhook); err != nil {
		return petstore.Webhook{}, err
	}
	return webhookByID(conn, id)
}

// DeleteWebhook removes a webhook with its deliveries.
func (db *DB) DeleteWebhook(ctx context.Context, id string, idempotency *petstore.Idempotency) (replayed bool, err error) {
	_, replayed, err = onceAlone(ctx, db, idempotency, func(conn *sqlite3.Conn) (struct{}, error) {
		if err := run(conn, deleteWebhook, id); err != nil {
			return struct{}{}, err
		}
		if conn.Changes() == 0 {
			return struct{}{}, petstore.NoSuchWebhook()
		}
		return struct{}{}, run(conn, deleteDeliveries, id)
	})
	return replayed, err
}

// RecordPing stores how a ping went.
func (db *DB) RecordPing(ctx context.Context, webhook petstore.Webhook, ping petstore.Delivery) error {
	return db.write(ctx, func(w *writer) error {
		if err := saveDelivery(w.conn, ping); err != nil || ping.Error != "" {
			return err
		}
		stored, err := webhookByID(w.conn, webhook.ID)
		if petstore.IsCode(err, petstore.NotFound) {
			return nil
		}
		if err != nil || stored.Confirmed || stored.Version != webhook.Version {
			return err
		}
		stored = stored.Confirm()
		stored.Version++
		return saveWebhook(w.conn, stored)
	})
}

// restoreWebhooks disables every webhook and moves it to the end of the feed.
func restoreWebhooks(conn *sqlite3.Conn, feed petstore.Feed) error {
	webhooks, err := readWebhooks(conn, selectWebhooks)
	if err != nil {
		return err
	}
	for _, w := range webhooks {
		w = w.Restore(feed)
		w.Version++
		if err := saveWebhook(conn, w); err != nil {
			return err
		}
	}
	return nil
}

// ReplaceWebhooks stores webhooks in place of all others.
func (db *DB) ReplaceWebhooks(ctx context.Context, webhooks []petstore.Webhook) error {
	return db.writeCopy(ctx, func(w *writer) error {
		stay := make(map[string]bool)
		for _, webhook := range webhooks {
			stay[webhook.ID] = true
			if err := saveWebhook(w.conn, webhook); err != nil {
				return err
			}
		}
		there, err := readWebhooks(w.conn, selectWebhooks)
		if err != nil {
			return err
		}
		for _, webhook := range there {
			if stay[webhook.ID] {
				continue
			}
			if err := run(w.conn, deleteWebhook, webhook.ID); err != nil {
				return err
			}
			if err := run(w.conn, deleteDeliveries, webhook.ID); err != nil {
				return err
			}
		}
		return nil
	})
}
