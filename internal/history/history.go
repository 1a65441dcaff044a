// Package history records what clients asked a server and what it answered, with the times of both, and finds answers
// that a correct store could not have given. Only tests import it.
//
// Make a [History] with [New], let [Load.Run] fill it while something happens to the server, end with [Load.ReadBack], and
// give the exchanges to [Check]. A [Fault] names the exchanges that contradict each other.
package history

import (
	"net/http"
	"sync"
	"time"
)

// Exchange is a request and its answer.
type Exchange struct {
	// Client is the worker that sent it. A worker has one request under way at a time.
	Client int
	// Key names the API key. It is not the secret.
	Key string

	Method, Path   string // the path with its query
	IdempotencyKey string
	Body           []byte

	// Called and Returned are times since the history began.
	Called, Returned time.Duration

	Status int // of HTTP, or NoAnswer
	Header http.Header
	Answer []byte
}

// NoAnswer is the Status of an exchange without a complete answer. The request may have been done already, or may still be
// done.
const NoAnswer = 0

// History is a list of exchanges, in no order. Its methods are safe for concurrent use.
type History struct {
	start time.Time

	mu        sync.Mutex
	exchanges []Exchange
}

// New begins a history.
func New() *History { return &History{start: time.Now()} }

// Began is when the history began.
func (h *History) Began() time.Time { return h.start }

// Now is the time since the history began.
func (h *History) Now() time.Duration { return time.Since(h.start) }

// Add records an exchange.
func (h *History) Add(e Exchange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.exchanges = append(h.exchanges, e)
}

// Exchanges is everything recorded so far.
func (h *History) Exchanges() []Exchange {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.exchanges[:len(h.exchanges):len(h.exchanges)]
}
