package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"petstore/internal/petstore"
)

// AddUsage appends to the table usage_added: some owners of one hour in each row. Every minute, PurgeUsage folds these rows
// into the table usage. Every query adds up both tables, so nobody sees whether usage is folded.
const (
	// The table usage has the index (hour, owner), so that the rows that are added to are side by side, however many owners
	// there are. So this query looks up each hour; the inner LIMIT keeps PostgreSQL from reading all hours of all owners instead.
	selectUsage = `
		WITH oldest AS (
			SELECT greatest($2, (` + nowMillis + ` - $3) / 3600000 * 3600000) AS hour
		), hours AS (
			SELECT series.hour FROM oldest, generate_series(oldest.hour, (SELECT max(hour) FROM usage), 3600000) AS series (hour)
			LIMIT $3 / 3600000 + 1
		)
		SELECT hour, sum(passed)::bigint, sum(refused)::bigint FROM (
			SELECT hour, passed, refused FROM hours
			CROSS JOIN LATERAL (SELECT passed, refused FROM usage WHERE usage.hour = hours.hour AND owner = $1 LIMIT 1) AS folded
			UNION ALL
			SELECT added.hour, one.passed, one.refused FROM oldest, usage_added AS added, ` + unnestAdded + `
			WHERE added.hour BETWEEN oldest.hour AND oldest.hour + $3 AND $1 BETWEEN first_owner AND last_owner AND one.owner = $1
		) AS used
		GROUP BY hour ORDER BY hour`

	unnestAdded = "unnest(added.owners, added.passed, added.refused) AS one (owner, passed, refused)"

	addUsage = "INSERT INTO usage_added (hour, first_owner, last_owner, owners, passed, refused) VALUES ($1, $2, $3, $4, $5, $6)"

	// The statement skips the rows that another replica is folding. Two replicas that lock rows of the table usage in opposite
	// orders would deadlock, so the statement orders them.
	foldUsage = `
		WITH added AS (
			DELETE FROM usage_added WHERE ctid = ANY (ARRAY(
				SELECT ctid FROM usage_added ORDER BY hour, last_owner, id LIMIT $1 FOR UPDATE SKIP LOCKED
			))
			RETURNING hour, owners, passed, refused
		), sums AS (
			INSERT INTO usage (hour, owner, passed, refused)
			SELECT hour, owner, sum(one.passed), sum(one.refused) FROM added, ` + unnestAdded + `
			GROUP BY hour, owner ORDER BY hour, owner
			ON CONFLICT (hour, owner) DO UPDATE SET passed = usage.passed + excluded.passed, refused = usage.refused + excluded.refused
		)
		SELECT count(*) FROM added`

	// If the table usage alone fills the page, the page ends with its last row or earlier, so that later hours are not read.
	selectStoredUsage = `
		WITH folded AS (
			SELECT hour, owner, passed, refused FROM usage WHERE (hour, owner) > ($1, $2) ORDER BY hour, owner LIMIT $3
		)
		SELECT hour, owner, sum(passed)::bigint, sum(refused)::bigint FROM (
			SELECT * FROM folded
			UNION ALL
			SELECT added.hour, one.owner, one.passed, one.refused FROM usage_added AS added, ` + unnestAdded + `
			WHERE (added.hour, last_owner) > ($1, $2) AND (added.hour, one.owner) > ($1, $2)
				AND added.hour <= (SELECT CASE WHEN count(*) = $3 THEN max(hour) ELSE 9223372036854775807 END FROM folded)
		) AS used
		GROUP BY hour, owner ORDER BY hour, owner LIMIT $3`

	copyUsage = `
		INSERT INTO usage (hour, owner, passed, refused)
		SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[])
		ON CONFLICT (hour, owner) DO UPDATE SET passed = excluded.passed, refused = excluded.refused`
	removeUsage = "DELETE FROM usage WHERE (hour, owner) IN (SELECT * FROM unnest($1::bigint[], $2::text[]))"

	purgeUsage = `
		DELETE FROM usage WHERE (hour, owner) IN (
			SELECT hour, owner FROM usage WHERE hour < coalesce($1, ` + nowMillis + ` - $3) LIMIT $2 FOR UPDATE SKIP LOCKED
		)`
)

const (
	// addedOwners is how many owners a row of usage_added has at most. To return the usage of one owner, a query unpacks one row
	// of each addition.
	addedOwners = 200
	// foldUsageSize is how many rows of usage_added one statement folds. The statement must end before its timeout.
	foldUsageSize = 50
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

// AddUsage appends usage to the table usage_added, so replicas never wait for each other.
func (db *DB) AddUsage(ctx context.Context, added []petstore.OwnerUsage, idempotency *petstore.Idempotency) (replayed bool, err error) {
	sorted := slices.Clone(added)
	slices.SortFunc(sorted, func(a, b petstore.OwnerUsage) int {
		return cmp.Or(a.Hour.Compare(b.Hour), cmp.Compare(a.Owner, b.Owner))
	})
	_, replayed, err = doOnce(ctx, db, idempotency, func(ctx context.Context, tx pgx.Tx) (none struct{}, err error) {
		batch := &pgx.Batch{}
		for rest := sorted; len(rest) > 0; {
			n := 1
			for n < min(addedOwners, len(rest)) && rest[n].Hour.Equal(rest[0].Hour) {
				n++
			}
			row := []any{rest[0].Hour.UnixMilli(), rest[0].Owner, rest[n-1].Owner}
			batch.Queue(addUsage, append(row, usageColumns(rest[:n])[1:]...)...)
			rest = rest[n:]
		}
		return none, tx.SendBatch(ctx, batch).Close()
	})
	return replayed, err
}

// usageColumns returns the columns of usage as arguments: the hours, the owners, and how many requests passed and were
// refused.
func usageColumns(usage []petstore.OwnerUsage) []any {
	hours, owners := make([]int64, len(usage)), make([]string, len(usage))
	passed, refused := make([]int64, len(usage)), make([]int64, len(usage))
	for i, u := range usage {
		hours[i], owners[i], passed[i], refused[i] = u.Hour.UnixMilli(), u.Owner, u.Passed, u.Refused
	}
	return []any{hours, owners, passed, refused}
}

// foldUsage moves what flushes have added to the table usage. New rows, and rows that another replica is folding, stay for
// the next call. If there is nothing to fold, it writes nothing.
func (db *DB) foldUsage(ctx context.Context) error {
	for folded := foldUsageSize; folded == foldUsageSize; {
		err := db.write(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
			return conn.QueryRow(ctx, foldUsage, foldUsageSize).Scan(&folded)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// PurgeUsage folds the usage, and then deletes what is old, purgeBatchSize records at a time.
func (db *DB) PurgeUsage(ctx context.Context, before time.Time) (int64, error) {
	if err := db.foldUsage(ctx); err != nil {
		return 0, err
	}
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

// ReplaceUsage folds the usage, and then stores and removes usage.
func (db *DB) ReplaceUsage(ctx context.Context, put, remove []petstore.OwnerUsage) error {
	if err := db.foldUsage(ctx); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	batch.Queue(removeUsage, usageColumns(remove)[:2]...)
	batch.Queue(copyUsage, usageColumns(put)...)
	return db.writeCopy(ctx, batch)
}
