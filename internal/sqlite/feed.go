package sqlite

import (
	"context"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	// octet_length does not read the record.
	selectEndOfFeed  = "SELECT first + n, high, start + octet_length(record) FROM events ORDER BY first DESC LIMIT 1"
	selectOldestRows = "SELECT first, n, at, record, start FROM events ORDER BY first LIMIT ?1"
	selectKeptBytes  = `
		SELECT (SELECT start + octet_length(record) FROM events ORDER BY first DESC LIMIT 1) - (SELECT start FROM events ORDER BY first LIMIT 1)`
	removeEvents = "DELETE FROM events WHERE first = ?1"
	unindexEvent = "DELETE FROM event_pets WHERE pet_id = ?1 AND sequence = ?2"
	raiseTrimmed = "UPDATE feed SET trimmed = max(trimmed, ?1)"
	renameFeed   = "UPDATE feed SET name = ?1"
)

// One call of TrimEvents removes at most trimRows rows, and at most one that goes beyond trimBytes. Other changes need not
// wait for all that is too old.
const (
	trimRows  = 200
	trimBytes = 64 << 10
)

// Feed says which events there are.
func (db *DB) Feed(ctx context.Context) (feed petstore.Feed, err error) {
	err = db.read(ctx, func(conn *sqlite3.Conn) (err error) {
		feed, err = readFeed(conn)
		return err
	})
	return feed, err
}

// FeedStats returns facts about the feed. Every event that is committed has its number.
func (db *DB) FeedStats(ctx context.Context) (stats petstore.FeedStats, err error) {
	err = db.readFresh(ctx, func(r *reader) (err error) {
		if stats.Feed, err = readFeed(r.conn); err != nil {
			return err
		}
		return query(r.conn, func(row *sqlite3.Stmt) { stats.Bytes = row.ColumnInt64(0) }, selectKeptBytes)
	})
	return stats, err
}

// NumberEvents does nothing, because the writer numbers the events of each commit.
func (db *DB) NumberEvents(context.Context) error { return nil }

// TrimEvents removes old events. It looks for them with a reader, and uses the writer only if there are any.
func (db *DB) TrimEvents(ctx context.Context, kept petstore.EventsKept) (removed int64, err error) {
	var old []petstore.StoredEvents
	oldest := db.now().Add(-kept.Age)
	err = db.readFresh(ctx, func(r *reader) (err error) {
		old, err = excessEvents(r.conn, oldest, kept.Bytes, 1)
		return err
	})
	if err != nil || len(old) == 0 {
		return 0, err
	}
	err = db.write(ctx, func(w *writer) error {
		old, err := excessEvents(w.conn, oldest, kept.Bytes, trimRows)
		if err != nil {
			return err
		}
		for _, row := range old {
			if err := w.removeEvents(row); err != nil {
				return err
			}
			removed += row.Count
			if err := run(w.conn, raiseTrimmed, row.First+row.Count-1); err != nil {
				return err
			}
		}
		feed, err := readFeed(w.conn)
		if err != nil {
			return err
		}
		return run(w.conn, trimCheckpoints, feed.Trimmed)
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}

// excessEvents returns some of the oldest rows, at most limit, if they are not younger than the given time, or as long as the
// feed has too many bytes.
func excessEvents(conn *sqlite3.Conn, oldest time.Time, bytes int64, limit int) (rows []petstore.StoredEvents, err error) {
	var end int64
	if err := query(conn, func(row *sqlite3.Stmt) { end = row.ColumnInt64(2) }, selectEndOfFeed); err != nil {
		return nil, err
	}
	size := 0
	err = queryWhile(conn, func(stmt *sqlite3.Stmt) bool {
		row := scanEvents(stmt)
		if row.At.After(oldest) && end-stmt.ColumnInt64(4) <= bytes {
			return false
		}
		rows = append(rows, row)
		size += len(row.Record)
		return size < trimBytes
	}, selectOldestRows, limit)
	return rows, err
}

// removeEvents removes a row from the feed and from the index by animal.
func (w *writer) removeEvents(row petstore.StoredEvents) error {
	events, err := petstore.ReadEventRecord(row.Record, row.First, row.At)
	if err != nil {
		return err
	}
	for _, e := range events {
		if e.Category != nil {
			continue
		}
		if err := run(w.conn, unindexEvent, e.PetID(), e.Sequence); err != nil {
			return err
		}
	}
	return run(w.conn, removeEvents, row.First)
}

// ResetFeed gives the feed a new name and disables webhooks.
func (db *DB) ResetFeed(ctx context.Context) error {
	return db.write(ctx, func(w *writer) error { return resetFeed(w.conn) })
}

// resetFeed gives the feed a name that it did not have before, so that every position of before is gone.
func resetFeed(conn *sqlite3.Conn) error {
	feed, err := readFeed(conn)
	if err != nil {
		return err
	}
	name := petstore.NewFeedName()
	for name == feed.Name {
		name = petstore.NewFeedName()
	}
	if err := run(conn, renameFeed, name); err != nil {
		return err
	}
	return restoreWebhooks(conn, feed)
}
