package server

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// deadlineListener makes the deadlines of its connections cheap. For every request, net/http moves the deadlines eight
// times, nearly always to a later time and while no read or write waits. Without deadlineListener, the runtime would move a
// timer each time. That took 6 % of the processor time of a page that clients request often.
type deadlineListener struct {
	*net.TCPListener
	// horizon is the longest time for which a timer runs. Moving a deadline beyond the horizon costs nothing.
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

// deadline sets a timer only when a read or write is about to wait and no running timer expires early enough. A timer may
// expire before the deadline. In that case, the connection repeats the read or write with a new timer.
type deadline struct {
	set     func(time.Time) error
	horizon time.Duration

	mu      sync.Mutex
	wanted  time.Time // the deadline; zero if there is none
	timer   time.Time // when the timer expires, never later than wanted while a call waits; zero if a new timer is needed
	waiting int       // the number of reads and writes that wait
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

// begin must be called before each read or write, because the read or write may wait.
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

// end must be called after each read or write. It reports whether the read or write must be repeated because a timer expired
// before the deadline.
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
