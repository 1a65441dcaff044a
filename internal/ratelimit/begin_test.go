package ratelimit

import (
	"context"
	"crypto/rand"
	"log/slog"
	"testing"
	"time"

	"petstore/internal/limitertest"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// The type early is a Fallback whose Take uses Begin where possible.
type early struct{ *Fallback }

func (a early) Take(ctx context.Context, ask petstore.Ask) (petstore.Decision, error) {
	if wait := a.Begin(ask); wait != nil {
		return wait()
	}
	return a.Fallback.Take(ctx, ask)
}

func TestFallbackConformsWhenRequestsAreBegunEarly(t *testing.T) {
	limitertest.Run(t, func(t *testing.T, now func() time.Time) petstore.Limiter {
		f, _ := openFallback(t, testservice.Redis(t), petstore.Environment(rand.Text()))
		f.now, f.redis.Load().clock = now, now
		return early{f}
	})
}

func TestBeginIsOnlyForSubjectsWithPlentyLeft(t *testing.T) {
	f, _ := openFallback(t, testservice.Redis(t), petstore.Environment(rand.Text()))
	ask := petstore.Ask{Subject: "ann", Limits: petstore.Limits{PerMinute: 5, PerDay: 100}}
	if f.Begin(ask) != nil {
		t.Error("Begin took a request of an owner about whom nothing is known")
	}
	for passed := int64(1); passed <= 5; passed++ {
		wait := f.Begin(ask)
		if wait == nil {
			wait = func() (petstore.Decision, error) { return f.Take(t.Context(), ask) }
		}
		if roomy := passed == 2 || passed == 3; roomy != (f.memory.known(&ask).hasHalfLeft(&ask, morning.UnixMilli())) {
			t.Errorf("before request %d there should be room: %v", passed, roomy)
		}
		if d, err := wait(); err != nil || d.Outcome != petstore.Allowed || d.Remaining != 5-passed {
			t.Errorf("request %d: %+v, %v", passed, d, err)
		}
	}
	banned := petstore.Ask{Subject: "bob", Limits: ask.Limits}
	if _, err := f.Take(t.Context(), banned); err != nil {
		t.Fatal(err)
	}
	banned.BannedFrom, banned.BannedUntil = morning, morning.Add(time.Minute)
	if f.Begin(banned) != nil {
		t.Error("Begin took a request of a banned owner")
	}
	banned.BannedUntil = time.Time{}
	f.degraded.Store(true)
	if f.Begin(banned) != nil {
		t.Error("Begin took a request while Redis is out of reach")
	}
}

func TestALongReadDoesNotShiftTheKnownClockOfRedis(t *testing.T) {
	server := testservice.StartRedis(t)
	f, _ := openFallback(t, server.URL, petstore.Production)
	now := morning
	f.now = func() time.Time { return now }
	f.redis.Load().clock = f.now
	take(t, f, owner)
	wait := f.Begin(owner)
	take(t, f, owner) // returns only after Redis has decided about the request that Begin sent
	now = now.Add(5 * time.Second)
	if d, err := wait(); err != nil || !d.Now.Equal(morning) {
		t.Fatalf("Redis decided %+v, %v", d, err)
	}
	server.Stop(t)
	if d := take(t, f, owner); !d.Now.Equal(now) || d.Remaining != 56 {
		t.Errorf("after a read of 5 s and without Redis a request gets %+v, want the time %v", d, now)
	}
}

func TestTheTimeOfADecisionDoesNotIncludeTheRead(t *testing.T) {
	var took time.Duration
	f, err := newFallback(withLongTimeouts(testservice.Redis(t)), petstore.Environment(rand.Text()), slog.New(slog.DiscardHandler),
		func(_ bool, d time.Duration) { took = d }, time.Minute)
	noError(t, err)
	defer f.Close()
	take(t, f, owner)
	begin := time.Now()
	wait := f.Begin(owner)
	take(t, f, owner) // returns only after Redis has decided about the request that Begin sent
	longest := time.Since(begin)
	time.Sleep(longest + time.Millisecond) // the caller's read takes longer than the decision
	if _, err := wait(); err != nil || took > longest {
		t.Errorf("the decision took %v, want at most %v (%v)", took, longest, err)
	}
}

func TestTheTimeOfALocalDecisionDoesNotIncludeTheRead(t *testing.T) {
	server := testservice.StartRedis(t)
	var took time.Duration
	f, err := newFallback(withLongTimeouts(server.URL), petstore.Production, slog.New(slog.DiscardHandler), func(_ bool, d time.Duration) { took = d }, time.Minute)
	noError(t, err)
	defer f.Close()
	take(t, f, owner)
	server.Pause(t)
	defer server.Resume(t)
	f.setTimeout(10 * time.Millisecond)
	wait := f.Begin(owner)
	time.Sleep(50 * time.Millisecond) // the caller's read takes longer than the timeout
	if d, err := wait(); err != nil || !d.Alone || took > 10*time.Millisecond {
		t.Errorf("the decision %+v took %v, want at most 10 ms (%v)", d, took, err)
	}
}
