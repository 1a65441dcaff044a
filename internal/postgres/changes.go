package postgres

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"petstore/internal/petstore"
)

// A change of one animal is one statement if no order is in its way and nobody else has locked the animal. The statement
// skips a locked animal, so it never waits. So any number of changes can share a transaction, in any order, without
// delaying each other. A change that its statement could not make gets a transaction of its own.
const (
	deleteIfFree = `
		WITH free AS (SELECT id FROM pets WHERE id = $1 AND status <> 2 FOR UPDATE SKIP LOCKED)
		DELETE FROM pets USING free WHERE pets.id = free.id
		RETURNING pets.id`

	placeIfFree = `
		WITH free AS (
			SELECT id FROM pets WHERE id = $1 AND status = 1 FOR UPDATE SKIP LOCKED
		), held AS (
			UPDATE pets SET status = 2 FROM free WHERE pets.id = free.id RETURNING pets.id
		)
		INSERT INTO orders (pet_id, status, reference, created_at, expires_at)
		SELECT id, 1, $2, ` + nowMillis + `, ` + nowMillis + ` + $3 FROM held
		RETURNING id, created_at`

	closeIfFree = `
		WITH held AS (
			SELECT pets.id FROM orders JOIN pets ON pets.id = pet_id
			WHERE orders.id = $1 AND orders.status = 1 FOR UPDATE OF pets SKIP LOCKED
		), closed AS (
			UPDATE orders SET status = $2, closed_at = ` + nowMillis + ` FROM held
			WHERE orders.id = $1 AND status = 1 AND expires_at > ` + nowMillis + `
			RETURNING orders.*
		), left_as AS (
			UPDATE pets SET status = $3 FROM closed WHERE pets.id = pet_id
		)
		` + orderColumns + ` FROM closed`
)

// change is a statement that returns a row if it changed something.
type change struct {
	sql  string
	args []any
	scan func(pgx.Row) error
}

// tryChange makes a change, together with all changes that arrive at the same time. It reports whether it made the change.
func (db *DB) tryChange(ctx context.Context, c change) (done bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, failure(err)
	}
	// Once its change is accepted, a caller waits for the result even if ctx ends.
	done, err = db.changes.Do(context.Background(), c)
	if isFaulty(err) {
		return false, nil
	}
	return done, writeFailure(err)
}

// isFaulty reports whether one of the changes in a transaction is faulty, so that each needs a transaction of its own.
func isFaulty(err error) bool {
	state := sqlState(err)
	return state != "" && slices.Contains(programFaults, state[:2])
}

// changeBatch makes changes in one transaction and one round trip.
func (db *DB) changeBatch(changes []change) ([]bool, error) {
	done := make([]bool, len(changes))
	batch := &pgx.Batch{}
	for _, c := range changes {
		batch.Queue(c.sql, c.args...)
	}
	err := db.write(context.Background(), func(ctx context.Context, conn *pgxpool.Conn) error {
		results := conn.SendBatch(ctx, batch)
		for i, c := range changes {
			err := c.scan(results.QueryRow())
			if done[i] = err == nil; err != nil && !errors.Is(err, pgx.ErrNoRows) {
				results.Close()
				return err
			}
		}
		return results.Close()
	})
	return done, err
}

func (db *DB) tryDelete(ctx context.Context, id int64) (done bool, err error) {
	return db.tryChange(ctx, change{deleteIfFree, []any{id}, func(row pgx.Row) error { return row.Scan(&id) }})
}

func (db *DB) tryPlace(ctx context.Context, order petstore.NewOrder) (placed petstore.Order, done bool, err error) {
	done, err = db.tryChange(ctx, change{
		placeIfFree, []any{order.PetID, order.Reference, order.Hold.Milliseconds()},
		func(row pgx.Row) (err error) {
			var id, at int64
			if err := row.Scan(&id, &at); err != nil {
				return err
			}
			placed, err = order.Place(id, petstore.Pet{NewPet: petstore.NewPet{Status: petstore.Available}}, time.UnixMilli(at))
			return err
		},
	})
	return placed, done, err
}

func (db *DB) tryClose(ctx context.Context, id int64, to petstore.OrderStatus) (closed petstore.Order, done bool, err error) {
	done, err = db.tryChange(ctx, change{
		closeIfFree, []any{id, int16(to), int16(to.Leaves())},
		func(row pgx.Row) (err error) { closed, err = scanOrder(row); return err },
	})
	return closed, done, err
}
