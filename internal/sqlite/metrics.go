package sqlite

import (
	"context"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const countOpenOrders = "SELECT count(*) FROM orders WHERE status = 1"

// Connections reports how many of the connections for reading are in use.
func (db *DB) Connections() petstore.Connections {
	idle, limit := len(db.readers), cap(db.readers)
	return petstore.Connections{Busy: limit - idle, Idle: idle, Limit: limit, Waits: db.waits.Load()}
}

// OpenOrders counts the open orders. It reads an index that contains no other orders.
func (db *DB) OpenOrders(ctx context.Context) (n int64, err error) {
	err = db.readVersioned(ctx, func(r *reader) error {
		return query(r.conn, func(row *sqlite3.Stmt) { n = row.ColumnInt64(0) }, countOpenOrders)
	})
	return n, err
}

// reportOrders tells db.watch how many orders of each status a committed transaction has stored.
func (db *DB) reportOrders(w *writer, err *error) {
	if *err != nil {
		return
	}
	for status, n := range w.orderCounts {
		db.watch.Order(petstore.OrderStatus(status), n)
	}
}
