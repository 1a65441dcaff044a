package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"petstore/internal/petstore"
)

const (
	selectInventory = "SELECT status, sum(delta)::bigint FROM inventory GROUP BY status"

	// Each delta is folded by one replica only: it passes over those that another one is folding.
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
	// fewDeltas are not worth folding.
	fewDeltas = 100
	// foldStep is how many are folded in one statement, which must end before the statement timeout.
	foldStep = 10_000
)

// Inventory shares one query among all who ask at the same time.
func (db *DB) Inventory(ctx context.Context) (petstore.Inventory, error) {
	if err := ctx.Err(); err != nil {
		return petstore.Inventory{}, failure(err)
	}
	all, err := db.counts.Do(ctx, struct{}{})
	return all, failure(err)
}

// count adds up what every change of animals has left. One statement sees one moment, and folds leave the sums as they are.
func (db *DB) count(struct{}) (all petstore.Inventory, err error) {
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

// foldInventory keeps the deltas few, so that counting animals costs the same whatever their number. It leaves those that
// come meanwhile, and those that another replica is folding, to the next time.
func (db *DB) foldInventory(ctx context.Context) error {
	for folded := foldStep; folded == foldStep; {
		var deltas int
		err := db.read(ctx, func(ctx context.Context) error {
			return db.pool.QueryRow(ctx, countDeltas, fewDeltas+1).Scan(&deltas)
		})
		if err != nil || deltas <= fewDeltas {
			return err
		}
		err = db.write(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
			return conn.QueryRow(ctx, foldInventory, foldStep).Scan(&folded)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
