// Package history records what clients asked a server and what it answered, with the times of both, and finds answers
// that a correct store could not have given. Only tests import it.
//
// Make a [History] with [New], let [Load.Run] fill it while something happens to the server, end with [Load.ReadBack], and
// give the exchanges to [Check]. A [Fault] names the exchanges that contradict each other.
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

// Began is when the history began.
func (h *History) Began() time.Time { return h.start }

// Now is the time since the history began.
func (h *History) Now() time.Duration { return time.Since(h.start) }

// Add records an exchange.
func (h *History) Add(e model.Exchange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.exchanges = append(h.exchanges, e)
}

// Exchanges is everything recorded so far.
func (h *History) Exchanges() []model.Exchange {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.exchanges[:len(h.exchanges):len(h.exchanges)]
}
