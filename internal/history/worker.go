package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// worker sends one request after the other and records them.
type worker struct {
	load    Load
	id      int
	key     string
	history *History
	known   *known
	random  *rand.Rand
	named   int
	next    string   // the page after one that was already read
	again   Exchange // an idempotent request that may be sent again
}

const (
	answerTimeout = 10 * time.Second
	backoff       = 50 * time.Millisecond
	longBackoff   = time.Second
)

// kept are the headers of an answer that a history keeps.
var kept = []string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "Retry-After", "Idempotency-Replayed", "Link"}

// send sends a request once, records the answer, and rests after a failure. It finishes the request even if ctx ends.
func (w *worker) send(ctx context.Context, method, path, idempotencyKey string, body []byte) Exchange {
	e := Exchange{Client: w.id, Key: w.key, Method: method, Path: path, IdempotencyKey: idempotencyKey, Body: body}
	e.Called = w.history.Now()
	err := w.exchange(context.WithoutCancel(ctx), &e)
	e.Returned = w.history.Now()
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" { // the request was never sent, so there is nothing to record
		w.rest(ctx, backoff)
		return e
	}
	w.history.Add(e)
	switch {
	case e.Status == http.StatusTooManyRequests:
		seconds, _ := strconv.Atoi(e.Header.Get("Retry-After"))
		w.rest(ctx, min(time.Duration(seconds)*time.Second, longBackoff))
	case !e.answered():
		w.rest(ctx, backoff)
	}
	return e
}

// exchange sends the request and fills in the answer. If the answer does not arrive completely, the status stays 0.
func (w *worker) exchange(ctx context.Context, e *Exchange) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, e.Method, w.load.Base+e.Path, bytes.NewReader(e.Body))
	if err != nil {
		return err
	}
	r.GetBody = nil // or a request with an Idempotency-Key is sent again unseen when its connection breaks
	r.Header.Set("Authorization", "Bearer "+w.load.Keys[e.Key])
	if e.Body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if e.IdempotencyKey != "" {
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

// answered reports whether the store has decided on the request.
func (e Exchange) answered() bool { return e.Status != NoAnswer && e.Status < 500 }

func (w *worker) get(ctx context.Context, path string) Exchange {
	return w.send(ctx, http.MethodGet, path, "", nil)
}

// change sends a write without a body until it is answered. Repeating such a write does no harm.
func (w *worker) change(ctx context.Context, method, path string) Exchange {
	return w.insist(ctx, method, path, "", nil)
}

// make sends a request that makes something. Half of the time the request has an Idempotency-Key. Then make repeats it
// until it is answered, and sometimes once more.
func (w *worker) make(ctx context.Context, path string, body any) Exchange {
	if w.chance(50) {
		return w.send(ctx, http.MethodPost, path, "", marshal(body))
	}
	e := w.insist(ctx, http.MethodPost, path, w.name("once"), marshal(body))
	if w.chance(20) { // once more, either at once or after the next request
		w.send(ctx, e.Method, e.Path, e.IdempotencyKey, e.Body)
	} else if w.chance(20) && w.again.Path != "" {
		w.send(ctx, w.again.Method, w.again.Path, w.again.IdempotencyKey, w.again.Body)
	}
	w.again = e
	return e
}

func (w *worker) insist(ctx context.Context, method, path, idempotencyKey string, body []byte) Exchange {
	for {
		e := w.send(ctx, method, path, idempotencyKey, body)
		if e.answered() && e.Status != http.StatusTooManyRequests || ctx.Err() != nil {
			return e
		}
	}
}

func marshal(body any) []byte {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // a worker sends maps of strings and numbers
	}
	return text
}

// nextPage is the path of the next page, or empty if there is none.
func nextPage(h http.Header) string {
	for _, link := range h["Link"] {
		target, rest, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">")
		if rest == `; rel="next"` {
			if at := strings.Index(target, "/v1/"); at > 0 {
				target = target[at:]
			}
			return target
		}
	}
	return ""
}
