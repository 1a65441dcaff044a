package postgres

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
)

// webhookLock is the advisory lock under which webhooks are created, one at a time, so that there are never too many:
// "pethooks" in ASCII.
const webhookLock = 0x706574686f6f6b73

const (
	webhookColumns = `id, url, types, description, created_at, enabled, reason, secret, old_secret, old_until, version,
		position, confirmed, failing_since, failures, rejections, next_attempt`
	selectWebhooks    = "SELECT " + webhookColumns + " FROM webhooks"
	selectWebhook     = selectWebhooks + " WHERE id = $1"
	lockWebhook       = selectWebhook + " FOR UPDATE"
	lockWebhooks      = selectWebhooks + " ORDER BY id FOR UPDATE"
	selectWebhookPage = selectWebhooks + " WHERE (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"
	countWebhooks     = "SELECT count(*) FROM webhooks"
	putWebhook        = "INSERT INTO webhooks (" + webhookColumns + `)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
		ON CONFLICT (id) DO UPDATE SET url = excluded.url, types = excluded.types, description = excluded.description,
			created_at = excluded.created_at, enabled = excluded.enabled, reason = excluded.reason,
			secret = excluded.secret, old_secret = excluded.old_secret, old_until = excluded.old_until, version = excluded.version,
			position = excluded.position, confirmed = excluded.confirmed, failing_since = excluded.failing_since,
			failures = excluded.failures, rejections = excluded.rejections, next_attempt = excluded.next_attempt`
	deleteWebhook       = "DELETE FROM webhooks WHERE id = $1"
	deleteOtherWebhooks = "DELETE FROM webhooks WHERE id <> ALL ($1)"
)

// ListWebhooks returns a page of webhooks.
func (db *DB) ListWebhooks(ctx context.Context, q petstore.WebhookQuery) (webhooks []petstore.Webhook, err error) {
	created, id := int64(math.MaxInt64), ""
	if q.After != (petstore.KeyPlace{}) {
		created, id = q.After.CreatedAt.UnixMilli(), q.After.ID
	}
	err = db.readNumbered(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if webhooks, err = readWebhooks(ctx, tx, selectWebhookPage, created, id, q.Limit); err != nil {
			return err
		}
		return countBehind(ctx, tx, webhooks)
	})
	return webhooks, err
}

// GetWebhook returns one webhook.
func (db *DB) GetWebhook(ctx context.Context, id string) (webhook petstore.Webhook, err error) {
	err = db.readNumbered(ctx, func(ctx context.Context, tx pgx.Tx) error {
		webhook, err = webhookByID(ctx, tx, selectWebhook, id)
		return err
	})
	return webhook, err
}

// readNumbered numbers the events that were committed so far, and calls the function work with a transaction in which all
// statements see the same moment.
func (db *DB) readNumbered(ctx context.Context, work func(ctx context.Context, tx pgx.Tx) error) error {
	if err := db.NumberEvents(ctx); err != nil {
		return err
	}
	return db.read(detached(ctx), func(ctx context.Context) error {
		return pgx.BeginTxFunc(ctx, db.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
			return work(ctx, tx)
		})
	})
}

// readWebhooks returns the webhooks that a query selects. It does not set how far they are behind.
func readWebhooks(ctx context.Context, q querier, statement string, args ...any) ([]petstore.Webhook, error) {
	rows, _ := q.Query(ctx, statement, args...)
	return pgx.CollectRows(rows, scanWebhook)
}

func webhookByID(ctx context.Context, q querier, statement, id string) (petstore.Webhook, error) {
	found, err := readWebhooks(ctx, q, statement, id)
	if err == nil && len(found) == 0 {
		err = petstore.NoSuchWebhook()
	}
	if err == nil {
		err = countBehind(ctx, q, found)
	}
	if err != nil {
		return petstore.Webhook{}, err
	}
	return found[0], nil
}

func scanWebhook(row pgx.CollectableRow) (w petstore.Webhook, err error) {
	var created int64
	var oldUntil, failingSince, nextAttempt *int64
	err = row.Scan(&w.ID, &w.URL, &w.Types, &w.Description, &created, &w.Enabled, &w.Reason, &w.Secret, &w.OldSecret, &oldUntil, &w.Version,
		&w.Position, &w.Confirmed, &failingSince, &w.Failures, &w.Rejections, &nextAttempt)
	w.CreatedAt, w.OldSecretUntil = fromMillis(&created), fromMillis(oldUntil)
	w.FailingSince, w.NextAttempt = fromMillis(failingSince), fromMillis(nextAttempt)
	return w, err
}

func webhookArgs(w petstore.Webhook) []any {
	return []any{
		w.ID, w.URL, w.Types, w.Description, w.CreatedAt.UnixMilli(), w.Enabled, string(w.Reason),
		w.Secret, w.OldSecret, toMillis(w.OldSecretUntil), w.Version,
		w.Position, w.Confirmed, toMillis(w.FailingSince), w.Failures, w.Rejections, toMillis(w.NextAttempt),
	}
}

// CreateWebhook stores a webhook at the end of the feed.
func (db *DB) CreateWebhook(ctx context.Context, webhook petstore.Webhook, idempotency *petstore.Idempotency) (petstore.Webhook, error) {
	if err := db.NumberEvents(ctx); err != nil {
		return petstore.Webhook{}, err
	}
	id, replayed, err := doOnce(detached(ctx), db, idempotency, func(ctx context.Context, tx pgx.Tx) (string, error) {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(webhookLock)); err != nil {
			return "", err
		}
		var count int
		if err := tx.QueryRow(ctx, countWebhooks).Scan(&count); err != nil {
			return "", err
		}
		if count >= petstore.MaxWebhooks {
			return "", &petstore.Error{Code: petstore.TooManyWebhooks}
		}
		feed, err := readFeed(ctx, tx)
		if err != nil {
			return "", err
		}
		webhook.Position, webhook.Feed = feed.Last, feed.Name
		_, err = tx.Exec(ctx, putWebhook, webhookArgs(webhook)...)
		return webhook.ID, err
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
	if err := db.NumberEvents(ctx); err != nil {
		return petstore.Webhook{}, false, err
	}
	return doOnce(detached(ctx), db, idempotency, func(ctx context.Context, tx pgx.Tx) (petstore.Webhook, error) {
		changed, err := changeWebhook(ctx, tx, id, func(w petstore.Webhook, feed petstore.Feed) (petstore.Webhook, error) {
			return w.Patch(patch, feed)
		})
		return changed.WithoutSecrets(), err
	})
}

// RotateWebhook gives a webhook a new secret.
func (db *DB) RotateWebhook(ctx context.Context, id, secret string, now time.Time, idempotency *petstore.Idempotency) (petstore.Webhook, error) {
	if err := db.NumberEvents(ctx); err != nil {
		return petstore.Webhook{}, err
	}
	var rotated petstore.Webhook // what is recorded has no secret
	_, replayed, err := doOnce(detached(ctx), db, idempotency, func(ctx context.Context, tx pgx.Tx) (_ string, err error) {
		rotated, err = changeWebhook(ctx, tx, id, func(w petstore.Webhook, _ petstore.Feed) (petstore.Webhook, error) {
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
func changeWebhook(ctx context.Context, tx pgx.Tx, id string, change func(petstore.Webhook, petstore.Feed) (petstore.Webhook, error)) (petstore.Webhook, error) {
	webhook, err := webhookByID(ctx, tx, lockWebhook, id)
	if err != nil {
		return petstore.Webhook{}, err
	}
	feed, err := readFeed(ctx, tx)
	if err != nil {
		return petstore.Webhook{}, err
	}
	if webhook, err = change(webhook, feed); err != nil {
		return petstore.Webhook{}, err
	}
	webhook.Version++
	if _, err := tx.Exec(ctx, putWebhook, webhookArgs(webhook)...); err != nil {
		return petstore.Webhook{}, err
	}
	return webhookByID(ctx, tx, selectWebhook, id)
}

// DeleteWebhook removes a webhook with its deliveries.
func (db *DB) DeleteWebhook(ctx context.Context, id string, idempotency *petstore.Idempotency) (replayed bool, err error) {
	_, replayed, err = doOnce(ctx, db, idempotency, func(ctx context.Context, tx pgx.Tx) (struct{}, error) {
		tag, err := tx.Exec(ctx, deleteWebhook, id)
		if err == nil && tag.RowsAffected() == 0 {
			err = petstore.NoSuchWebhook()
		}
		return struct{}{}, err
	})
	return replayed, err
}

// RecordPing stores how a ping went.
func (db *DB) RecordPing(ctx context.Context, webhook petstore.Webhook, ping petstore.Delivery) error {
	return db.transaction(ctx, func(ctx context.Context, tx pgx.Tx) error {
		found, err := readWebhooks(ctx, tx, lockWebhook, webhook.ID)
		if err != nil || len(found) == 0 {
			return err
		}
		if _, err := tx.Exec(ctx, insertDeliveries, deliveryArgs(webhook.ID, []petstore.Delivery{ping})...); err != nil || ping.Error != "" {
			return err
		}
		stored := found[0]
		if stored.Confirmed || stored.Version != webhook.Version {
			return nil
		}
		stored = stored.Confirm()
		stored.Version++
		_, err = tx.Exec(ctx, putWebhook, webhookArgs(stored)...)
		return err
	})
}

// restoreWebhooks disables every webhook and moves it to the end of the feed.
func restoreWebhooks(ctx context.Context, tx pgx.Tx, feed petstore.Feed) error {
	webhooks, err := readWebhooks(ctx, tx, lockWebhooks)
	if err != nil {
		return err
	}
	for _, w := range webhooks {
		w = w.Restore(feed)
		w.Version++
		if _, err := tx.Exec(ctx, putWebhook, webhookArgs(w)...); err != nil {
			return err
		}
	}
	return nil
}

// ReplaceWebhooks stores webhooks in place of all others.
func (db *DB) ReplaceWebhooks(ctx context.Context, webhooks []petstore.Webhook) error {
	stay := make([]string, len(webhooks))
	batch := &pgx.Batch{}
	for i, w := range webhooks {
		stay[i] = w.ID
		batch.Queue(putWebhook, webhookArgs(w)...)
	}
	batch.Queue(deleteOtherWebhooks, stay)
	return db.writeCopy(ctx, batch)
}
