package ratelimit

import (
	"bytes"
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"petstore/internal/limitertest"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// openFallback creates a Fallback for one test. Its timeouts are long enough for a busy machine. If there is a Redis, the
// clock stands still.
func openFallback(t *testing.T, url string, env petstore.Environment) (*Fallback, *record) {
	t.Helper()
	log := &record{}
	f, err := newFallback(withLongTimeouts(url), env, slog.New(slog.NewTextHandler(log, nil)), unobserved, time.Minute)
	noError(t, err)
	t.Cleanup(f.Close)
	if redis := f.redis.Load(); redis != nil {
		f.now = func() time.Time { return morning }
		redis.clock = f.now
	}
	return f, log
}

func unobserved(bool, time.Duration) {}

func TestFallbackConforms(t *testing.T) {
	limitertest.Run(t, func(t *testing.T, now func() time.Time) petstore.Limiter {
		f, _ := openFallback(t, testservice.Redis(t), petstore.Environment(rand.Text()))
		f.now, f.redis.Load().clock = now, now
		return f
	})
}

func TestFallbackConformsWithoutRedis(t *testing.T) {
	limitertest.Run(t, func(t *testing.T, now func() time.Time) petstore.Limiter {
		f, _ := openFallback(t, "redis://"+testservice.FreeAddress(t), petstore.Production)
		f.now = now
		return f
	})
}

func TestReplicasCountTogetherWhileRedisAnswers(t *testing.T) {
	url, env := testservice.Redis(t), petstore.Environment(rand.Text())
	first, _ := openFallback(t, url, env)
	second, _ := openFallback(t, url, env)
	third, _ := openFallback(t, url, env)
	passed := 0
	for range 50 {
		for _, replica := range []*Fallback{first, second, third} {
			if take(t, replica, owner).Outcome == petstore.Allowed {
				passed++
			}
		}
	}
	if passed != 60 {
		t.Errorf("%d of 150 requests over three replicas passed, want 60", passed)
	}
}

func TestARefusedConnectionFallsBackAtOnceToTheLastCounts(t *testing.T) {
	server := testservice.StartRedis(t)
	f, log := openFallback(t, server.URL, petstore.Production)
	other, _ := openFallback(t, server.URL, petstore.Production)
	for range 39 {
		take(t, other, owner)
	}
	if d := take(t, f, owner); d.Remaining != 20 {
		t.Fatalf("the 40th request gets %+v", d)
	}

	server.Stop(t)
	for want := int64(19); want >= 0; want-- {
		d := take(t, f, owner)
		if d.Outcome != petstore.Allowed || d.Remaining != want {
			t.Fatalf("without Redis a request gets %+v, want %d remaining", d, want)
		}
		if !f.Degraded() || !d.Alone {
			t.Fatalf("Degraded is %v and a request gets %+v, want a degraded replica that decides alone", f.Degraded(), d)
		}
	}
	if d := take(t, f, owner); d.Outcome != petstore.Limited {
		t.Errorf("the 61st request gets %+v", d)
	}

	server.Start(t)
	waitForDegraded(t, f, false)
	if d := take(t, f, owner); d.Outcome != petstore.Limited || d.Alone {
		t.Errorf("the 62nd request, when Redis is back and has forgotten everything, gets %+v", d)
	}
	if d := take(t, other, owner); d.Outcome != petstore.Limited {
		t.Errorf("the 63rd request, on the other replica, gets %+v", d)
	}
	log.says(t, "level=WARN", "out of reach", "level=INFO", "is back")
}

func TestFallbackStartsWithoutRedisAndFindsItLater(t *testing.T) {
	server := testservice.StartRedis(t)
	server.Stop(t)
	f, log := openFallback(t, server.URL, petstore.Production)
	if !f.Degraded() {
		t.Error("Degraded is false without Redis")
	}
	log.says(t, "level=WARN", "out of reach")
	if d := take(t, f, owner); d.Outcome != petstore.Allowed {
		t.Errorf("without Redis the first request gets %+v", d)
	}
	server.Start(t)
	waitForDegraded(t, f, false)
	take(t, f, owner)
	log.says(t, "level=WARN", "out of reach", "level=INFO", "is back")
}

func TestOnlyTheThirdTimeoutInARowFallsBack(t *testing.T) {
	server := testservice.StartRedis(t)
	f, log := openFallback(t, server.URL, petstore.Production)
	passes := func(degraded bool) {
		t.Helper()
		if d := take(t, f, owner); d.Outcome != petstore.Allowed {
			t.Fatalf("a request gets %+v", d)
		}
		if f.Degraded() != degraded {
			t.Fatalf("degraded is %v, want %v", f.Degraded(), degraded)
		}
	}
	passes(false)
	server.Pause(t)
	f.setTimeout(answerTimeout)
	passes(false)
	passes(false)
	server.Resume(t)
	f.setTimeout(time.Minute)
	passes(false)

	server.Pause(t)
	f.setTimeout(answerTimeout)
	passes(false)
	passes(false)
	passes(true)
	passes(true)
	server.Resume(t)
	waitForDegraded(t, f, false)
	log.says(t, "level=WARN", "out of reach", "level=INFO", "is back")
}

func TestAnEmptiedRedisGrantsNoWindowTwice(t *testing.T) {
	server := testservice.StartRedis(t)
	f, log := openFallback(t, server.URL, petstore.Production)
	other, _ := openFallback(t, server.URL, petstore.Production)
	now := morning
	for _, replica := range []*Fallback{f, other} {
		replica.redis.Load().clock = func() time.Time { return now }
	}
	ask := petstore.Ask{Subject: "owner", Limits: petstore.Limits{PerMinute: 40, PerDay: 50}}
	for range 40 + 39 {
		take(t, f, ask)
	}
	flush(t, f)
	if d := take(t, f, ask); d.Outcome != petstore.Limited || !d.BanNow {
		t.Errorf("after 40 requests and 39 refusals the next one gets %+v", d)
	}
	if d := take(t, other, ask); d.Outcome != petstore.Limited || d.BanNow {
		t.Errorf("the next one on another replica gets %+v", d)
	}
	flush(t, f)
	now = now.Add(time.Minute)
	if d := take(t, f, ask); d.Limit != 50 || d.Remaining != 9 {
		t.Errorf("in the next minute, after 40 requests of the day, a request gets %+v", d)
	}
	if f.Degraded() {
		t.Error("the replica fell back")
	}
	log.says(t)
}

func flush(t *testing.T, f *Fallback) {
	t.Helper()
	client := f.redis.Load().client
	noError(t, client.Do(t.Context(), client.B().Flushall().Build()).Error())
}

func TestOverlappingWaitsCountAsOneTimeout(t *testing.T) {
	server := testservice.StartRedis(t)
	f, log := openFallback(t, server.URL, petstore.Production)
	take(t, f, owner)
	server.Pause(t)
	f.setTimeout(time.Second)
	var all sync.WaitGroup
	for _, subject := range []string{"a", "a", "b", "c", "d", "e"} {
		all.Go(func() { take(t, f, petstore.Ask{Subject: subject, Limits: owner.Limits}) })
	}
	all.Wait()
	if f.Degraded() {
		t.Error("six requests that waited at the same time made the replica fall back")
	}
	server.Resume(t)
	f.setTimeout(time.Minute)
	if d := take(t, f, owner); d.Remaining != 58 {
		t.Errorf("the second request of the owner gets %+v", d)
	}
	log.says(t)
}

func TestRequestsDuringAPauseOfRedisAreCountedOnce(t *testing.T) {
	server := testservice.StartRedis(t)
	f, _ := openFallback(t, server.URL, petstore.Production)
	f.redis.Load().clock = func() time.Time { return morning }
	f.now = func() time.Time { return morning }
	take(t, f, owner)
	server.Pause(t)
	f.setTimeout(answerTimeout)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { take(t, f, owner) })
	}
	all.Wait()
	f.setTimeout(time.Minute)
	stays := f.begin(owner)
	server.Resume(t)
	if d, err := stays(); err != nil || d.Alone || d.Remaining != 60-22 {
		t.Errorf("after 21 requests of 60 one that waits for Redis gets %+v, %v", d, err)
	}
	if d := take(t, f, owner); d.Alone || d.Remaining != 60-23 {
		t.Errorf("after 22 requests of 60 the next one gets %+v", d)
	}
}

// setTimeout changes how long requests wait for Redis from now on.
func (f *Fallback) setTimeout(timeout time.Duration) {
	f.timeout = timeout
	f.lastContext.Store(nil)
}

func TestARequestWaitsForRedisForAtMostAQuarterOfASecond(t *testing.T) {
	f, err := NewFallback(testservice.StartRedis(t).URL, petstore.Production, slog.New(slog.DiscardHandler), unobserved)
	noError(t, err)
	defer f.Close()
	before := time.Now()
	ends, _ := f.waitContext(before).Deadline()
	if after := time.Now(); ends.Before(before.Add(250*time.Millisecond)) || ends.After(after.Add(250*time.Millisecond)) {
		t.Errorf("a request waits for %v, want the 250 ms that docs/counting.md states", ends.Sub(before))
	}
}

func TestOnlyRequestsThatArriveTogetherShareADeadline(t *testing.T) {
	f, _ := openFallback(t, testservice.Redis(t), petstore.Environment(rand.Text()))
	f.setTimeout(time.Minute)
	start := time.Now()
	first, _ := f.waitContext(start).Deadline()
	for _, c := range []struct {
		after  time.Duration
		shared bool
	}{{6*time.Second - 1, true}, {6 * time.Second, false}} {
		if ends, _ := f.waitContext(start.Add(c.after)).Deadline(); ends.Equal(first) != c.shared {
			t.Errorf("a request that arrives %v later shares the deadline of the first: %v, want %v", c.after, !c.shared, c.shared)
		}
	}
}

func TestFallbackGivesUpOnAHangingRedisAfterThreeTimeouts(t *testing.T) {
	server := testservice.StartRedis(t)
	var redis, process atomic.Int64
	f, err := NewFallback(server.URL, petstore.Production, slog.New(slog.DiscardHandler), func(byRedis bool, _ time.Duration) {
		if byRedis {
			redis.Add(1)
		} else {
			process.Add(1)
		}
	})
	noError(t, err)
	defer f.Close()
	eventually(t, "Redis decides", func() bool { take(t, f, owner); return redis.Load() > 0 })

	server.Pause(t)
	defer server.Resume(t)
	process.Store(0)
	decided := make(chan struct{})
	go func() {
		defer close(decided)
		for range 4 {
			f.Take(t.Context(), owner)
		}
	}()
	select {
	case <-decided:
	case <-time.After(10 * time.Second):
		t.Fatal("a paused Redis delayed four requests by more than 10 s")
	}
	if !f.Degraded() || process.Load() != 4 {
		t.Errorf("after four requests degraded is %v, and this process decided %d of them", f.Degraded(), process.Load())
	}
}

func TestARedisThatNeverAnswersDelaysNobody(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	defer listener.Close()
	log := &record{}
	f, err := NewFallback("redis://"+listener.Addr().String(), petstore.Production, slog.New(slog.NewTextHandler(log, nil)), unobserved)
	noError(t, err)
	defer f.Close()
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for range 1_000 {
				take(t, f, petstore.Ask{Subject: "owner", Limits: petstore.FirstKeyLimits})
			}
		})
	}
	all.Wait() // if each request waited for Redis, Wait would take minutes
	log.says(t, "level=WARN", "out of reach")
}

func TestARedisThatCannotWriteIsOutOfReach(t *testing.T) {
	server := testservice.StartRedis(t)
	f, log := openFallback(t, server.URL, petstore.Production)
	take(t, f, owner)
	redis := f.redis.Load()
	maxmemory := func(bytes string) {
		t.Helper()
		set := redis.client.B().ConfigSet().ParameterValue().ParameterValue("maxmemory", bytes).Build()
		noError(t, redis.client.Do(t.Context(), set).Error())
	}
	maxmemory("1")
	if d := take(t, f, owner); d.Remaining != 58 || !f.Degraded() {
		t.Errorf("a request gets %+v, degraded is %v", d, f.Degraded())
	}
	if err := redis.probe(t.Context(), owner.Subject); err == nil {
		t.Error("a probe found nothing wrong")
	}
	maxmemory("0")
	waitForDegraded(t, f, false)
	log.says(t, "level=WARN", "out of reach", "level=INFO", "is back")
}

func TestWithoutRedisFallbackKeepsTheClockOfRedis(t *testing.T) {
	server := testservice.StartRedis(t)
	f, _ := openFallback(t, server.URL, petstore.Production)
	f.redis.Load().clock = func() time.Time { return morning.Add(time.Hour) }
	take(t, f, owner)
	server.Stop(t)
	if d := take(t, f, owner); !d.Now.Equal(morning.Add(time.Hour)) || d.Remaining != 58 {
		t.Errorf("a request gets %+v, want the time of Redis, which is an hour ahead", d)
	}
}

func TestRedisMayComeAndGoUnderLoad(t *testing.T) {
	server := testservice.StartRedis(t)
	f, _ := openFallback(t, server.URL, petstore.Production)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for ctx.Err() == nil {
				if _, err := f.Take(ctx, owner); err != nil {
					t.Errorf("unexpected error: %v", err)
				}
				runtime.Gosched()
			}
		})
	}
	for range 2 {
		server.Stop(t)
		waitForDegraded(t, f, true)
		server.Start(t)
		waitForDegraded(t, f, false)
	}
	stop()
	all.Wait()
}

func TestCloseLeavesNothingRunning(t *testing.T) {
	server := testservice.StartRedis(t)
	before := runtime.NumGoroutine()
	for _, stopped := range []bool{false, true} {
		f, err := NewFallback(server.URL, petstore.Production, slog.New(slog.DiscardHandler), unobserved)
		noError(t, err)
		if stopped {
			server.Stop(t)
		}
		take(t, f, owner)
		f.Close()
	}
	eventually(t, "all goroutines are gone", func() bool { return runtime.NumGoroutine() <= before })
}

func TestAWrongRedisURLIsTheOnlyErrorAtStart(t *testing.T) {
	if _, err := NewFallback("http://localhost", petstore.Production, slog.New(slog.DiscardHandler), unobserved); err == nil {
		t.Error("http://localhost was accepted")
	}
}

// waitForDegraded waits until f.Degraded returns degraded.
func waitForDegraded(t *testing.T, f *Fallback, degraded bool) {
	t.Helper()
	eventually(t, "degraded has changed", func() bool { return f.Degraded() == degraded })
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not after 30 s: %s", what)
		}
	}
}

// record is a log that a test can read.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

// The method says fails the test unless the log has exactly one line for each pair of words, in this order. Each line must
// contain both words of its pair.
func (r *record) says(t *testing.T, words ...string) {
	t.Helper()
	lines := func() []string {
		r.mu.Lock()
		defer r.mu.Unlock()
		return strings.FieldsFunc(r.text.String(), func(c rune) bool { return c == '\n' })
	}
	eventually(t, "the log is complete", func() bool { return len(lines()) >= len(words)/2 })
	for i, line := range lines() {
		if 2*i >= len(words) || !strings.Contains(line, words[2*i]) || !strings.Contains(line, words[2*i+1]) {
			t.Errorf("line %d of the log is %q, want %v", i+1, line, words)
		}
	}
}
