package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"petstore/internal/petstore"
)

// The trigger function note_pets, in the migrations, adds to the rows of the table inventory by how much each statement changed
// the number of animals of a status. It leaves out rows that other transactions have locked, so statements never wait for each
// other.
const (
	selectInventory = "SELECT status, sum(delta)::bigint FROM inventory GROUP BY status"

	// The statement replaces deltas with their sums. It skips the deltas that another replica is folding.
	foldInventory = `
		WITH folded AS (
			DELETE FROM inventory WHERE ctid = ANY (ARRAY(SELECT ctid FROM inventory LIMIT $1 FOR UPDATE SKIP LOCKED))
			RETURNING status, delta
		), sums AS (
			INSERT INTO inventory SELECT status, sum(delta) FROM folded GROUP BY status HAVING sum(delta) <> 0
		)
		SELECT count(*) FROM folded`

	countDeltas = "SELECT count(*) FROM (SELECT FROM inventory LIMIT $1) AS few"
)

const (
	// fewDeltas is a limit: folding so few deltas, or fewer, is not worth the cost.
	fewDeltas = 100
	// foldBatchSize is how many deltas one statement folds. The statement must end before its timeout.
	foldBatchSize = 10_000
)

// Inventory runs one query for all callers that arrive at the same time.
func (db *DB) Inventory(ctx context.Context) (petstore.Inventory, error) {
	if err := ctx.Err(); err != nil {
		return petstore.Inventory{}, failure(err)
	}
	all, err := db.inventories.Do(ctx, struct{}{})
	return all, failure(err)
}

// sumInventory adds up the deltas that changes of animals have left. The sums are exact, because one statement sees the
// database at one moment, and folding does not change the sums.
func (db *DB) sumInventory(struct{}) (all petstore.Inventory, err error) {
	err = db.read(context.Background(), func(ctx context.Context) error {
		all = petstore.Inventory{}
		rows, _ := db.pool.Query(ctx, selectInventory)
		var status int16
		var n int64
		_, err := pgx.ForEachRow(rows, []any{&status, &n}, func() error {
			all.Add(petstore.Status(status), n)
			return nil
		})
		return err
	})
	return all, err
}

// foldInventory replaces deltas with their sums if there are many: servers of the previous version append one for each
// statement. New deltas, and deltas that another replica is folding, stay for the next call.
func (db *DB) foldInventory(ctx context.Context) error {
	for folded := foldBatchSize; folded == foldBatchSize; {
		var deltas int
		err := db.read(ctx, func(ctx context.Context) error {
			return db.pool.QueryRow(ctx, countDeltas, fewDeltas+1).Scan(&deltas)
		})
		if err != nil || deltas <= fewDeltas {
			return err
		}
		err = db.write(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
			return conn.QueryRow(ctx, foldInventory, foldBatchSize).Scan(&folded)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
