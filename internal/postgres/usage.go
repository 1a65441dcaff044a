package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/petstore"
)

const (
	// The table has the index (hour, owner), so that the rows that are added to are side by side, however many owners there
	// are. So this query looks up each hour; the inner LIMIT keeps PostgreSQL from reading all hours of all owners instead.
	selectUsage = `
		WITH hours AS (
			SELECT hour FROM generate_series(greatest($2, (` + nowMillis + ` - $3) / 3600000 * 3600000), (SELECT max(hour) FROM usage), 3600000) AS hour
			LIMIT $3 / 3600000 + 1
		)
		SELECT hour, passed, refused FROM hours
		CROSS JOIN LATERAL (SELECT passed, refused FROM usage WHERE usage.hour = hours.hour AND owner = $1 LIMIT 1) AS used
		ORDER BY hour`

	insertUsage = `
		INSERT INTO usage (hour, owner, passed, refused)
		SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[])
		ON CONFLICT (hour, owner) DO UPDATE SET `
	addUsage  = insertUsage + "passed = usage.passed + excluded.passed, refused = usage.refused + excluded.refused"
	copyUsage = insertUsage + "passed = excluded.passed, refused = excluded.refused"

	selectStoredUsage = "SELECT hour, owner, passed, refused FROM usage WHERE (hour, owner) > ($1, $2) ORDER BY hour, owner LIMIT $3"
	removeUsage       = "DELETE FROM usage WHERE (hour, owner) IN (SELECT * FROM unnest($1::bigint[], $2::text[]))"

	purgeUsage = `
		DELETE FROM usage WHERE (hour, owner) IN (
			SELECT hour, owner FROM usage WHERE hour < coalesce($1, ` + nowMillis + ` - $3) LIMIT $2 FOR UPDATE SKIP LOCKED
		)`
)

// Usage returns the usage of an owner by hour.
func (db *DB) Usage(ctx context.Context, owner string, since time.Time) (usage []petstore.Usage, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		rows, _ := db.pool.Query(ctx, selectUsage, owner, since.Truncate(time.Hour).UnixMilli(), petstore.UsageKept.Milliseconds())
		usage, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (u petstore.Usage, err error) {
			var hour int64
			err = row.Scan(&hour, &u.Passed, &u.Refused)
			u.Hour = fromMillis(&hour)
			return u, err
		})
		return err
	})
	return usage, err
}

// AddUsage adds usage in one statement. The rows are sorted, because two replicas that lock rows in opposite orders would
// deadlock.
func (db *DB) AddUsage(ctx context.Context, added []petstore.OwnerUsage, idempotency *petstore.Idempotency) (replayed bool, err error) {
	added = slices.SortedFunc(slices.Values(added), func(a, b petstore.OwnerUsage) int {
		return cmp.Or(a.Hour.Compare(b.Hour), cmp.Compare(a.Owner, b.Owner))
	})
	rows := usageColumns(added)
	_, replayed, err = doOnce(ctx, db, idempotency, func(ctx context.Context, tx pgx.Tx) (struct{}, error) {
		_, err := tx.Exec(ctx, addUsage, rows...)
		return struct{}{}, err
	})
	return replayed, err
}

// usageColumns returns the columns of usage as arguments for addUsage and copyUsage.
func usageColumns(usage []petstore.OwnerUsage) []any {
	hours, owners := make([]int64, len(usage)), make([]string, len(usage))
	passed, refused := make([]int64, len(usage)), make([]int64, len(usage))
	for i, u := range usage {
		hours[i], owners[i], passed[i], refused[i] = u.Hour.UnixMilli(), u.Owner, u.Passed, u.Refused
	}
	return []any{hours, owners, passed, refused}
}

// PurgeUsage deletes old usage, purgeBatchSize records at a time.
func (db *DB) PurgeUsage(ctx context.Context, before time.Time) (int64, error) {
	return db.purge(ctx, purgeUsage, before, petstore.UsageKept)
}

// StoredUsage returns usage as it is stored.
func (db *DB) StoredUsage(ctx context.Context, after petstore.OwnerUsage, limit int) (usage []petstore.OwnerUsage, err error) {
	err = db.read(ctx, func(ctx context.Context) error {
		rows, _ := db.pool.Query(ctx, selectStoredUsage, after.Hour.UnixMilli(), after.Owner, limit)
		usage, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (u petstore.OwnerUsage, err error) {
			var hour int64
			err = row.Scan(&hour, &u.Owner, &u.Passed, &u.Refused)
			u.Hour = fromMillis(&hour)
			return u, err
		})
		return err
	})
	return usage, err
}

// ReplaceUsage stores and removes usage.
func (db *DB) ReplaceUsage(ctx context.Context, put, remove []petstore.OwnerUsage) error {
	batch := &pgx.Batch{}
	batch.Queue(removeUsage, usageColumns(remove)[:2]...)
	batch.Queue(copyUsage, usageColumns(put)...)
	return db.writeCopy(ctx, batch)
}
