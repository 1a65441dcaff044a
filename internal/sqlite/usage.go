package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
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
	insertUsage       = "INSERT INTO usage (hour, owner, passed, refused) VALUES (?, ?, ?, ?)"
	orAddUsage        = " ON CONFLICT (hour, owner) DO UPDATE SET passed = passed + excluded.passed, refused = refused + excluded.refused"
	selectStoredUsage = "SELECT hour, owner, passed, refused FROM usage WHERE (hour, owner) > (?1, ?2) ORDER BY hour, owner LIMIT ?3"
	putUsage          = "INSERT OR REPLACE INTO usage (hour, owner, passed, refused) VALUES (?1, ?2, ?3, ?4)"
	removeUsage       = "DELETE FROM usage WHERE hour = ?1 AND owner = ?2"

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

// usageBatchSize is how many records one transaction adds. Other changes need not wait for all of them.
const usageBatchSize = 500

// AddUsage adds usage, usageBatchSize records at a time, each time under an idempotency key of its own. The records are
// sorted, because neighbors in the table take half the time. AddUsage does not change the version of the store, because no
// animal changes.
func (db *DB) AddUsage(ctx context.Context, added []petstore.OwnerUsage, idempotency *petstore.Idempotency) (replayed bool, err error) {
	sorted := slices.Clone(added)
	slices.SortFunc(sorted, func(a, b petstore.OwnerUsage) int {
		return cmp.Or(a.Hour.Compare(b.Hour), cmp.Compare(a.Owner, b.Owner))
	})
	idempotency = db.timed(idempotency)
	for first := 0; first < len(sorted) && err == nil; first += usageBatchSize {
		step := idempotency
		if first > 0 && idempotency != nil {
			step = new(*idempotency)
			step.Key = fmt.Sprint(idempotency.Key, " from ", first)
		}
		err = db.write(ctx, func(w *writer) (err error) {
			_, replayed, err = recallOrDo(w, step, func(w *writer) (struct{}, error) {
				return struct{}{}, w.addUsage(sorted[first:min(first+usageBatchSize, len(sorted))])
			})
			return err
		})
	}
	return replayed && err == nil, err
}

// usageRows is how many records one statement adds, which takes less time than a statement each.
const usageRows = 100

var (
	addUsage     = insertUsage + orAddUsage
	addMoreUsage = insertUsage + strings.Repeat(", (?, ?, ?, ?)", usageRows-1) + orAddUsage
)

func (w *writer) addUsage(added []petstore.OwnerUsage) error {
	values := make([]any, 0, 4*usageRows)
	for len(added) > 0 {
		statement, rows := addUsage, 1
		if len(added) >= usageRows {
			statement, rows = addMoreUsage, usageRows
		}
		values = values[:0]
		for _, u := range added[:rows] {
			values = append(values, u.Hour.UnixMilli(), u.Owner, u.Passed, u.Refused)
		}
		if err := run(w.conn, statement, values...); err != nil {
			return err
		}
		added = added[rows:]
	}
	return nil
}

// PurgeUsage deletes old usage, purgeBatchSize records at a time.
func (db *DB) PurgeUsage(ctx context.Context, before time.Time) (int64, error) {
	if before.IsZero() {
		before = db.now().Add(-petstore.UsageKept)
	}
	return db.purge(ctx, purgeUsage, before)
}

// StoredUsage returns usage as it is stored.
func (db *DB) StoredUsage(ctx context.Context, after petstore.OwnerUsage, limit int) (usage []petstore.OwnerUsage, err error) {
	err = db.read(ctx, func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) {
			usage = append(usage, petstore.OwnerUsage{
				Owner: row.ColumnText(1),
				Usage: petstore.Usage{Hour: columnTime(row, 0), Passed: row.ColumnInt64(2), Refused: row.ColumnInt64(3)},
			})
		}, selectStoredUsage, after.Hour.UnixMilli(), after.Owner, limit)
	})
	return usage, err
}

// ReplaceUsage stores and removes usage.
func (db *DB) ReplaceUsage(ctx context.Context, put, remove []petstore.OwnerUsage) error {
	return db.writeCopy(ctx, func(w *writer) error {
		for _, u := range remove {
			if err := run(w.conn, removeUsage, u.Hour.UnixMilli(), u.Owner); err != nil {
				return err
			}
		}
		for _, u := range put {
			if err := run(w.conn, putUsage, u.Hour.UnixMilli(), u.Owner, u.Passed, u.Refused); err != nil {
				return err
			}
		}
		return nil
	})
}
