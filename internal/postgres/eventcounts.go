package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
)

// countLock is the advisory lock under which one replica at a time stores checkpoints: "petcount" in ASCII.
const countLock = 0x706574636f756e74

const (
	selectOldestCheckpoint = "SELECT sequence, counts FROM event_counts WHERE sequence >= $1 ORDER BY sequence LIMIT 1"
	selectNewestCheckpoint = "SELECT sequence, counts FROM event_counts ORDER BY sequence DESC LIMIT 1"
	insertCheckpoint       = "INSERT INTO event_counts (sequence, counts) VALUES ($1, $2)"
	selectEventsBetween    = `
		SELECT first, n, record FROM events
		WHERE first >= coalesce((SELECT max(first) FROM events WHERE first <= $1), 0) AND first <= $2 ORDER BY first`

	// The newest checkpoint stays, because counting goes on from it.
	trimCheckpoints   = "DELETE FROM event_counts WHERE sequence < (SELECT trimmed FROM feed) AND sequence < (SELECT max(sequence) FROM event_counts)"
	removeCheckpoints = "DELETE FROM event_counts"
)

// countable shows the events of the feed to those who count them.
type countable struct {
	ctx context.Context
	q   querier
}

func (c countable) OldestCheckpoint(from int64) (*petstore.EventCheckpoint, error) {
	return c.checkpoint(selectOldestCheckpoint, from)
}

func (c countable) NewestCheckpoint() (*petstore.EventCheckpoint, error) {
	return c.checkpoint(selectNewestCheckpoint)
}

func (c countable) checkpoint(statement string, args ...any) (*petstore.EventCheckpoint, error) {
	rows, _ := c.q.Query(c.ctx, statement, args...)
	checkpoint, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (found petstore.EventCheckpoint, err error) {
		var counts string
		if err := row.Scan(&found.Sequence, &counts); err != nil {
			return found, err
		}
		found.Counts, err = petstore.ParseEventCounts(counts)
		return found, err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &checkpoint, err
}

func (c countable) EachRecord(first, last int64, visit func(petstore.StoredEvents) error) error {
	rows, _ := c.q.Query(c.ctx, selectEventsBetween, first, last)
	var r petstore.StoredEvents
	_, err := pgx.ForEachRow(rows, []any{&r.First, &r.Count, &r.Record}, func() error { return visit(r) })
	return err
}

// countBehind sets the feed of webhooks, and how far they are behind its end.
func countBehind(ctx context.Context, q querier, webhooks []petstore.Webhook) error {
	feed, err := readFeed(ctx, q)
	if err != nil {
		return err
	}
	for i := range webhooks {
		w := &webhooks[i]
		w.Feed = feed.Name
		if w.Behind, err = petstore.CountAfter(countable{ctx, q}, feed, w.Position, w.EventTypes()); err != nil {
			return err
		}
	}
	return nil
}

// CountEvents stores the checkpoints that are missing, unless another replica is doing so. Nobody else waits for it.
func (db *DB) CountEvents(ctx context.Context) error {
	for {
		more := false
		err := db.transaction(ctx, func(ctx context.Context, tx pgx.Tx) error {
			var mine bool
			if err := tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1)", int64(countLock)).Scan(&mine); err != nil || !mine {
				return err
			}
			feed, err := readFeed(ctx, tx)
			if err != nil {
				return err
			}
			_, next, err := petstore.NextCheckpoint(countable{ctx, tx}, feed)
			if err != nil || next == nil {
				return err
			}
			more = true
			_, err = tx.Exec(ctx, insertCheckpoint, next.Sequence, next.Counts.String())
			return err
		})
		if err != nil || !more {
			return err
		}
	}
}

func readFeed(ctx context.Context, q querier) (petstore.Feed, error) {
	rows, _ := q.Query(ctx, selectFeed)
	return pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (feed petstore.Feed, err error) {
		err = row.Scan(&feed.Name, &feed.Trimmed, &feed.Last)
		return feed, err
	})
}
