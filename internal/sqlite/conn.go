package sqlite

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// busyTimeout is how long to wait while another process has the database locked.
const busyTimeout = 10 * time.Second

// openConn opens one connection to a database that other processes may be using. The method release of the returned DB
// closes the connection.
func openConn(cfg Config) (*DB, *sqlite3.Conn, error) {
	path, err := locate(cfg)
	if err != nil {
		return nil, nil, err
	}
	db := new(DB)
	conn, err := db.connect(path, false)
	if err != nil {
		return nil, nil, refusal(cfg.Path, err)
	}
	return db, conn, nil
}

// connect opens one more connection to the database. The method release closes the connection.
func (db *DB) connect(path string, create bool) (*sqlite3.Conn, error) {
	flags := sqlite3.OpenReadWrite
	if create {
		file := followLinks(path)
		if err := checkLeftovers(file); err != nil {
			return nil, err
		}
		createPrivate(file)
		flags |= sqlite3.OpenCreate
	}
	conn, err := sqlite3.OpenConn(path, flags)
	if err != nil {
		return nil, err
	}
	db.conns = append(db.conns, conn)
	conn.SetBusyTimeout(busyTimeout)
	return conn, nil
}

// retryWhileBusy repeats f while another process has the database locked. SQLite can wait by itself, but its pauses between
// two attempts grow to a tenth of a second. Beside a server that writes all the time, every attempt might miss the short
// moment between two transactions.
func retryWhileBusy(ctx context.Context, conn *sqlite3.Conn, f func() error) error {
	conn.SetBusyTimeout(0)
	defer conn.SetBusyTimeout(busyTimeout)
	for deadline := time.Now().Add(busyTimeout); ; {
		err := f()
		if sqlite3.ErrCode(err).ToPrimary() != sqlite3.ResultBusy || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100*time.Microsecond + rand.N(time.Millisecond)):
		}
	}
}

// transaction calls the function work in one transaction. Nobody else writes during the transaction. After a commitError,
// the changes may or may not be stored. After any other error, no change is stored.
func transaction(ctx context.Context, conn *sqlite3.Conn, work func() error) error {
	return transactionWith(ctx, conn, work, func() error { return run(conn, "COMMIT") })
}

// transactionWith is like transaction, but calls the function commit to end the transaction.
func transactionWith(ctx context.Context, conn *sqlite3.Conn, work, commit func() error) error {
	if err := retryWhileBusy(ctx, conn, func() error { return run(conn, "BEGIN IMMEDIATE") }); err != nil {
		return err
	}
	defer func() {
		if !conn.AutocommitEnabled() {
			run(conn, "ROLLBACK") // if ROLLBACK fails, the next BEGIN fails too and reports the problem
		}
	}()
	if err := work(); err != nil {
		return err
	}
	if err := commit(); err != nil {
		return commitError{err}
	}
	return nil
}

// run executes one statement and ignores its rows. The connection keeps the prepared statement for the next call.
func run(conn *sqlite3.Conn, sql string, args ...any) error {
	return sqlitex.Execute(conn, sql, &sqlitex.ExecOptions{Args: args})
}

// pragmaValue executes a PRAGMA and returns the value that the PRAGMA has afterwards.
func pragmaValue(conn *sqlite3.Conn, pragma string) (value string, err error) {
	err = query(conn, func(row *sqlite3.Stmt) { value = row.ColumnText(0) }, pragma)
	return value, err
}

// query executes one statement and calls the function row for each of its rows. The connection keeps the prepared statement
// for the next call.
func query(conn *sqlite3.Conn, row func(*sqlite3.Stmt), sql string, args ...any) error {
	return sqlitex.Execute(conn, sql, &sqlitex.ExecOptions{
		Args:       args,
		ResultFunc: func(stmt *sqlite3.Stmt) error { row(stmt); return nil },
	})
}

// queryWhile is like query, but ends when the function row returns false.
func queryWhile(conn *sqlite3.Conn, row func(*sqlite3.Stmt) (more bool), sql string, args ...any) error {
	ended := false
	err := sqlitex.Execute(conn, sql, &sqlitex.ExecOptions{
		Args: args,
		ResultFunc: func(stmt *sqlite3.Stmt) error {
			if ended = !row(stmt); ended {
				return errors.New("no more rows are needed")
			}
			return nil
		},
	})
	if ended {
		return nil
	}
	return err
}

func prepare(conn *sqlite3.Conn, stmts map[string]**sqlite3.Stmt) (err error) {
	for sql, stmt := range stmts {
		if *stmt, err = conn.Prepare(sql); err != nil {
			return err
		}
	}
	return nil
}
