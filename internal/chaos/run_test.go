//go:build linux

package chaos

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"petstore/internal/history"
)

// system is the service under load, with the faults that may happen to it.
type system struct {
	base         string
	keys         map[string]string // the secrets of the API keys, by name
	faults       []fault
	awaitHealthy func(t testing.TB) // waits until every part works
	steady       bool               // no fault of this system may make a request fail
	count        counter

	counting  []string // the admin addresses of servers that count requests in Redis
	mu        sync.Mutex
	uncounted []history.Interval
}

// fault is something that happens to a part of a system. The function do causes the fault, and returns when the cause is
// gone.
type fault struct {
	part, name string
	do         func(t testing.TB, random *rand.Rand)
	uncounted  bool // whether more requests than the limit may pass during the fault
}

// hold sleeps for as long as a fault lasts. Sometimes that is longer than the timeouts of the affected parts.
func hold(random *rand.Rand) {
	length := 200*time.Millisecond + time.Duration(random.Int64N(int64(time.Second)))
	if random.IntN(5) == 0 {
		length *= 4
	}
	time.Sleep(length)
}

// run is one scenario under load.
type run struct {
	scenario
	report *report
	seed   uint64
	back   time.Duration // the longest time from the end of a fault until the service worked again
}

const (
	workers = 12
	// recovery is the timeout of every wait for a system. Only a broken system reaches it.
	recovery = time.Minute
)

// play starts the system, makes faults happen under load, and checks the answers.
func (r *run) play(t *testing.T, length time.Duration) {
	s := r.start(t)
	s.awaitHealthy(t)
	h := history.New()
	s.count.next = &http.Transport{MaxIdleConnsPerHost: workers}
	load := history.Load{Base: s.base, Keys: s.keys, Client: &http.Client{Transport: &s.count}, Seed: r.seed, Workers: workers, Pause: *pause}
	ctx, stop := context.WithCancel(context.Background())
	var loading sync.WaitGroup
	loading.Go(func() { load.Run(ctx, h) })
	defer loading.Wait()
	defer stop()
	stopWatching := s.watch(h)
	defer stopWatching()

	note("%s: load begins", r.name)
	start := time.Now()
	r.awaitProgress(t, s)
	r.inject(t, s, h, start.Add(length))
	stop()
	loading.Wait()
	stopWatching()
	took := time.Since(start)

	ctx, cancel := context.WithTimeout(context.Background(), recovery)
	defer cancel()
	load.ReadBack(ctx, h)
	if ctx.Err() != nil {
		t.Errorf("the lists and the feed could not be read to their ends within %v", recovery)
	}
	r.check(t, s, h, took)
}

// inject makes faults happen until the time is over. It goes through all faults in a random order, and then through all of
// them again in another order. Some faults happen in pairs that touch different parts.
func (r *run) inject(t *testing.T, s *system, h *history.History, end time.Time) {
	name := fnv.New64()
	name.Write([]byte(r.name))
	random := rand.New(rand.NewPCG(r.seed, name.Sum64()))
	var plan []fault
	for first := true; first || time.Now().Before(end); first = false {
		if len(plan) == 0 {
			plan = append(plan, s.faults...)
			random.Shuffle(len(plan), func(i, j int) { plan[i], plan[j] = plan[j], plan[i] })
		}
		now := plan[:1]
		if len(plan) > 1 && plan[0].part != plan[1].part && random.IntN(3) == 0 {
			now = plan[:2]
		}
		plan = plan[len(now):]
		began := h.Now()
		s.count.longest()
		r.happen(t, s, now, random)
		over := time.Now()
		s.awaitHealthy(t)
		if slices.ContainsFunc(now, func(f fault) bool { return f.uncounted }) {
			s.forgive(began, h.Now())
		}
		r.awaitProgress(t, s)
		r.back = max(r.back, time.Since(over))
		pause, _ := s.count.longest()
		r.report.happened(now, pause)
	}
}

// happen makes the given faults happen at the same time, and returns when all of them are over.
func (r *run) happen(t *testing.T, s *system, faults []fault, random *rand.Rand) {
	var names []string
	var all sync.WaitGroup
	for _, f := range faults {
		names = append(names, f.name)
		own := rand.New(rand.NewPCG(random.Uint64(), 0))
		all.Go(func() { f.do(t, own) })
	}
	note("%s: %s (%d requests so far, %d acknowledged)", r.name, strings.Join(names, ", and "), s.count.sent.Load(), s.count.acknowledged.Load())
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// awaitProgress waits until a few more requests have been acknowledged, writes among them.
func (r *run) awaitProgress(t *testing.T, s *system) {
	t.Helper()
	all, writes := s.count.acknowledged.Load()+20, s.count.writes.Load()+5
	eventually(t, "the service serves", func() bool { return s.count.acknowledged.Load() >= all && s.count.writes.Load() >= writes })
}

// awaitRefusal waits until the service refuses a request because of a fault.
func (s *system) awaitRefusal(t testing.TB) {
	t.Helper()
	refused := s.count.unavailable.Load()
	eventually(t, "a request is refused", func() bool { return s.count.unavailable.Load() > refused })
}

// eventually waits until a condition holds. If the condition does not hold in time, the test ends.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(recovery); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %v still not: %s", recovery, what)
		}
	}
}

// counter counts the requests and answers of the load.
type counter struct {
	next                                    http.RoundTripper
	sent, acknowledged, writes, unavailable atomic.Int64

	mu          sync.Mutex
	last        time.Time     // the time of the last acknowledged write
	pause, ever time.Duration // the longest times between two acknowledged writes: since the last call of longest, and ever
}

func (c *counter) RoundTrip(request *http.Request) (*http.Response, error) {
	c.sent.Add(1)
	answer, err := c.next.RoundTrip(request)
	switch {
	case err != nil:
	case answer.StatusCode == http.StatusServiceUnavailable:
		c.unavailable.Add(1)
	case answer.StatusCode < 300:
		c.acknowledged.Add(1)
		if request.Method != http.MethodGet {
			c.wrote()
		}
	}
	return answer, err
}

func (c *counter) wrote() {
	c.writes.Add(1)
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.last.IsZero() {
		c.pause, c.ever = max(c.pause, now.Sub(c.last)), max(c.ever, now.Sub(c.last))
	}
	c.last = now
}

// longest returns the longest times between two acknowledged writes: since the last call, and ever.
func (c *counter) longest() (sinceLast, ever time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sinceLast, c.pause = c.pause, 0
	return sinceLast, c.ever
}
