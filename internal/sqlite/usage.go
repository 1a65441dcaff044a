package sqlite

import (
	"context"
	"encoding/json"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	// The table is in the order of the hours, so that adding usage changes only a few pages, however many owners there are.
	// So this query looks up each hour.
	selectUsage = `
		WITH RECURSIVE hours (hour) AS (
			SELECT ?2 UNION ALL SELECT hour + 3600000 FROM hours WHERE hour < (SELECT max(hour) FROM usage) LIMIT ?3
		)
		SELECT hour, passed, refused FROM hours CROSS JOIN usage USING (hour) WHERE owner = ?1 ORDER BY hour`
	addUsage = `
		INSERT INTO usage (hour, owner, passed, refused)
		SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?1) WHERE true
		ON CONFLICT (hour, owner) DO UPDATE SET passed = passed + excluded.passed, refused = refused + excluded.refused`
	purgeUsage = "DELETE FROM usage WHERE (hour, owner) IN (SELECT hour, owner FROM usage WHERE hour < ?1 LIMIT ?2)"
)

// Usage returns the usage of an owner by hour.
func (db *DB) Usage(ctx context.Context, owner string, since time.Time) (usage []petstore.Usage, err error) {
	if oldest := db.now().Add(-petstore.UsageKept); since.Before(oldest) {
		since = oldest
	}
	err = db.read(ctx, func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) {
			usage = append(usage, petstore.Usage{Hour: columnTime(row, 0), Passed: row.ColumnInt64(1), Refused: row.ColumnInt64(2)})
		}, selectUsage, owner, since.Truncate(time.Hour).UnixMilli(), petstore.UsageKept/time.Hour+1)
	})
	return usage, err
}

// AddUsage adds usage in one statement. It does not change the version of the store, because no animal changes.
func (db *DB) AddUsage(ctx context.Context, added []petstore.OwnerUsage, idempotency *petstore.Idempotency) (replayed bool, err error) {
	rows := make([][4]any, len(added))
	for i, u := range added {
		rows[i] = [4]any{u.Hour.UnixMilli(), u.Owner, u.Passed, u.Refused}
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return false, err
	}
	idempotency = db.timed(idempotency)
	err = db.write(ctx, func(w *writer) (err error) {
		_, replayed, err = recallOrDo(w, idempotency, func(w *writer) (struct{}, error) { return struct{}{}, run(w.conn, addUsage, string(text)) })
		return err
	})
	return replayed && err == nil, err
}

// PurgeUsage deletes old usage, purgeBatchSize records at a time.
func (db *DB) PurgeUsage(ctx context.Context, before time.Time) (int64, error) {
	if before.IsZero() {
		before = db.now().Add(-petstore.UsageKept)
	}
	return db.purge(ctx, purgeUsage, before)
}
