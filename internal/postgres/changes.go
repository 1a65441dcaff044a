package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"petstore/internal/petstore"
)

// Changes that arrive together share a transaction, and those of the same kind a statement, so that the triggers run once for
// all of them. A statement makes a change if no order is in its way and nobody else has locked the animal. It skips a locked
// animal, so it never waits. A change that its statement could not make gets a transaction of its own.

// change is a change of one animal or one order.
type change struct {
	*changeKind
	id    int64
	once  *petstore.Idempotency
	patch petstore.PetPatch
	order petstore.NewOrder
	to    petstore.OrderStatus
}

// changeKind says how changes of a kind are made.
type changeKind struct {
	// sql is a statement that returns a row for each change that it made. Its first parameters are the ids, and the owners and
	// keys of idempotency records.
	sql string
	// columns returns the other parameters.
	columns func(changes []change) []any
	// scan reads a row. It returns the id and the answer of the change.
	scan func(row pgx.CollectableRow, find func(id int64) change) (id int64, answer any, err error)
}

// tryChange makes a change, together with all changes that arrive at the same time. It reports whether it made the change.
func tryChange[T any](ctx context.Context, db *DB, c change) (answer T, done bool, err error) {
	if err := ctx.Err(); err != nil {
		return answer, false, failure(err)
	}
	// Once its change is accepted, a caller waits for the result even if ctx ends.
	made, err := db.changes.Do(context.Background(), c)
	if mustSeparate(err) {
		return answer, false, nil
	}
	answer, done = made.(T)
	return answer, done, writeFailure(err)
}

// mustSeparate reports whether a transaction failed because of one of the writes in it, so that each needs a transaction of its
// own.
func mustSeparate(err error) bool { return sqlState(err) == lockNotAvailable || isFaulty(err) }

// changeBatch makes changes in one transaction. It takes one round trip, or two if there are idempotency keys. It returns nil
// for a change that it did not make.
func (db *DB) changeBatch(changes []change) ([]any, error) {
	answers := make([]any, len(changes))
	order := inOrderOfKeys(len(changes), func(i int) *petstore.Idempotency { return changes[i].once })
	batch := &pgx.Batch{}
	for _, round := range changeRounds(changes, order) {
		round.queue(batch, changes, answers)
	}
	keyed := slices.DeleteFunc(order, func(i int) bool { return changes[i].once == nil })
	err := db.write(context.Background(), func(ctx context.Context, conn *pgxpool.Conn) error {
		if len(keyed) == 0 {
			return conn.SendBatch(ctx, batch).Close()
		}
		return sendOnce(ctx, conn, batch, changes, keyed, answers)
	})
	return answers, err
}

// round has the changes of a statement, none of which are of the same animal or order.
type round struct {
	*changeKind
	changes  []change
	position map[int64]int // by the id of the animal or the order
}

// changeRounds divides the changes at these positions into rounds.
func changeRounds(changes []change, positions []int) (rounds []*round) {
	type subject struct {
		kind *changeKind
		id   int64
	}
	type turn struct {
		kind *changeKind
		n    int
	}
	earlier := make(map[subject]int, len(positions)) // how many changes there are so far
	byTurn := map[turn]*round{}
	for _, position := range positions {
		c := changes[position]
		at := turn{c.changeKind, earlier[subject{c.changeKind, c.id}]}
		earlier[subject{c.changeKind, c.id}]++
		r := byTurn[at]
		if r == nil {
			r = &round{changeKind: c.changeKind, position: map[int64]int{}}
			byTurn[at] = r
			rounds = append(rounds, r)
		}
		r.changes, r.position[c.id] = append(r.changes, c), position
	}
	return rounds
}

// queue adds the statement of the round to a batch. Its answers go to the positions of the changes.
func (r *round) queue(batch *pgx.Batch, changes []change, answers []any) {
	keys := keyColumns(column(r.changes, func(c change) *petstore.Idempotency { return c.once }))
	args := []any{column(r.changes, func(c change) int64 { return c.id }), keys[0], keys[1]}
	batch.Queue(r.sql, append(args, r.columns(r.changes)...)...).Query(func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			id, answer, err := r.scan(rows, func(id int64) change { return changes[r.position[id]] })
			if err != nil {
				return err
			}
			answers[r.position[id]] = answer
		}
		return rows.Err()
	})
}

func column[T any](changes []change, of func(change) T) []T {
	values := make([]T, len(changes))
	for i, c := range changes {
		values[i] = of(c)
	}
	return values
}
