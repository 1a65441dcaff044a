package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// distrustful marks a call that checks a connection before it uses it.
type distrustful struct{}

// read does work that changes nothing, within the time a call may take. If its connection breaks, as all of them do when
// the server restarts, it does it once more on a connection that was just checked.
func (db *DB) read(ctx context.Context, work func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := work(ctx)
	if lost(err) {
		err = work(context.WithValue(ctx, distrustful{}, true))
	}
	return failure(err)
}

// write does work in one transaction. Once begun it belongs to no caller, whose going would only break a connection.
// It is never repeated: when its connection breaks, it may have happened.
func (db *DB) write(ctx context.Context, work func(ctx context.Context, tx pgx.Tx) error) error {
	return db.attempt(ctx, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error { return work(ctx, tx) })
	})
}

// attempt is write for work that is a transaction by itself, such as one statement.
func (db *DB) attempt(ctx context.Context, work func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return failure(err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	err := work(ctx)
	if sqlState(err) == readOnlyTransaction {
		db.pool.Reset() // the primary became a standby: look for the new one
	}
	return failure(err)
}
