package petstore

import "time"

// Watch holds functions that a Storage calls to report its work to the metrics. Each function may be nil. No function may
// block.
type Watch struct {
	// Called reports how long a call to the database took, including the wait for a connection, and the error of the call.
	Called func(writes bool, took time.Duration, err error)
	// Ordered reports how many orders changed to a state. Placing an order changes the order to Open.
	Ordered func(status OrderStatus, orders int)
}

// Call reports a call that began at the time began and ends now. Callers defer Call.
func (w Watch) Call(writes bool, began time.Time, err *error) {
	if w.Called != nil {
		w.Called(writes, time.Since(began), *err)
	}
}

// Order reports that orders changed to a state. It reports nothing if the number of orders is 0.
func (w Watch) Order(status OrderStatus, orders int) {
	if w.Ordered != nil && orders > 0 {
		w.Ordered(status, orders)
	}
}

// Memory says how often a Storage that keeps the newest animals in memory answered a page or an animal from there, and how
// often it had to ask its database.
type Memory struct {
	Answered, Asked int64
	// Emptied says how often the Storage emptied its memory, by reason.
	Emptied map[string]int64
}

// Connections says how many database connections a Storage uses.
type Connections struct {
	Busy, Idle, Limit int
	// Waits is the number of callers so far that had to wait for a connection.
	Waits int64
}
