// Package history records the requests of clients and the answers of a server, with the times of both. It finds answers
// that a correct store could not have given. Only tests import the package.
//
// Create a [History] with [New]. Let [Load.Run] fill the history while something happens to the server, and end with
// [Load.ReadBack]. Then give the exchanges to [Check]. A [Fault] names the exchanges that contradict each other.
package history

import (
	"sync"
	"time"

	"petstore/internal/model"
)

// History is a list of exchanges, in no particular order. Its methods are safe for concurrent use.
type History struct {
	start time.Time

	mu        sync.Mutex
	exchanges []model.Exchange
}

// New begins a history.
func New() *History { return &History{start: time.Now()} }

// Began returns the time at which the history began.
func (h *History) Began() time.Time { return h.start }

// Now returns the time since the history began.
func (h *History) Now() time.Duration { return time.Since(h.start) }

// Add records an exchange.
func (h *History) Add(e model.Exchange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.exchanges = append(h.exchanges, e)
}

// Exchanges returns all exchanges recorded so far.
func (h *History) Exchanges() []model.Exchange {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.exchanges[:len(h.exchanges):len(h.exchanges)]
}
