package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
)

const (
	selectFeed      = "SELECT name, trimmed, last FROM feed"
	selectFeedStats = `
		SELECT name, trimmed, last, bytes - coalesce((SELECT start FROM events ORDER BY first LIMIT 1), bytes), coalesce(waiting.n, 0), waiting.oldest
		FROM feed, (SELECT sum(n)::bigint AS n, min(at) AS oldest FROM event_slips) AS waiting`
	renameFeed = "UPDATE feed SET name = $1 WHERE name <> $1"

	// The oldest rows, and for each of them whether it exceeds what is kept: an age of $1 milliseconds and $2 bytes.
	excessEvents = `
		SELECT first, n, at, record, at <= ` + nowMillis + ` - $1 OR bytes - start > $2
		FROM feed, LATERAL (
			SELECT first, n, at, record, start FROM events
			WHERE start < (SELECT start FROM events ORDER BY first LIMIT 1) + $4
			ORDER BY first LIMIT $3
		) AS oldest
		ORDER BY first`
	removeEvents    = "DELETE FROM events WHERE first = ANY ($1)"
	removeEventPets = `
		DELETE FROM event_pets USING unnest($1::bigint[], $2::bigint[]) AS removed (pet_id, sequence)
		WHERE event_pets.pet_id = removed.pet_id AND event_pets.sequence = removed.sequence`
	raiseTrimmed = "UPDATE feed SET trimmed = greatest(trimmed, $1)"
)

// One call of TrimEvents removes at most trimRows rows, and no further row after trimBytes, so that it does not keep whoever
// numbers waiting.
const (
	trimRows  = 500
	trimBytes = 1 << 20
)

// Feed says which events there are. It numbers first.
func (db *DB) Feed(ctx context.Context) (feed petstore.Feed, err error) {
	if err := db.NumberEvents(ctx); err != nil {
		return feed, err
	}
	err = db.read(detached(ctx), func(ctx context.Context) error {
		return db.pool.QueryRow(ctx, selectFeed).Scan(&feed.Name, &feed.Trimmed, &feed.Last)
	})
	return feed, err
}

// FeedStats returns facts about the feed. Its cost is proportional to the number of slips.
func (db *DB) FeedStats(ctx context.Context) (stats petstore.FeedStats, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		var oldest *int64
		err := db.pool.QueryRow(ctx, selectFeedStats).
			Scan(&stats.Name, &stats.Trimmed, &stats.Last, &stats.Bytes, &stats.Unnumbered, &oldest)
		stats.OldestUnnumbered = fromMillis(oldest)
		return err
	})
	return stats, err
}

// TrimEvents removes old events. It numbers first, and locks the feed only if there are any to remove.
func (db *DB) TrimEvents(ctx context.Context, kept petstore.EventsKept) (removed int64, err error) {
	if err := db.NumberEvents(ctx); err != nil {
		return 0, err
	}
	var old []petstore.StoredEvents
	err = db.read(detached(ctx), func(ctx context.Context) error {
		old, err = queryExcessEvents(ctx, db.pool, kept, 1)
		return err
	})
	if err != nil || len(old) == 0 {
		return 0, err
	}
	err = db.transaction(detached(ctx), func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockFeed); err != nil {
			return err
		}
		old, err := queryExcessEvents(ctx, tx, kept, trimRows)
		if err != nil || len(old) == 0 {
			return err
		}
		batch := &pgx.Batch{}
		if err := queueRemoval(batch, old); err != nil {
			return err
		}
		newest := old[len(old)-1]
		batch.Queue(raiseTrimmed, newest.First+newest.Count-1)
		batch.Queue(trimCheckpoints)
		for _, row := range old {
			removed += row.Count
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}

// queryExcessEvents returns some of the oldest rows, as long as they exceed what is kept.
func queryExcessEvents(ctx context.Context, q querier, kept petstore.EventsKept, limit int) (old []petstore.StoredEvents, err error) {
	rows, err := q.Query(ctx, excessEvents, kept.Age.Milliseconds(), kept.Bytes, limit, trimBytes)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var excess bool
		row, err := scanStoredEvents(rows, &excess)
		if err != nil || !excess {
			return old, err
		}
		old = append(old, row)
	}
	return old, rows.Err()
}

// queueRemoval queues the statements that remove rows from the feed and from the index by animal.
func queueRemoval(batch *pgx.Batch, rows []petstore.StoredEvents) error {
	var pets, sequences []int64
	for _, row := range rows {
		some, at, err := eventPets(row)
		if err != nil {
			return err
		}
		pets, sequences = append(pets, some...), append(sequences, at...)
	}
	batch.Queue(removeEventPets, pets, sequences)
	batch.Queue(removeEvents, ids(rows, func(row petstore.StoredEvents) int64 { return row.First }))
	return nil
}

// eventPets returns the animals of the events of a row, and the sequences of these events.
func eventPets(row petstore.StoredEvents) (pets, sequences []int64, err error) {
	events, err := petstore.ReadEventRecord(row.Record, row.First, row.At)
	for _, e := range events {
		if e.Category == nil {
			pets, sequences = append(pets, e.PetID()), append(sequences, e.Sequence)
		}
	}
	return pets, sequences, err
}

// ResetFeed gives the feed a name that it did not have before, and disables webhooks.
func (db *DB) ResetFeed(ctx context.Context) error {
	if err := db.NumberEvents(ctx); err != nil {
		return err
	}
	return db.transaction(detached(ctx), func(ctx context.Context, tx pgx.Tx) error {
		for renamed := false; !renamed; {
			tag, err := tx.Exec(ctx, renameFeed, petstore.NewFeedName())
			if err != nil {
				return err
			}
			renamed = tag.RowsAffected() > 0
		}
		feed, err := readFeed(ctx, tx)
		if err != nil {
			return err
		}
		return restoreWebhooks(ctx, tx, feed)
	})
}

const storedEventColumns = "SELECT first, n, at, record"

func scanStoredEvents(row pgx.Row, more ...any) (events petstore.StoredEvents, err error) {
	var at int64
	err = row.Scan(append([]any{&events.First, &events.Count, &at, &events.Record}, more...)...)
	events.At = time.UnixMilli(at).UTC()
	return events, err
}

func collectStoredEvents(rows pgx.Rows, _ error) ([]petstore.StoredEvents, error) {
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (petstore.StoredEvents, error) { return scanStoredEvents(row) })
}
