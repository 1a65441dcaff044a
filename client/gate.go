package client

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"
)

// gate lets the requests of all goroutines go, in the order in which they came, but no more than the service says are
// left. A request in flight counts as used. When nothing is known about the current window, one request goes ahead to
// find out. When the window is used up, all requests wait for the next one.
type gate struct {
	patience time.Duration                           // a request that would have to wait longer fails
	notice   func(wait time.Duration, because error) // called before a request waits for the next window

	mu       sync.Mutex
	window   window
	epoch    int // counts the windows
	inFlight int64
	probing  bool // a request is on its way to find out about the window
	queue    []*waiter
	timer    *time.Timer // wakes the queue when the window ends
}

// window is what is known about the limits. From its end on, nothing is known.
type window struct {
	Limits
	end    time.Time // by the clock of this machine
	banned bool
}

// pass is held by a request in flight.
type pass struct {
	epoch int
	probe bool
}

type waiter struct {
	ready    chan struct{} // closed when pass or err is set
	pass     pass
	err      error
	deadline time.Time     // zero if there is none
	held     chan struct{} // has a value when the window is used up
	told     int           // the epoch of the last window that held was sent for
}

// closed is why the gate does not let a request go.
type closed struct{ error }

func (c *closed) Unwrap() error { return c.error }

// enter waits until a request may go. It fails at once if the wait would be too long.
func (g *gate) enter(ctx context.Context) (pass, error) {
	if err := ctx.Err(); err != nil {
		return pass{}, &closed{err}
	}
	w := &waiter{ready: make(chan struct{}), held: make(chan struct{}, 1), told: -1}
	w.deadline, _ = ctx.Deadline()

	g.mu.Lock()
	g.queue = append(g.queue, w)
	g.admit(time.Now())
	g.mu.Unlock()
	for {
		select {
		case <-w.ready:
			return w.pass, w.err
		case <-w.held:
			if wait, why := g.wait(w); why != nil {
				g.notice(wait, why)
			}
		case <-ctx.Done():
			g.withdraw(w)
			return pass{}, &closed{ctx.Err()}
		}
	}
}

// wait says how long a waiter has to wait for the next window, and why. The error is nil if the waiter need not wait.
func (g *gate) wait(w *waiter) (time.Duration, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if g.window.Remaining > 0 || !now.Before(g.window.end) || !slices.Contains(g.queue, w) {
		return 0, nil
	}
	wait := g.window.end.Sub(now)
	return wait, spent(g.window, wait)
}

// withdraw forgets a waiter that gives up. If the gate let it go at the last moment, it gives its pass back.
func (g *gate) withdraw(w *waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := slices.Index(g.queue, w); i >= 0 {
		g.queue = slices.Delete(g.queue, i, i+1)
	} else if w.err == nil {
		g.release(w.pass)
		g.admit(time.Now())
	}
}

// leave ends a request, learns from its news, and lets waiting requests go.
func (g *gate) leave(p pass, n news) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.release(p)
	now := time.Now()
	g.learn(p, n, now)
	g.admit(now)
}

func (g *gate) release(p pass) {
	g.inFlight--
	if p.probe {
		g.probing = false
	}
}

// limits returns the limits of the window, zero if none are known.
func (g *gate) limits() Limits {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.window.Limit == 0 {
		return Limits{}
	}
	return g.window.Limits
}

// admit lets requests go while there is room, and refuses those that would wait too long.
func (g *gate) admit(now time.Time) {
	for len(g.queue) > 0 && g.room(now) {
		w := g.queue[0]
		g.queue = g.queue[1:]
		w.pass = pass{epoch: g.epoch, probe: !now.Before(g.window.end)}
		g.inFlight++
		g.probing = g.probing || w.pass.probe
		close(w.ready)
	}
	if len(g.queue) == 0 || !now.Before(g.window.end) {
		return
	}
	if g.window.Remaining == 0 {
		g.queue = slices.DeleteFunc(g.queue, func(w *waiter) bool { return g.refuse(w, now) })
		for _, w := range g.queue {
			w.hold(g.epoch)
		}
	}
	if g.timer == nil {
		g.timer = time.AfterFunc(g.window.end.Sub(now), g.wake)
	} else {
		g.timer.Reset(g.window.end.Sub(now))
	}
}

// hold tells a waiter, once for each window, that the window is used up.
func (w *waiter) hold(epoch int) {
	if epoch == w.told {
		return
	}
	w.told = epoch
	select {
	case w.held <- struct{}{}:
	default:
	}
}

func (g *gate) wake() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.admit(time.Now())
}

// room says whether one more request may go now.
func (g *gate) room(now time.Time) bool {
	if !now.Before(g.window.end) {
		return !g.probing
	}
	return g.window.Remaining > g.inFlight
}

// refuse ends a waiter for which the used-up window lasts too long, and reports whether it did.
func (g *gate) refuse(w *waiter, now time.Time) bool {
	wait := g.window.end.Sub(now)
	late := !w.deadline.IsZero() && w.deadline.Before(g.window.end)
	if !late && (wait <= g.patience || g.window.banned) {
		return false
	}
	var err error = spent(g.window, wait)
	if late {
		err = fmt.Errorf("%w; that is too late: %w", err, context.DeadlineExceeded)
	}
	w.err = &closed{err}
	close(w.ready)
	return true
}

func spent(w window, wait time.Duration) *Error {
	e := &Error{Code: ErrRateLimited, Status: http.StatusTooManyRequests, RetryAfter: wait}
	e.Message = fmt.Sprintf("The limit of %d requests is used up for another %s; nothing was sent.", w.Limit, wait.Round(time.Second))
	switch {
	case w.banned:
		e.Code = ErrKeyBanned
		e.Message = fmt.Sprintf("The key is banned for another %s; nothing was sent.", wait.Round(time.Second))
	case w.Limit == 0:
		e.Message = fmt.Sprintf("All requests are refused for another %s; nothing was sent.", wait.Round(time.Second))
	}
	return e
}

// news is what the end of a request says about the limits.
type news struct {
	window
	limited bool // the answer named the limits
	refused bool // because there were too many requests
	lost    bool // nothing was said about the key, but the request may have been counted
}

// learn updates the window from news. Of all answers in a window, the one with the lowest Remaining is right: every
// request that was counted after it is still in flight. An answer from another window counts if its request was sent in
// this window, or if that window ends later. Otherwise the answer is out of date.
func (g *gate) learn(p pass, n news, now time.Time) {
	known := &g.window
	same := now.Before(known.end) && n.Limit == known.Limit && n.Reset.Equal(known.Reset)
	switch {
	case n.lost && known.Remaining == 1: // it may be used up, or not
		known.Remaining, known.end = 0, now
		g.epoch++
	case n.lost:
		known.Remaining = max(0, known.Remaining-1)
	case n.end.IsZero():
	case n.refused && !n.limited && n.end.Before(known.end) && known.banned: // the ban lasts longer
	case n.refused && !n.limited: // by something in front of the service, which knows nothing of the limits
		g.window = window{Limits: Limits{Reset: known.Reset}, end: n.end, banned: n.banned}
		g.epoch++
	case known.Limit == 0 && known.Remaining == 0 && now.Before(known.end): // until then nothing else counts
	case same:
		known.Remaining = min(known.Remaining, n.Remaining)
		known.banned = known.banned || n.banned
		if n.end.After(known.end) {
			known.end = n.end
		}
	case p.epoch == g.epoch || n.Reset.After(known.Reset):
		g.window = n.window
		g.epoch++
	}
}

// newsOf reads an answer that arrived now. It measures times by the service's own clock. The limits in a 401, a 5xx or
// a refusal of bytes that are not HTTP may be those of the client's address, because the service may not know the key.
// A refusal without a code does not come from the service.
func newsOf(res *http.Response, refusal *Error, now time.Time) (n news) {
	n.Limits, n.limited = limitsOf(res.Header)
	switch {
	case res.StatusCode == http.StatusTooManyRequests:
		n.refused, n.banned = true, refusal.Code == ErrKeyBanned
		n.Remaining = 0
		n.end = now.Add(max(time.Second, refusal.RetryAfter))
	case refusal != nil && (refusal.Code == "" || refusal.Code == ErrBadRequest || refusal.Status == http.StatusUnauthorized || refusal.Status >= 500):
		n.lost = true
	case n.limited:
		n.end = now.Add(n.Reset.Sub(serverTime(res.Header, now)))
	default: // the service has no limits
		n.Remaining = math.MaxInt64
		n.end = now.Add(time.Minute)
	}
	return n
}

// silence is the news of a request that got no answer.
func silence(err error) news { return news{lost: !neverSent(err)} }
