package petstore

import "time"

// Watch holds functions that a Storage calls to report what it does, for the metrics. Each may be nil. None may block.
type Watch struct {
	// Called reports how long a call to the database took, including the wait for a connection, and its error.
	Called func(writes bool, took time.Duration, err error)
	// Ordered reports how many orders changed to that state. Placing an order changes it to Open.
	Ordered func(status OrderStatus, orders int)
}

// Call reports a call that began at that time and ends now. Callers defer it.
func (w Watch) Call(writes bool, began time.Time, err *error) {
	if w.Called != nil {
		w.Called(writes, time.Since(began), *err)
	}
}

// Order reports that orders changed to a state. It reports nothing if their number is 0.
func (w Watch) Order(status OrderStatus, orders int) {
	if w.Ordered != nil && orders > 0 {
		w.Ordered(status, orders)
	}
}

// Connections says how many connections a Storage uses.
type Connections struct {
	Busy, Idle, Limit int
	// Waits is how many callers have had to wait for a connection so far.
	Waits int64
}
