package postgres

import (
	"context"

	"petstore/internal/petstore"
)

const countOpenOrders = "SELECT count(*) FROM orders WHERE status = 1"

// Connections reports how many connections of the pool are in use. Waits includes the calls that gave up waiting.
func (db *DB) Connections() petstore.Connections {
	stat := db.pool.Stat()
	return petstore.Connections{
		Busy:  int(stat.AcquiredConns()),
		Idle:  int(stat.IdleConns()),
		Limit: int(stat.MaxConns()),
		Waits: stat.EmptyAcquireCount() + stat.CanceledAcquireCount(),
	}
}

// Memory says how useful the animals in memory are.
func (db *DB) Memory() petstore.Memory {
	m := petstore.Memory{Answered: db.recent.answered.Load(), Asked: db.recent.asked.Load(), Emptied: make(map[string]int64)}
	for why, name := range reasons {
		m.Emptied[name] = db.recent.emptied[why].Load()
	}
	return m
}

// OpenOrders counts the open orders. It reads an index that contains no other orders.
func (db *DB) OpenOrders(ctx context.Context) (n int64, err error) {
	err = db.read(ctx, func(ctx context.Context) error { return db.pool.QueryRow(ctx, countOpenOrders).Scan(&n) })
	return n, err
}
