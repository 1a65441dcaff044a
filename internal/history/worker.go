package history

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"

	"petstore/internal/model"
)

// worker sends one request after the other, and records them.
type worker struct {
	load    Load
	id      int
	key     string
	history *History
	known   *known
	random  *rand.Rand
	named   int
	backoff time.Duration    // after a request that was not answered
	next    string           // the page after one that was already read
	feed    string           // the page of the feed after those that were already read
	sent    []model.Exchange // the latest requests with an Idempotency-Key, which may be sent again
}

const (
	answerTimeout = 10 * time.Second
	shortBackoff  = 50 * time.Millisecond
	longBackoff   = time.Second
)

// The variable kept lists the answer headers that the history records.
var kept = []string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "Retry-After", "Idempotency-Replayed", "Link", "Petstore-Feed-End"}

// send sends a request once, records the answer, and pauses after a failure. It finishes the request even if ctx ends.
func (w *worker) send(ctx context.Context, e model.Exchange) model.Exchange {
	e.Status, e.Header, e.Answer = model.NoAnswer, nil, nil
	e.Called = w.history.Now()
	err := w.exchange(context.WithoutCancel(ctx), &e)
	e.Returned = w.history.Now()
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" { // the request was never sent, so there is nothing to record
		w.rest(ctx, w.backoff)
		return e
	}
	w.history.Add(e)
	w.known.learn(e)
	switch {
	case e.Status == http.StatusTooManyRequests:
		seconds, _ := strconv.Atoi(e.Header.Get("Retry-After"))
		w.rest(ctx, min(time.Duration(seconds)*time.Second, longBackoff))
	case e.Status == model.NoAnswer || e.Status >= 500:
		w.rest(ctx, w.backoff)
	}
	return e
}

// insist repeats a request until the store has decided on it. The request must be safe to repeat.
func (w *worker) insist(ctx context.Context, e model.Exchange) model.Exchange {
	for {
		e = w.send(ctx, e)
		if e.Status != model.NoAnswer && e.Status < 500 && e.Status != http.StatusTooManyRequests || ctx.Err() != nil {
			return e
		}
	}
}

func (w *worker) get(ctx context.Context, path string) model.Exchange {
	return w.send(ctx, model.Exchange{Client: w.id, Key: w.key, Method: http.MethodGet, Path: path})
}

// exchange sends the request and fills in the answer. If the answer does not arrive completely, the status stays 0.
func (w *worker) exchange(ctx context.Context, e *model.Exchange) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, e.Method, w.load.Base+e.Path, bytes.NewReader(e.Body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+w.load.Keys[e.Key])
	if len(e.Body) > 0 {
		r.Header.Set("Content-Type", "application/json")
	}
	if e.IdempotencyKey != "" {
		// The transport must not see that it can read the body again, or that the body is empty. Otherwise it repeats the
		// request, unseen, when its connection breaks.
		r.Body, r.GetBody = struct{ io.ReadCloser }{r.Body}, nil
		r.Header.Set("Idempotency-Key", e.IdempotencyKey)
	}
	response, err := w.load.Client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	e.Status, e.Answer, e.Header = response.StatusCode, answer, make(http.Header)
	for _, name := range kept {
		if values := response.Header[name]; len(values) > 0 {
			e.Header[name] = values
		}
	}
	return nil
}
