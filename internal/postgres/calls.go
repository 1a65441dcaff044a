package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// read does work that changes nothing. If its connection breaks, as those that were idle do when the server restarts, it
// does it once more on a new one.
func (db *DB) read(ctx context.Context, work func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := db.try(ctx, work)
	if lost(err) {
		err = db.try(ctx, work)
	}
	return failure(err)
}

// write does work that is a transaction by itself, such as one statement. Once begun it belongs to no caller, whose going
// would only break a connection. It is never repeated: when its connection breaks, it may have happened.
func (db *DB) write(ctx context.Context, work func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return failure(err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return failure(db.try(ctx, work))
}

// transaction is write for work of several statements.
func (db *DB) transaction(ctx context.Context, work func(ctx context.Context, tx pgx.Tx) error) error {
	return db.write(ctx, func(ctx context.Context) error {
		return pgx.BeginFunc(ctx, db.pool, func(tx pgx.Tx) error { return work(ctx, tx) })
	})
}

// try has all connections made anew if work shows that the server is gone, hangs or is no longer the primary.
func (db *DB) try(ctx context.Context, work func(ctx context.Context) error) error {
	err := work(ctx)
	if lost(err) || pgconn.Timeout(err) || sqlState(err) == readOnlyTransaction {
		db.pool.Reset()
	}
	return err
}
