// Package load asks a server for as much as it can answer, and costs little itself: one thread waits for all
// connections, requests are ready-made bytes, and of an answer only its status and length are read.
package load

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"

	"petstore/bench/proc"
)

// Job is one measurement.
type Job struct {
	Address     string
	Connections int
	Requests    []Request
	Warmup      time.Duration
	Duration    time.Duration
	Seed        uint64
	// Processes are those whose processor time is measured, each with its children: the server, and what it works with.
	Server, Stores []int
}

// Result is what was measured after the warm-up.
type Result struct {
	Requests int64         `json:"requests"`
	Failed   int64         `json:"failed"`
	Failure  string        `json:"failure,omitempty"` // the first of them
	Elapsed  time.Duration `json:"elapsed"`
	P50      time.Duration `json:"p50"`
	P99      time.Duration `json:"p99"`
	Max      time.Duration `json:"max"`
	// Processor time of the server, of its stores, and of the load itself.
	ServerCPU time.Duration `json:"serverCpu"`
	StoresCPU time.Duration `json:"storesCpu,omitempty"`
	LoadCPU   time.Duration `json:"loadCpu"`
}

// grace is how long the last answers may take.
const grace = 30 * time.Second

type client struct {
	*connection
	sent    time.Time
	asked   Request
	then    *Request // what follows from the last answer
	waiting bool
}

type generator struct {
	job     Job
	sources []*source // as many of each as its share
	random  *rand.Rand
	epoll   int
	clients map[int32]*client
	waiting int

	from, until time.Time
	latencies   histogram
	result      Result
}

// Run drives the server and returns what was measured, or why nothing was.
func Run(job Job) (Result, error) {
	g := &generator{job: job, random: rand.New(rand.NewPCG(job.Seed, 1)), clients: make(map[int32]*client)}
	for _, r := range job.Requests {
		s := newSource(r, g.random)
		for range r.Share {
			g.sources = append(g.sources, s)
		}
	}
	var err error
	if g.epoll, err = syscall.EpollCreate1(syscall.EPOLL_CLOEXEC); err != nil {
		return Result{}, err
	}
	defer syscall.Close(g.epoll)
	for range job.Connections {
		if err := g.connect(); err != nil {
			return Result{}, fmt.Errorf("connecting to %s: %w", job.Address, err)
		}
	}
	return g.run()
}

func (g *generator) connect() error {
	conn, err := dial(g.job.Address)
	if err != nil {
		return err
	}
	fd := int32(conn.fd)
	g.clients[fd] = &client{connection: conn}
	return syscall.EpollCtl(g.epoll, syscall.EPOLL_CTL_ADD, conn.fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: fd})
}

func (g *generator) run() (Result, error) {
	start := time.Now()
	g.from = start.Add(g.job.Warmup)
	g.until = g.from.Add(g.job.Duration)
	for _, c := range g.clients {
		g.ask(c, start)
	}
	if err := g.serveUntil(g.from); err != nil {
		return g.result, err
	}
	server, stores, own := proc.CPU(g.job.Server...), proc.CPU(g.job.Stores...), proc.Own()
	if err := g.serveUntil(g.until); err != nil {
		return g.result, err
	}
	g.result.ServerCPU = proc.CPU(g.job.Server...) - server
	g.result.StoresCPU = proc.CPU(g.job.Stores...) - stores
	g.result.LoadCPU = proc.Own() - own

	for deadline := g.until.Add(grace); g.waiting > 0 && time.Now().Before(deadline); {
		if err := g.serve(); err != nil {
			return g.result, err
		}
	}
	if g.waiting > 0 {
		g.fail(fmt.Errorf("%d answers did not come within %v", g.waiting, grace))
	}
	for _, c := range g.clients {
		c.close()
	}
	g.result.Elapsed = g.job.Duration
	g.result.P50, g.result.P99, g.result.Max = g.latencies.quantile(0.5), g.latencies.quantile(0.99), g.latencies.max
	return g.result, nil
}

func (g *generator) serveUntil(t time.Time) error {
	for time.Now().Before(t) {
		if err := g.serve(); err != nil {
			return err
		}
	}
	return nil
}

// serve waits a moment for answers and follows each with the next request.
func (g *generator) serve() error {
	var events [128]syscall.EpollEvent
	n, err := syscall.EpollWait(g.epoll, events[:], 5)
	if err != nil && err != syscall.EINTR {
		return err
	}
	for i := range max(n, 0) {
		c := g.clients[events[i].Fd]
		whole, err := c.receive()
		switch {
		case err != nil:
			g.fail(err)
			if err := g.reconnect(c); err != nil {
				return err
			}
		case whole:
			now := time.Now()
			g.answered(c, now)
			g.ask(c, now)
		}
	}
	return nil
}

// ask sends the client's next request, unless the time is over.
func (g *generator) ask(c *client, now time.Time) {
	if !now.Before(g.until) {
		return
	}
	if c.then != nil {
		c.asked = *c.then
		c.out = c.asked.append(c.out[:0], ID(c.in[:c.read]))
	} else {
		next := g.sources[0]
		if len(g.sources) > 1 {
			next = g.sources[g.random.IntN(len(g.sources))]
		}
		c.asked = next.Request
		c.out = next.append(c.out[:0])
	}
	c.sent, c.waiting = now, true
	g.waiting++
	if err := c.send(); err != nil {
		g.fail(err) // reading will fail too, and connect anew
	}
}

func (g *generator) answered(c *client, now time.Time) {
	g.settle(c)
	c.then = nil
	if c.status != c.asked.Status {
		body := string(c.in[:min(c.read, 600)])
		g.fail(fmt.Errorf("status %d instead of %d: %s", c.status, c.asked.Status, body))
		return
	}
	c.then = c.asked.Then
	if !now.Before(g.from) && now.Before(g.until) {
		g.result.Requests++
		g.latencies.add(now.Sub(c.sent))
	}
}

func (g *generator) settle(c *client) {
	if c.waiting {
		c.waiting = false
		g.waiting--
	}
}

// fail counts a failure, in the warm-up too: none is expected ever.
func (g *generator) fail(err error) {
	if g.result.Failed++; g.result.Failure == "" {
		g.result.Failure = err.Error()
	}
}

func (g *generator) reconnect(c *client) error {
	g.settle(c)
	delete(g.clients, int32(c.fd))
	c.close()
	if err := g.connect(); err != nil {
		return fmt.Errorf("connecting again to %s: %w", g.job.Address, err)
	}
	for _, fresh := range g.clients {
		if !fresh.waiting {
			g.ask(fresh, time.Now())
		}
	}
	return nil
}
