package server

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// deadlineListener makes the deadlines of its connections cheap. For every request, net/http moves the deadlines eight
// times, nearly always to a later time and while no call waits. Each time, the runtime would move a timer, which took
// 6 % of the processor time of a hot page.
type deadlineListener struct {
	*net.TCPListener
	// horizon is how far ahead a timer is set at most. Moving a deadline beyond it costs nothing.
	horizon time.Duration
}

func (l deadlineListener) Accept() (net.Conn, error) {
	inner, err := l.TCPListener.Accept()
	if err != nil {
		return nil, err
	}
	c := &deadlineConn{Conn: inner}
	c.reading = deadline{set: inner.SetReadDeadline, horizon: l.horizon}
	c.writing = deadline{set: inner.SetWriteDeadline, horizon: l.horizon}
	return c, nil
}

type deadlineConn struct {
	net.Conn
	reading, writing deadline
}

func (c *deadlineConn) Read(b []byte) (n int, err error) {
	for again := true; again; {
		if err = c.reading.begin(); err != nil {
			return 0, err
		}
		n, err = c.Conn.Read(b)
		again = c.reading.end(err) && n == 0
	}
	return n, err
}

func (c *deadlineConn) Write(b []byte) (written int, err error) {
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

func (c *deadlineConn) SetReadDeadline(t time.Time) error  { return c.reading.want(t) }
func (c *deadlineConn) SetWriteDeadline(t time.Time) error { return c.writing.want(t) }
func (c *deadlineConn) SetDeadline(t time.Time) error {
	return errors.Join(c.reading.want(t), c.writing.want(t))
}

// deadline sets a timer only when a call is about to wait and no running timer expires earlier. A timer may therefore
// expire before the deadline; then the call is repeated with a new timer.
type deadline struct {
	set     func(time.Time) error
	horizon time.Duration

	mu      sync.Mutex
	wanted  time.Time // the deadline; zero for never
	timer   time.Time // never later than wanted while a call waits; zero if a new timer is needed
	waiting int       // the number of calls that wait
}

// longAgo is the deadline that net/http sets to interrupt a read.
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

// begin must be called before each read or write, which may wait.
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

// end must be called after each read or write. It reports whether the call must be repeated because a timer expired before
// the deadline.
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
