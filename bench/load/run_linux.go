package load

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sys/unix"
)

// EndWithParent makes a process end when its parent ends, for whatever reason.
func EndWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT} }

// question is a request together with its number.
type question struct {
	*Request
	number int64
}

type generator struct {
	meter
	job       Job
	kinds     []*Request // each request, repeated as often as its Share says
	random    *rand.Rand
	epoll     int
	clients   map[int32]*connection
	free      []*connection // connections without a request in flight
	followUps []question    // the requests that follow answers and are not sent yet

	from, until, due time.Time // due is the time when the next request is due, at a fixed rate
	err              error     // the reason why the load cannot continue
}

// Run runs a job. It calls the function each with the result of every interval.
func Run(job Job, each func(Result)) (err error) {
	g := &generator{job: job, random: rand.New(rand.NewPCG(job.Seed, 1)), clients: make(map[int32]*connection)}
	g.latencies = hdrhistogram.New(1000, int64(time.Hour), 3)
	for _, r := range job.Requests {
		r.at = g.random.Int64N(stride)
		g.kinds = append(g.kinds, slices.Repeat([]*Request{&r}, r.Share)...)
	}
	if g.epoll, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return err
	}
	defer syscall.Close(g.epoll)
	for range job.Connections {
		if err := g.connect(); err != nil {
			return err
		}
	}
	g.run(each)
	if job.Every > 0 {
		time.Sleep(time.Second) // lets a caller that gets the last result find its clients still connected
	}
	for _, c := range g.clients {
		c.file.Close()
	}
	return g.err
}

func (g *generator) connect() error {
	conn, err := net.Dial("tcp", g.job.Address)
	if err != nil {
		return err
	}
	defer conn.Close()
	file, err := conn.(*net.TCPConn).File() // a second handle, which Go's own poller ignores
	if err != nil {
		return err
	}
	c := &connection{file: file, fd: int(file.Fd()), in: make([]byte, 64<<10)}
	g.clients[int32(c.fd)] = c
	g.free = append(g.free, c)
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(c.fd)}
	return errors.Join(syscall.SetNonblock(c.fd, true), syscall.EpollCtl(g.epoll, syscall.EPOLL_CTL_ADD, c.fd, &event))
}

func (g *generator) run(each func(Result)) {
	g.due = time.Now()
	g.from = g.due.Add(g.job.Warmup)
	g.until = g.from.Add(g.job.Duration)
	g.serveUntil(g.from)
	used := g.job.cpuTimes()
	for at := g.from; g.err == nil && at.Before(g.until); {
		began := at
		at = at.Add(g.job.Every)
		if g.job.Every == 0 || at.After(g.until) {
			at = g.until
		}
		g.serveUntil(at)
		now := g.job.cpuTimes()
		if at == g.until {
			g.drain()
		}
		each(g.result(at.Sub(began), used, now))
		used = now
	}
}

// serveUntil sends requests and receives answers until the time t.
func (g *generator) serveUntil(t time.Time) {
	for g.err == nil && time.Now().Before(t) {
		g.serve()
	}
}

// drain waits for the outstanding answers. An answer counts if its request was due in time.
func (g *generator) drain() {
	for g.err == nil && g.awaited() > 0 && time.Since(g.until) < answerTimeout {
		g.serve()
	}
	if n := g.awaited(); n > 0 {
		g.fail(fmt.Errorf("%d answers did not arrive within %v", n, answerTimeout))
	}
}

// awaited returns the number of outstanding answers. They include the answers to overdue requests that have not been sent.
func (g *generator) awaited() int {
	n := len(g.clients) - len(g.free)
	if late := g.until.Sub(g.due); g.job.Rate > 0 && late > 0 {
		n += 1 + int(late.Seconds()*g.job.Rate)
	}
	return n
}

// serve sends the requests that are due, waits briefly for answers, and receives the answers.
func (g *generator) serve() {
	wait := g.askDue(time.Now())
	if wait < time.Millisecond { // epoll_wait has a resolution of a millisecond
		ready := []unix.PollFd{{Fd: int32(g.epoll), Events: unix.POLLIN}}
		timeout := unix.NsecToTimespec(int64(wait))
		_, _ = unix.Ppoll(ready, &timeout, nil) // if Ppoll fails, epoll_wait reports the error
	}
	var events [128]syscall.EpollEvent
	n, err := syscall.EpollWait(g.epoll, events[:], int(wait.Milliseconds()))
	if err != nil && err != syscall.EINTR {
		g.err = err
	}
	for i := range max(n, 0) {
		c := g.clients[events[i].Fd]
		complete, err := c.receive()
		switch {
		case err != nil:
			g.reconnect(c, err)
		case complete:
			g.answered(c, time.Now())
			g.free = append(g.free, c)
		}
	}
}

// askDue sends the requests that are due on free connections. It returns how long to wait for the next request.
func (g *generator) askDue(now time.Time) time.Duration {
	const maxWait = 5 * time.Millisecond
	for len(g.free) > 0 {
		due := now
		if g.job.Rate > 0 {
			due = g.due
		}
		if due.After(now) {
			return min(maxWait, due.Sub(now))
		}
		if !due.Before(g.until) {
			return maxWait
		}
		g.due = g.due.Add(time.Duration(float64(time.Second) / max(g.job.Rate, 1)))
		c := g.free[0] // the connection that has been free longest
		g.free = g.free[1:]
		c.asked, c.due = g.next(), due
		if err := c.send(); err != nil {
			g.fail(err) // the next read on the connection fails too, and then reconnects
		}
	}
	return maxWait
}

// next returns the next request. Follow-ups come before new requests.
func (g *generator) next() (next question) {
	if len(g.followUps) > 0 {
		next, g.followUps = g.followUps[0], g.followUps[1:]
		return next
	}
	r := g.kinds[g.random.IntN(len(g.kinds))]
	return question{r, r.next(g.random)}
}

func (g *generator) answered(c *connection, now time.Time) {
	if c.status != c.asked.Status {
		g.fail(fmt.Errorf("status %d instead of %d: %s", c.status, c.asked.Status, c.in[:min(c.read, 600)]))
		return
	}
	if next := c.asked.Next; next != nil {
		number := c.asked.number
		if next.Field != "" {
			number = Number(c.in[:c.read], next.Field)
		}
		g.followUps = append(g.followUps, question{next, number})
	}
	counted := now
	if g.job.Rate > 0 {
		counted = c.due // the time when the request was due, even if the answer is late
	}
	if !counted.Before(g.from) && counted.Before(g.until) {
		g.add(now.Sub(c.due))
	}
}

// reconnect replaces a connection. It reports a failure only if the connection was in use, because a server may close a
// connection without a request.
func (g *generator) reconnect(c *connection, cause error) {
	if i := slices.Index(g.free, c); i >= 0 {
		g.free = slices.Delete(g.free, i, i+1)
	} else {
		g.fail(cause)
	}
	delete(g.clients, int32(c.fd))
	c.file.Close()
	g.err = errors.Join(g.err, g.connect())
}
