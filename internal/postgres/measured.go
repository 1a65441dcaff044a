package postgres

import (
	"context"

	"petstore/internal/petstore"
)

const countOpenOrders = "SELECT count(*) FROM orders WHERE status = 1"

// Connections tells of the pool. Whoever gave up waiting has waited too.
func (db *DB) Connections() petstore.Connections {
	stat := db.pool.Stat()
	return petstore.Connections{
		Busy:  int(stat.AcquiredConns()),
		Idle:  int(stat.IdleConns()),
		Limit: int(stat.MaxConns()),
		Waits: stat.EmptyAcquireCount() + stat.CanceledAcquireCount(),
	}
}

// OpenOrders counts along an index that holds open orders only.
func (db *DB) OpenOrders(ctx context.Context) (n int64, err error) {
	err = db.read(ctx, func(ctx context.Context) error { return db.pool.QueryRow(ctx, countOpenOrders).Scan(&n) })
	return n, err
}
