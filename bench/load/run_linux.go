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

// Bound has a process end when the one that starts it does, however that ends.
func Bound() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT} }

// question is a request with its number.
type question struct {
	*Request
	number int64
}

type generator struct {
	meter
	job       Job
	kinds     []*Request // as many of each as its share
	random    *rand.Rand
	epoll     int
	clients   map[int32]*connection
	free      []*connection // those that wait for no answer
	followers []question    // that answers have made possible

	from, until, due time.Time // due is when the next request is, at a fixed rate
	err              error     // why it cannot go on
}

// Run drives the server, and gives a result after every interval of the job.
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
		time.Sleep(time.Second) // who looks at the server with every result finds its clients there at the last one too
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
	file, err := conn.(*net.TCPConn).File() // a copy, which Go does not wait for by itself
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
	used := g.job.used()
	for at := g.from; g.err == nil && at.Before(g.until); {
		began := at
		at = at.Add(g.job.Every)
		if g.job.Every == 0 || at.After(g.until) {
			at = g.until
		}
		g.serveUntil(at)
		now := g.job.used()
		if at == g.until {
			g.drain()
		}
		each(g.result(at.Sub(began), used, now))
		used = now
	}
}

// serveUntil asks and takes answers until that time.
func (g *generator) serveUntil(t time.Time) {
	for g.err == nil && time.Now().Before(t) {
		g.serve()
	}
}

// drain takes the answers that are still to come. They count if their requests were due in time.
func (g *generator) drain() {
	for g.err == nil && g.owed() > 0 && time.Since(g.until) < grace {
		g.serve()
	}
	if n := g.owed(); n > 0 {
		g.fail(fmt.Errorf("%d answers did not come within %v", n, grace))
	}
}

// owed is the number of answers that are still to come, to requests that were sent or only due.
func (g *generator) owed() int {
	n := len(g.clients) - len(g.free)
	if late := g.until.Sub(g.due); g.job.Rate > 0 && late > 0 {
		n += 1 + int(late.Seconds()*g.job.Rate)
	}
	return n
}

// serve asks for what is due, waits a moment for answers, and takes them.
func (g *generator) serve() {
	wait := g.askDue(time.Now())
	if wait < time.Millisecond { // epoll itself counts in milliseconds
		ready := []unix.PollFd{{Fd: int32(g.epoll), Events: unix.POLLIN}}
		timeout := unix.NsecToTimespec(int64(wait))
		_, _ = unix.Ppoll(ready, &timeout, nil) // epoll fails too if this does
	}
	var events [128]syscall.EpollEvent
	n, err := syscall.EpollWait(g.epoll, events[:], int(wait.Milliseconds()))
	if err != nil && err != syscall.EINTR {
		g.err = err
	}
	for i := range max(n, 0) {
		c := g.clients[events[i].Fd]
		whole, err := c.receive()
		switch {
		case err != nil:
			g.reconnect(c, err)
		case whole:
			g.answered(c, time.Now())
			g.free = append(g.free, c)
		}
	}
}

// askDue sends the requests that are due on the connections that are free, and returns how long nothing else will be.
func (g *generator) askDue(now time.Time) time.Duration {
	const moment = 5 * time.Millisecond
	for len(g.free) > 0 {
		due := now
		if g.job.Rate > 0 {
			due = g.due
		}
		if due.After(now) {
			return min(moment, due.Sub(now))
		}
		if !due.Before(g.until) {
			return moment
		}
		g.due = g.due.Add(time.Duration(float64(time.Second) / max(g.job.Rate, 1)))
		c := g.free[0] // the one that has rested longest
		g.free = g.free[1:]
		c.asked, c.due = g.next(), due
		if err := c.send(); err != nil {
			g.fail(err) // reading will fail too, and connect anew
		}
	}
	return moment
}

// next is what to ask: what follows from an answer comes before anything new.
func (g *generator) next() (next question) {
	if len(g.followers) > 0 {
		next, g.followers = g.followers[0], g.followers[1:]
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
		g.followers = append(g.followers, question{next, number})
	}
	counted := now
	if g.job.Rate > 0 {
		counted = c.due // however late its answer comes
	}
	if !counted.Before(g.from) && counted.Before(g.until) {
		g.add(now.Sub(c.due))
	}
}

// reconnect replaces a connection. A server may close one on which nothing is asked.
func (g *generator) reconnect(c *connection, cause error) {
	if rests := slices.Index(g.free, c); rests >= 0 {
		g.free = slices.Delete(g.free, rests, rests+1)
	} else {
		g.fail(cause)
	}
	delete(g.clients, int32(c.fd))
	c.file.Close()
	g.err = errors.Join(g.err, g.connect())
}
