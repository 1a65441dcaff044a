package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
)

const (
	selectEventsAfter = storedEventColumns + " FROM events WHERE first > $1 ORDER BY first LIMIT $2"
	selectEventsUntil = storedEventColumns + " FROM events WHERE first <= $1"
	// The rows of $1, and those that have a sequence of the $3 events from $2 on.
	selectReplaced = storedEventColumns + `
		FROM events WHERE first = ANY ($1 || ARRAY(
			SELECT old.first FROM unnest($2::bigint[], $3::bigint[]) AS put (first, n), LATERAL (
				SELECT first FROM events
				WHERE first >= coalesce((SELECT first FROM events WHERE first <= put.first ORDER BY first DESC LIMIT 1), put.first)
					AND first < put.first + put.n AND first + n > put.first
			) AS old))`
	copyEvents = `
		INSERT INTO events (first, start, at, n, record)
		SELECT $1, coalesce((SELECT start + octet_length(record) FROM events WHERE first < $1 ORDER BY first DESC LIMIT 1), 0), $2, $3, $4`

	// The source may have gone on while its events were copied, so the events that are there decide.
	replaceFeed = `
		UPDATE feed SET name = $1,
			trimmed = coalesce((SELECT first - 1 FROM events ORDER BY first LIMIT 1), $2),
			last = coalesce((SELECT first + n - 1 FROM events ORDER BY first DESC LIMIT 1), $2),
			bytes = coalesce((SELECT start + octet_length(record) FROM events ORDER BY first DESC LIMIT 1), 0)`
	removeSlips = "DELETE FROM event_slips"
)

// StoredEvents returns records of events as they are stored. It numbers first, so that none is missing.
func (db *DB) StoredEvents(ctx context.Context, after petstore.StoredEvents, limit int) (events []petstore.StoredEvents, err error) {
	if err := db.NumberEvents(ctx); err != nil {
		return nil, err
	}
	err = db.read(detached(ctx), func(ctx context.Context) error {
		events, err = collectStoredEvents(db.pool.Query(ctx, selectEventsAfter, after.First, limit))
		return err
	})
	return events, err
}

// ReplaceEvents stores and removes records of events.
func (db *DB) ReplaceEvents(ctx context.Context, put, remove []petstore.StoredEvents) error {
	return db.copyStep(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockFeed); err != nil {
			return err
		}
		first := func(row petstore.StoredEvents) int64 { return row.First }
		count := func(row petstore.StoredEvents) int64 { return row.Count }
		old, err := collectStoredEvents(tx.Query(ctx, selectReplaced, ids(remove, first), ids(put, first), ids(put, count)))
		if err != nil {
			return err
		}
		batch := &pgx.Batch{}
		batch.Queue(removeCheckpoints)
		if err := queueRemoval(batch, old); err != nil {
			return err
		}
		for _, row := range put {
			pets, sequences, err := eventPets(row)
			if err != nil {
				return err
			}
			batch.Queue(insertEventPets, pets, sequences) // with the creations, because low and high stay unknown
			batch.Queue(copyEvents, row.First, row.At.UnixMilli(), row.Count, row.Record)
		}
		return tx.SendBatch(ctx, batch).Close()
	})
}

// ReplaceFeed stores the name of the feed and which events were trimmed. The source may have trimmed events that were copied.
// The checkpoints are made anew.
func (db *DB) ReplaceFeed(ctx context.Context, feed petstore.Feed) error {
	return db.copyStep(ctx, func(ctx context.Context, tx pgx.Tx) error {
		trimmed, err := collectStoredEvents(tx.Query(ctx, selectEventsUntil, feed.Trimmed))
		if err != nil {
			return err
		}
		batch := &pgx.Batch{}
		if err := queueRemoval(batch, trimmed); err != nil {
			return err
		}
		batch.Queue(removeSlips)
		batch.Queue(removeCheckpoints)
		batch.Queue(replaceFeed, feed.Name, feed.Trimmed)
		return tx.SendBatch(ctx, batch).Close()
	})
}
