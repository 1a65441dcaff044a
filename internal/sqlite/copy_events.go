package sqlite

import (
	"context"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	selectEventsAfter = selectEvents + " WHERE first > ?1 ORDER BY first LIMIT ?2"
	selectOverlapping = selectEvents + " WHERE first < ?1 + ?2 AND first >= coalesce((SELECT max(first) FROM events WHERE first <= ?1 AND first + n > ?1), ?1)"
	selectRow         = selectEvents + " WHERE first = ?1"
	selectEventsUntil = selectEvents + " WHERE first + n - 1 <= ?1"
	copyEvents        = `
		INSERT INTO events (first, n, at, high, start, record)
		SELECT ?1, ?2, ?3, coalesce(max(high), 0), coalesce(max(start + octet_length(record)), 0), ?4
		FROM events WHERE first = (SELECT max(first) FROM events WHERE first < ?1)`
	replaceFeed = "UPDATE feed SET name = ?1, trimmed = ?2"
)

// StoredEvents returns records of events as they are stored.
func (db *DB) StoredEvents(ctx context.Context, after petstore.StoredEvents, limit int) (events []petstore.StoredEvents, err error) {
	err = db.read(ctx, func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) { events = append(events, scanEvents(row)) }, selectEventsAfter, after.First, limit)
	})
	return events, err
}

// ReplaceEvents stores and removes records of events.
func (db *DB) ReplaceEvents(ctx context.Context, put, remove []petstore.StoredEvents) error {
	return db.writeCopy(ctx, func(w *writer) error {
		if err := run(w.conn, removeCheckpoints); err != nil {
			return err
		}
		for _, row := range remove {
			if err := w.removeEventRows(selectRow, row.First); err != nil {
				return err
			}
		}
		for _, row := range put {
			if err := w.removeEventRows(selectOverlapping, row.First, row.Count); err != nil {
				return err
			}
			if err := w.copyEvents(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// removeEventRows removes the rows that a query returns.
func (w *writer) removeEventRows(statement string, args ...any) error {
	var rows []petstore.StoredEvents
	if err := query(w.conn, func(row *sqlite3.Stmt) { rows = append(rows, scanEvents(row)) }, statement, args...); err != nil {
		return err
	}
	for _, row := range rows {
		if err := w.removeEvents(row); err != nil {
			return err
		}
	}
	return nil
}

// copyEvents stores a record of events. It adds even the creations to the index by animal: in the feed of PostgreSQL, the
// ids of created animals need not ascend.
func (w *writer) copyEvents(row petstore.StoredEvents) error {
	events, err := petstore.ReadEventRecord(row.Record, row.First, row.At)
	if err != nil {
		return err
	}
	for _, e := range events {
		if e.Category != nil {
			continue
		}
		if err := w.indexEvent(e.PetID(), e.Sequence); err != nil {
			return err
		}
	}
	return run(w.conn, copyEvents, row.First, row.Count, row.At.UnixMilli(), row.Record)
}

// ReplaceFeed stores the name of the feed and which events were trimmed. The source may have trimmed events that were copied.
// The checkpoints are made anew.
func (db *DB) ReplaceFeed(ctx context.Context, feed petstore.Feed) error {
	return db.writeCopy(ctx, func(w *writer) error {
		if err := w.removeEventRows(selectEventsUntil, feed.Trimmed); err != nil {
			return err
		}
		if err := run(w.conn, removeCheckpoints); err != nil {
			return err
		}
		return run(w.conn, replaceFeed, feed.Name, feed.Trimmed)
	})
}
