package sqlite

import (
	"context"
	"strconv"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	countOpenOrders = "SELECT count(*) FROM orders WHERE status = 1"
	selectBackup    = "SELECT value FROM settings WHERE name = 'backup'"
	putBackup       = "INSERT OR REPLACE INTO settings (name, value) VALUES ('backup', ?1)"
)

// Connections tells how many of the reading connections are in use.
func (db *DB) Connections() petstore.Connections {
	idle, limit := len(db.readers), cap(db.readers)
	return petstore.Connections{Busy: limit - idle, Idle: idle, Limit: limit, Waits: db.waits.Load()}
}

// lend takes a reader from the pool. It counts the times when none is idle.
func (db *DB) lend(ctx context.Context) (*reader, error) {
	if len(db.readers) == 0 {
		db.waits.Add(1)
	}
	return db.readers.take(ctx)
}

// OpenOrders counts the open orders, in an index that holds no others.
func (db *DB) OpenOrders(ctx context.Context) (n int64, err error) {
	err = db.readPets(ctx, func(r *reader) error {
		return query(r.conn, func(row *sqlite3.Stmt) { n = row.ColumnInt64(0) }, countOpenOrders)
	})
	return n, err
}

// tellOrders reports the orders of a transaction to the watch, if the transaction was committed.
func (db *DB) tellOrders(w *writer, err *error) {
	if *err != nil {
		return
	}
	for status, n := range w.ordered {
		db.watch.Order(petstore.OrderStatus(status), n)
	}
}

// LastBackup is when the last backup was made, or zero if there was none.
func (db *DB) LastBackup(ctx context.Context) (at time.Time, err error) {
	text := ""
	err = db.read(ctx, func(conn *sqlite3.Conn) error {
		return query(conn, func(row *sqlite3.Stmt) { text = row.ColumnText(0) }, selectBackup)
	})
	if err != nil || text == "" {
		return time.Time{}, err
	}
	millis, err := strconv.ParseInt(text, 10, 64)
	return time.UnixMilli(millis), err
}

// NoteBackup notes in the database when a backup of it was made. Others may go on using the database.
func NoteBackup(ctx context.Context, cfg Config, at time.Time) error {
	db, conn, err := beside(cfg)
	if err != nil {
		return err
	}
	defer db.release()
	err = transaction(ctx, conn, func() error { return run(conn, putBackup, strconv.FormatInt(at.UnixMilli(), 10)) })
	if err != nil {
		return refusal(cfg.Path, err)
	}
	return nil
}
