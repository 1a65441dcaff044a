package petstore

import "time"

// Watch holds functions that a Storage calls to report what it does, so that it can be counted. Each may be nil. None
// may block.
type Watch struct {
	// Called reports how long a call of the database took, including the wait for a connection, and how it ended.
	Called func(writes bool, took time.Duration, err error)
	// Ordered reports how many orders reached that state. A placed order reaches Open.
	Ordered func(status OrderStatus, orders int)
}

// Call reports a call that began at that time and ends now. It is meant to be deferred.
func (w Watch) Call(writes bool, began time.Time, err *error) {
	if w.Called != nil {
		w.Called(writes, time.Since(began), *err)
	}
}

// Order reports orders, if there are any.
func (w Watch) Order(status OrderStatus, orders int) {
	if w.Ordered != nil && orders > 0 {
		w.Ordered(status, orders)
	}
}

// Connections describes how a Storage uses its connections.
type Connections struct {
	Busy, Idle, Limit int
	// Waits is how often a caller has found no idle connection so far.
	Waits int64
}
