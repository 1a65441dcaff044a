package petstore

import (
	"context"
	"time"
)

// Watch is told what a Storage does, for whoever counts it. A function that is nil is not called; the others must not
// wait.
type Watch struct {
	// Called is told how long a call of the database took, its wait for a connection included, and how it ended.
	Called func(writes bool, took time.Duration, err error)
	// Ordered is told how many orders came to that state: Open when they were placed.
	Ordered func(status OrderStatus, orders int)
}

// Call tells of a call that began at that time and ends now. It is meant to be deferred.
func (w Watch) Call(writes bool, began time.Time, err *error) {
	if w.Called != nil {
		w.Called(writes, time.Since(began), *err)
	}
}

// Order tells of orders, if there are any.
func (w Watch) Order(status OrderStatus, orders int) {
	if w.Ordered != nil && orders > 0 {
		w.Ordered(status, orders)
	}
}

// Measured is implemented by a Storage that tells operators how it is doing.
type Measured interface {
	// Connections tells how many connections are in use at this moment.
	Connections() Connections
	// OpenOrders counts the orders that hold an animal. It costs as much as there are such orders.
	OpenOrders(ctx context.Context) (int64, error)
}

// Connections is how a Storage uses its connections.
type Connections struct {
	Busy, Idle, Limit int
	// Waits is how often, so far, somebody found none idle.
	Waits int64
}
