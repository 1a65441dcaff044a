package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The method read calls the function work, which changes nothing. A connection breaks, for example, if it was idle while
// the server restarted. In that case read calls the function once more on a new connection. If the caller gives up, the
// function continues, because stopping it would break the connection.
func (db *DB) read(ctx context.Context, work func(ctx context.Context) error) (err error) {
	defer db.watch.Call(false, time.Now(), &err)
	if err := ctx.Err(); err != nil {
		return failure(err)
	}
	end := time.Now().Add(db.timeouts.call)
	if earlier, ok := ctx.Deadline(); ok && earlier.Before(end) {
		end = earlier
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), end)
	defer cancel()
	err = db.try(ctx, work)
	if connectionLost(err) {
		err = db.try(ctx, work)
	}
	return failure(err)
}

// detached returns the context for the next step of a call that has begun. The call continues even if its caller seems to
// have given up: a client that closes only its side of the connection looks the same, and still waits for the answer.
func detached(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }

// The method write calls the function work with a connection. The work must be a single transaction, such as one statement.
// Like read, write continues if the caller gives up. Unlike read, write never calls the function twice: even if the
// connection broke, the work may have taken effect.
func (db *DB) write(ctx context.Context, work func(ctx context.Context, conn *pgxpool.Conn) error) (err error) {
	defer db.watch.Call(true, time.Now(), &err)
	if err := ctx.Err(); err != nil {
		return failure(err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), db.timeouts.call)
	defer cancel()
	return writeFailure(db.try(ctx, func(ctx context.Context) error {
		conn, err := db.pool.Acquire(ctx)
		if err != nil {
			return failure(err)
		}
		defer conn.Release()
		return work(ctx, conn)
	}))
}

// confirmDurable waits, as a commit does, until all visible changes are on the server's disk. If commits wait for a
// standby, confirmDurable also waits until the changes are on the standby. The store must call confirmDurable before it
// answers that a change was already made. The request that made the change may have been cut off while it waited, and a
// failover would then undo the change.
func (db *DB) confirmDurable(ctx context.Context) error {
	return db.write(detached(ctx), func(ctx context.Context, conn *pgxpool.Conn) error {
		_, err := conn.Exec(ctx, "SELECT pg_logical_emit_message(true, 'petstore', '')") // writes a message, so that there is something to commit
		return err
	})
}

// transaction is like write, but for several statements. No statement takes effect before the commit.
func (db *DB) transaction(ctx context.Context, work func(ctx context.Context, tx pgx.Tx) error) error {
	return db.write(ctx, func(ctx context.Context, conn *pgxpool.Conn) error {
		tx, err := conn.Begin(ctx)
		if err != nil {
			return failure(err)
		}
		defer tx.Rollback(ctx) // does nothing after Commit; if Rollback fails, the connection closes, which also undoes the work
		if err := work(ctx, tx); err != nil {
			return failure(err)
		}
		return tx.Commit(ctx)
	})
}

// The method try calls the function work. If the function's error shows that the server is gone, hangs or is no longer the
// primary, try resets all connections.
func (db *DB) try(ctx context.Context, work func(ctx context.Context) error) error {
	err := work(ctx)
	if connectionLost(err) || pgconn.Timeout(err) || sqlState(err) == readOnlyTransaction {
		db.pool.Reset()
	}
	return err
}
