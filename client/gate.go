package client

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// gate admits requests in the order in which they arrive, from all goroutines, but no more requests than the service says
// are left. A request in flight counts as used. When nothing is known about the current window, the gate admits one request
// to find out. When the window is used up, all requests wait for the next window.
type gate struct {
	waitTimeout time.Duration                           // the longest wait; a request that would wait longer fails
	notice      func(wait time.Duration, because error) // called before a request waits for the next window

	mu       sync.Mutex
	window   window
	epoch    int // the number of windows so far
	inFlight int64
	probing  bool // whether one request is in flight to find out about the window
	queue    []*waiter
	timer    *time.Timer // wakes the queue when the window ends
}

// window is what the gate knows about the limits. After the time end, the gate knows nothing.
type window struct {
	Limits
	end    time.Time // the time when the window ends, by the clock of this machine
	banned bool
}

// pass is the permission to send one request. The request holds the pass while it is in flight.
type pass struct {
	epoch int
	probe bool
}

type waiter struct {
	ready     chan struct{} // closed when pass or err is set
	pass      pass
	err       error
	deadline  time.Time     // the deadline of the request's context; zero if there is none
	held      chan struct{} // gets a value when the window is used up
	heldEpoch int           // the window, by its epoch, for which held last got a value
}

// gateClosed is the reason why the gate does not admit a request.
type gateClosed struct{ error }

func (c *gateClosed) Unwrap() error { return c.error }

// enter waits until the gate admits a request. It fails immediately if the wait would be too long.
func (g *gate) enter(ctx context.Context) (pass, error) {
	if err := ctx.Err(); err != nil {
		return pass{}, &gateClosed{err}
	}
	w := &waiter{ready: make(chan struct{}), held: make(chan struct{}, 1), heldEpoch: -1}
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
			return pass{}, &gateClosed{ctx.Err()}
		}
	}
}

// wait returns how long a waiter has to wait for the next window, and why. The error is nil if the waiter need not wait.
func (g *gate) wait(w *waiter) (time.Duration, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if g.window.Remaining > 0 || !now.Before(g.window.end) || !slices.Contains(g.queue, w) {
		return 0, nil
	}
	wait := g.window.end.Sub(now)
	return wait, usedUp(g.window, wait)
}

// withdraw removes a waiter that gives up. If the gate has just admitted the waiter, withdraw gives the pass back to the
// gate.
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

// leave ends a request, learns from its feedback, and admits requests that wait.
func (g *gate) leave(p pass, n feedback) {
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

// limits returns the limits of the window, or zero Limits if none are known.
func (g *gate) limits() Limits {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.window.Limit == 0 {
		return Limits{}
	}
	return g.window.Limits
}

// admit lets requests through while the window has room, and refuses requests that would wait too long.
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
			w.notifyHeld(g.epoch)
		}
	}
	if g.timer == nil {
		g.timer = time.AfterFunc(g.window.end.Sub(now), g.wake)
	} else {
		g.timer.Reset(g.window.end.Sub(now))
	}
}

// notifyHeld tells a waiter, once for each window, that the window is used up.
func (w *waiter) notifyHeld(epoch int) {
	if epoch == w.heldEpoch {
		return
	}
	w.heldEpoch = epoch
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

// room reports whether the gate may admit one more request now.
func (g *gate) room(now time.Time) bool {
	if !now.Before(g.window.end) {
		return !g.probing
	}
	return g.window.Remaining > g.inFlight
}

// refuse refuses a waiter that cannot wait until the used-up window ends. It reports whether it refused the waiter.
func (g *gate) refuse(w *waiter, now time.Time) bool {
	wait := g.window.end.Sub(now)
	late := !w.deadline.IsZero() && w.deadline.Before(g.window.end)
	if !late && (wait <= g.waitTimeout || g.window.banned) {
		return false
	}
	var err error = usedUp(g.window, wait)
	if late {
		err = fmt.Errorf("%w; that is too late: %w", err, context.DeadlineExceeded)
	}
	w.err = &gateClosed{err}
	close(w.ready)
	return true
}

func usedUp(w window, wait time.Duration) *Error {
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

// feedback is what a finished request says about the limits.
type feedback struct {
	window
	limited bool // whether the answer named the limits
	refused bool // whether the answer was 429
	lost    bool // whether the service may have counted the request, although no answer says so
}

// learn updates the window from feedback. Of all answers in a window, the answer with the lowest Remaining is right, because
// all requests that the service counted after that answer are still in flight. An answer about another window replaces the
// known window in two cases: if the request was sent in the known window, or if the other window ends later. Otherwise the
// answer is out of date.
func (g *gate) learn(p pass, n feedback, now time.Time) {
	known := &g.window
	same := now.Before(known.end) && n.Limit == known.Limit && n.Reset.Equal(known.Reset)
	switch {
	case n.lost && known.Remaining == 1: // the last request of the window may be used or not, so the gate must ask again
		known.Remaining, known.end = 0, now
		g.epoch++
	case n.lost:
		known.Remaining = max(0, known.Remaining-1)
	case n.end.IsZero():
	case n.refused && !n.limited && n.end.Before(known.end) && known.banned: // the ban that the gate knows lasts longer
	case n.refused && !n.limited: // the refusal comes from a proxy, which knows no limits
		g.window = window{Limits: Limits{Reset: known.Reset}, end: n.end, banned: n.banned}
		g.epoch++
	case known.Limit == 0 && known.Remaining == 0 && now.Before(known.end): // a proxy refuses requests until known.end
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

// feedbackOf reads the limits in an answer. The answer arrived at the time now. All times in the answer are by the service's
// own clock. In a 401, a 5xx or a bad_request, the limits may be the limits of the client's address, because the service may
// not know the key. A refusal without a code does not come from the service.
func feedbackOf(res *http.Response, refusal *Error, now time.Time) (n feedback) {
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

// noAnswer returns the feedback of a request that got no answer.
func noAnswer(err error) feedback { return feedback{lost: !neverSent(err)} }

// neverSent reports whether a try failed before it had a connection to the service.
func neverSent(err error) bool {
	dial := (*net.OpError)(nil)
	return errors.As(err, &dial) && dial.Op == "dial"
}
