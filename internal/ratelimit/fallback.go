package ratelimit

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"petstore/internal/batch"
	"petstore/internal/petstore"
)

const (
	answerTimeout = 250 * time.Millisecond
	probeInterval = 250 * time.Millisecond

	// maxTimeouts is how many timeouts in a row mean that Redis is out of reach. A busy Redis may cause one or two.
	maxTimeouts = 3
)

// Fallback is the Limiter of one of several replicas. It counts in Redis. While Redis is out of reach, it counts in this
// process, starting from the last counts that Redis returned. It returns to Redis as soon as Redis answers again. From
// then on, each request sends Redis the counts that this process holds for its subject: those made meanwhile, and those
// that a Redis that lost its data has forgotten. Fallback never fails.
type Fallback struct {
	connect func() (*Redis, error)
	memory  *Memory
	now     func() time.Time
	timeout time.Duration // the longest that a request waits for Redis
	log     *slog.Logger
	observe Observe

	redis       atomic.Pointer[Redis] // nil until the first connection
	clockAhead  atomic.Int64          // by how many nanoseconds the clock of Redis is ahead of this process's
	timeouts    atomic.Int64          // the number of timeouts since the last answer
	degraded    atomic.Bool
	lastContext atomic.Pointer[sharedContext]
	lost        chan loss // receives each time that degraded becomes true

	mu      sync.Mutex
	counted time.Time // when the last timeout was counted

	stop    context.CancelFunc
	stopped chan struct{}
}

var (
	_ petstore.Limiter = (*Fallback)(nil)
	_ petstore.Distant = (*Fallback)(nil)
)

// Observe is called for every decision. Its arguments tell whether Redis or this process decided, and how long that took.
// Other work that the caller did while Redis decided does not count.
type Observe func(byRedis bool, took time.Duration)

// NewFallback makes a Fallback on the Redis at url. It fails only if the URL cannot be used. If nothing answers there, the
// Fallback counts requests in this process.
func NewFallback(url string, env petstore.Environment, log *slog.Logger, observe Observe) (*Fallback, error) {
	return newFallback(url, env, log, observe, answerTimeout)
}

func newFallback(url string, env petstore.Environment, log *slog.Logger, observe Observe, timeout time.Duration) (*Fallback, error) {
	option, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	f := &Fallback{
		connect: func() (*Redis, error) { return connect(option, env) },
		observe: observe,
		now:     time.Now,
		timeout: timeout,
		log:     log,
		lost:    make(chan loss, 1),
		stop:    stop,
		stopped: make(chan struct{}),
	}
	f.memory = NewMemory(func() time.Time { return f.now().Add(time.Duration(f.clockAhead.Load())) })
	if err := f.reach(ctx, ""); err != nil {
		f.degrade("", err)
	}
	go f.watch(ctx)
	return f, nil
}

// Take implements petstore.Limiter. It waits for Redis for at most 250 ms and ignores ctx: a request counts even if its
// client has gone.
func (f *Fallback) Take(_ context.Context, ask petstore.Ask) (petstore.Decision, error) {
	return f.begin(ask)()
}

// Begin implements petstore.Distant. It estimates what is left from the last counts that Redis returned.
func (f *Fallback) Begin(ask petstore.Ask) (wait func() (petstore.Decision, error)) {
	if f.degraded.Load() || !f.memory.known(&ask).hasHalfLeft(&ask, f.memory.now().UnixMilli()) {
		return nil
	}
	return f.begin(ask)
}

// GiveBack implements petstore.Limiter. If Redis does not answer, this process gives the request back and tells Redis with
// the next request of the address. Redis may have given the request back all the same, without an answer. That does no harm,
// because Redis takes the higher of two counts and does not add them up.
func (f *Fallback) GiveBack(_ context.Context, ask petstore.Ask, taken petstore.Decision) error {
	asked := time.Now()
	if redis := f.inReach(); redis != nil && !taken.Alone {
		found, err := redis.giveBack(f.waitContext(asked), ask, taken)
		if err == nil {
			f.memory.learn(&ask, found.counter, found.now/millisPerMinute)
			return nil
		}
		f.fail(ask.Subject, err, asked)
	}
	return f.memory.GiveBack(context.Background(), ask, taken)
}

// inReach returns the connection to Redis, or nil while Redis does not answer.
func (f *Fallback) inReach() *Redis {
	if f.degraded.Load() {
		return nil
	}
	return f.redis.Load()
}

// begin asks Redis to decide if it is in reach. If Redis does not decide, wait decides in this process.
func (f *Fallback) begin(ask petstore.Ask) (wait func() (petstore.Decision, error)) {
	asked := time.Now()
	redis := f.inReach()
	var begun batch.Begun[state]
	var ctx context.Context
	if redis != nil {
		begun, ctx = redis.begin(ask), f.waitContext(asked)
	}
	return func() (petstore.Decision, error) {
		if redis != nil {
			a, err := redis.await(ctx, ask, begun)
			if err == nil {
				f.remember(ask, asked, a)
				return a.decision, nil
			}
			f.fail(ask.Subject, err, asked)
		}
		decision, err := f.memory.Take(context.Background(), ask)
		decision.Alone = true
		f.observe(false, min(time.Since(asked), f.timeout)) // the caller may have done other work for longer
		return decision, err
	}
}

// remember keeps the clock and the counts of Redis. The answer may have come a while ago, because the caller did other
// work meanwhile.
func (f *Fallback) remember(ask petstore.Ask, asked time.Time, a answer) {
	f.observe(true, a.came.Sub(asked))
	f.timeouts.Store(0)
	f.clockAhead.Store(int64(a.decision.Now.Sub(a.came)))
	if a.decision.Outcome != petstore.Banned && !ask.Peek { // otherwise nothing was counted
		f.memory.learn(&ask, a.counter, a.decision.Now.UnixMilli()/millisPerMinute)
	}
}

// waitContext returns a context that ends when a request that arrives now has waited long enough for Redis. Requests that
// arrive together share one, because a timer for each would cost as much as its share of the decision.
func (f *Fallback) waitContext(now time.Time) context.Context {
	if shared := f.lastContext.Load(); shared != nil && now.Before(shared.until) {
		return shared
	}
	ctx, cancel := context.WithTimeout(context.Background(), f.timeout)
	_ = cancel // the timeout ends ctx
	f.lastContext.Store(&sharedContext{ctx, now.Add(f.timeout / 10)})
	return ctx
}

type sharedContext struct {
	context.Context
	until time.Time // requests after that get a new context
}

// Degraded reports whether requests are counted in this process because Redis is out of reach.
func (f *Fallback) Degraded() bool { return f.degraded.Load() }

// Close stops the probing and closes the connections.
func (f *Fallback) Close() {
	f.stop()
	<-f.stopped
	if redis := f.redis.Load(); redis != nil {
		redis.Close()
	}
}

func (f *Fallback) fail(subject string, err error, asked time.Time) {
	var late net.Error
	if errors.As(err, &late) && late.Timeout() && f.countTimeout(asked) < maxTimeouts {
		return
	}
	f.degrade(subject, err)
}

// countTimeout counts a wait that began at asked and ends now without an answer. It returns how many such waits have
// occurred in a row. Overlapping waits count as one, because Redis may have paused only once.
func (f *Fallback) countTimeout(asked time.Time) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if asked.Before(f.counted) {
		return f.timeouts.Load()
	}
	f.counted = time.Now()
	return f.timeouts.Add(1)
}

// loss says why Redis counts as out of reach.
type loss struct {
	subject string // the subject for which Redis failed
	err     error
}

func (f *Fallback) degrade(subject string, err error) {
	if f.degraded.CompareAndSwap(false, true) {
		f.log.Warn("Redis is out of reach: this replica counts requests by itself until Redis answers again", "error", err)
		f.lost <- loss{subject, err}
	}
}

// watch waits until Redis is lost, and returns to Redis as soon as it answers.
func (f *Fallback) watch(ctx context.Context) {
	defer close(f.stopped)
	for {
		select {
		case <-ctx.Done():
			return
		case lost := <-f.lost:
			f.leaveReplica(lost.err)
			if !f.regain(ctx, lost.subject) {
				return
			}
			f.timeouts.Store(0)
			f.degraded.Store(false)
			f.log.Info("Redis is back: this replica counts requests together with the others again")
		}
	}
}

// regain returns true as soon as Redis decides again, or false if ctx ends first. It probes the subject for which Redis
// failed, because only part of a Cluster may be out of reach.
func (f *Fallback) regain(ctx context.Context, subject string) bool {
	ticks := time.NewTicker(probeInterval)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-ticks.C:
			if f.reach(ctx, subject) == nil {
				return true
			}
		}
	}
}

// reach connects to Redis if there is no connection yet, and probes the subject.
func (f *Fallback) reach(ctx context.Context, subject string) error {
	redis := f.redis.Load()
	if redis == nil {
		var err error
		if redis, err = f.connect(); err != nil {
			return err
		}
		redis.known, redis.local = f.memory.known, func() time.Time { return f.now() }
		f.redis.Store(redis)
	}
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	err := redis.probe(ctx, subject)
	f.leaveReplica(err)
	return err
}

// leaveReplica closes all connections if err says that this Redis server has become a replica, since new ones may lead to
// the primary. A probe alone could pass on a newer connection and leave the older ones in use.
func (f *Fallback) leaveReplica(err error) {
	if !isReplica(err) {
		return
	}
	if redis := f.redis.Swap(nil); redis != nil {
		redis.Close()
	}
}
