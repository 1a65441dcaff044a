package main

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// thriftyListener makes the deadlines of its connections cheap. For every request net/http moves them eight times, and the
// runtime its timers, nearly always to a later time than before and while nobody waits.
type thriftyListener struct {
	*net.TCPListener
	// horizon is how far ahead a timer is set at most. Beyond it, deadlines come and go at no cost.
	horizon time.Duration
}

func (l thriftyListener) Accept() (net.Conn, error) {
	inner, err := l.TCPListener.Accept()
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

func (c *thriftyConn) Read(b []byte) (n int, err error) {
	for again := true; again; {
		if err = c.reading.begin(); err != nil {
			return 0, err
		}
		n, err = c.Conn.Read(b)
		again = c.reading.end(err) && n == 0
	}
	return n, err
}

func (c *thriftyConn) Write(b []byte) (written int, err error) {
	for again := true; again; {
		if err = c.writing.begin(); err != nil {
			return written, err
		}
		var n int
		n, err = c.Conn.Write(b[written:])
		written += n
		again = c.writing.end(err)
	}
	return written, err
}

func (c *thriftyConn) SetReadDeadline(t time.Time) error  { return c.reading.want(t) }
func (c *thriftyConn) SetWriteDeadline(t time.Time) error { return c.writing.want(t) }
func (c *thriftyConn) SetDeadline(t time.Time) error {
	return errors.Join(c.reading.want(t), c.writing.want(t))
}

// deadline sets a timer only when a call is about to wait, and only if none runs that expires before. So the one that
// runs may expire before it is wanted; then the call is made again, with another.
type deadline struct {
	set     func(time.Time) error
	horizon time.Duration

	mu      sync.Mutex
	wanted  time.Time // the zero time for never
	timer   time.Time // not later than wanted while a call waits; the zero time if it has to be set anew
	waiting int       // calls
}

// longAgo is the time to which net/http sets a deadline to cut a read short.
var longAgo = time.Unix(1, 0)

func (d *deadline) want(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wanted = t
	if d.waiting == 0 || t.IsZero() || !t.Before(d.timer) {
		return nil
	}
	return d.start()
}

// begin is called before a call that may wait.
func (d *deadline) begin() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.wanted.Equal(longAgo) {
		return os.ErrDeadlineExceeded
	}
	if d.timer.IsZero() || !d.wanted.IsZero() && d.wanted.Before(d.timer) {
		if err := d.start(); err != nil {
			return err
		}
	}
	d.waiting++
	return nil
}

// end is called after it, and reports whether it only met a timer that was not wanted yet.
func (d *deadline) end(err error) (again bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting--
	if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	d.timer = time.Time{}
	return d.wanted.IsZero() || time.Now().Before(d.wanted)
}

func (d *deadline) start() error {
	d.timer = d.wanted
	if limit := time.Now().Add(d.horizon); d.wanted.IsZero() || d.wanted.After(limit) {
		d.timer = limit
	}
	return d.set(d.timer)
}
