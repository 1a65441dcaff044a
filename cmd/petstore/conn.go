package main

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// thriftyListener makes the deadlines of its connections cheap. For every request net/http sets six of them, each a
// timer of the runtime, and nearly always to a later time than before.
type thriftyListener struct {
	net.Listener
	// horizon is how far ahead a timer is set at most. Beyond it, deadlines come and go at no cost.
	horizon time.Duration
}

func (l thriftyListener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &thriftyConn{Conn: inner}
	c.reading = deadline{set: inner.SetReadDeadline, horizon: l.horizon}
	c.writing = deadline{set: inner.SetWriteDeadline, horizon: l.horizon}
	return c, nil
}

type thriftyConn struct {
	net.Conn
	reading, writing deadline
}

func (c *thriftyConn) Read(b []byte) (int, error) {
	for {
		n, err := c.Conn.Read(b)
		if err == nil || n > 0 || !c.reading.isEarly(err) {
			return n, err
		}
	}
}

func (c *thriftyConn) Write(b []byte) (written int, err error) {
	for {
		n, err := c.Conn.Write(b[written:])
		written += n
		if err == nil || !c.writing.isEarly(err) {
			return written, err
		}
	}
}

func (c *thriftyConn) SetReadDeadline(t time.Time) error  { return c.reading.want(t) }
func (c *thriftyConn) SetWriteDeadline(t time.Time) error { return c.writing.want(t) }
func (c *thriftyConn) SetDeadline(t time.Time) error {
	return errors.Join(c.reading.want(t), c.writing.want(t))
}

// deadline sets a timer only for what is earlier than the one that runs. So that one may expire before it is wanted;
// whoever meets that sets it anew and goes on.
type deadline struct {
	set     func(time.Time) error
	horizon time.Duration

	mu     sync.Mutex
	wanted time.Time // the zero time for never
	timer  time.Time // not later than wanted; the zero time if none runs
}

// longAgo is later than the time to which net/http sets a deadline to cut a read short.
var longAgo = time.Unix(1<<30, 0)

func (d *deadline) want(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wanted = t
	switch {
	case t.IsZero(), !d.timer.IsZero() && !t.Before(d.timer):
		return nil
	case t.Before(longAgo):
		d.timer = time.Time{}
		return d.set(t)
	}
	return d.start(t)
}

// isEarly reports whether err is of a timer that is not wanted, or not yet, and sets it anew.
func (d *deadline) isEarly(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.wanted.IsZero() && !time.Now().Before(d.wanted) {
		return false
	}
	return d.start(d.wanted) == nil
}

func (d *deadline) start(t time.Time) error {
	if limit := time.Now().Add(d.horizon); t.IsZero() || t.After(limit) {
		t = limit
	}
	d.timer = t
	return d.set(t)
}
