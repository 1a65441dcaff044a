package sqlite

import (
	"context"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	selectOldestCheckpoint = "SELECT sequence, counts FROM event_counts WHERE sequence >= ?1 ORDER BY sequence LIMIT 1"
	selectNewestCheckpoint = "SELECT sequence, counts FROM event_counts ORDER BY sequence DESC LIMIT 1"
	insertCheckpoint       = "INSERT INTO event_counts (sequence, counts) SELECT ?1, ?2 WHERE (SELECT max(sequence) FROM event_counts) IS ?3"
	selectEventsBetween    = selectEvents + `
		WHERE first >= coalesce((SELECT max(first) FROM events WHERE first <= ?1), 0) AND first <= ?2 ORDER BY first`

	// The newest checkpoint stays, because counting goes on from it.
	trimCheckpoints   = "DELETE FROM event_counts WHERE sequence < ?1 AND sequence < (SELECT max(sequence) FROM event_counts)"
	removeCheckpoints = "DELETE FROM event_counts"
)

// countable shows the events of the feed to those who count them.
type countable struct{ conn *sqlite3.Conn }

func (c countable) OldestCheckpoint(from int64) (*petstore.EventCheckpoint, error) {
	return c.checkpoint(selectOldestCheckpoint, from)
}

func (c countable) NewestCheckpoint() (*petstore.EventCheckpoint, error) {
	return c.checkpoint(selectNewestCheckpoint)
}

func (c countable) checkpoint(statement string, args ...any) (found *petstore.EventCheckpoint, err error) {
	var counts string
	err = query(c.conn, func(row *sqlite3.Stmt) {
		found = &petstore.EventCheckpoint{Sequence: row.ColumnInt64(0)}
		counts = row.ColumnText(1)
	}, statement, args...)
	if err != nil || found == nil {
		return nil, err
	}
	found.Counts, err = petstore.ParseEventCounts(counts)
	return found, err
}

func (c countable) EachRecord(first, last int64, visit func(petstore.StoredEvents) error) (err error) {
	queryErr := queryWhile(c.conn, func(row *sqlite3.Stmt) bool {
		err = visit(scanEvents(row))
		return err == nil
	}, selectEventsBetween, first, last)
	if err != nil {
		return err
	}
	return queryErr
}

// countBehind sets the feed of webhooks, and how far they are behind its end.
func countBehind(conn *sqlite3.Conn, webhooks []petstore.Webhook) error {
	feed, err := readFeed(conn)
	if err != nil {
		return err
	}
	for i := range webhooks {
		w := &webhooks[i]
		w.Feed = feed.Name
		if w.Behind, err = petstore.CountAfter(countable{conn}, feed, w.Position, w.EventTypes()); err != nil {
			return err
		}
	}
	return nil
}

// CountEvents stores the checkpoints that are missing. It counts with a reader, and uses the writer only to store.
func (db *DB) CountEvents(ctx context.Context) error {
	for {
		var base, next *petstore.EventCheckpoint
		err := db.readFresh(ctx, func(r *reader) error {
			feed, err := readFeed(r.conn)
			if err != nil {
				return err
			}
			base, next, err = petstore.NextCheckpoint(countable{r.conn}, feed)
			return err
		})
		if err != nil || next == nil {
			return err
		}
		var previous any
		if base != nil {
			previous = base.Sequence
		}
		err = db.write(ctx, func(w *writer) error {
			return run(w.conn, insertCheckpoint, next.Sequence, next.Counts.String(), previous)
		})
		if err != nil {
			return err
		}
	}
}
