// Package limitertest holds the suite of tests that every Limiter must pass. Only tests import the package. Whenever two
// limiters turn out to differ, the difference becomes a case in the suite.
package limitertest

import (
	"sync"
	"testing"
	"time"

	"petstore/internal/petstore"
)

// Run checks that a limiter keeps every promise of petstore.Limiter and every published rule of the rate limits. For
// each case, the function open returns a new limiter that has counted nothing and reads the time from the function now. The
// function open also registers the limiter's cleanup.
func Run(t *testing.T, open func(t *testing.T, now func() time.Time) petstore.Limiter) {
	groups := []struct {
		name  string
		cases []limiterCase
	}{
		{"windows", windowCases},
		{"refusals", refusalCases},
		{"peeks", peekCases},
		{"requests given back", giveBackCases},
		{"earned bans", earnedBanCases},
		{"bans", bannedCases},
		{"plans", planCases},
		{"clock", clockCases},
		{"concurrent requests", concurrentCases},
	}
	for _, group := range groups {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.behavior, func(t *testing.T) {
					clock := &fakeClock{time: epoch}
					c.check(limiterTest{t, open(t, clock.now), clock})
				})
			}
		})
	}
}

type limiterCase struct {
	behavior string
	check    func(t limiterTest)
}

// limiterTest is a running case: the test, the limiter under test, and the limiter's clock, which starts at epoch.
type limiterTest struct {
	*testing.T
	petstore.Limiter
	*fakeClock
}

// epoch is the time at which the cases begin. It is a whole number of milliseconds.
var epoch = time.Date(2026, time.November, 15, 9, 30, 0, int(123*time.Millisecond), time.UTC)

var (
	free    = petstore.Ask{Subject: "owner", Limits: petstore.Limits{PerMinute: 60, PerDay: 1_000}}
	pro     = petstore.Ask{Subject: "owner", Limits: petstore.Limits{PerMinute: 300, PerDay: 10_000}}
	address = petstore.Ask{Subject: "192.0.2.1", Limits: petstore.AddressLimits}

	minuteEnd   = epoch.Truncate(time.Minute).Add(time.Minute)
	midnight    = epoch.Truncate(24 * time.Hour).Add(24 * time.Hour)
	millisecond = time.Millisecond
)

func limited(perMinute, perDay int64) petstore.Ask {
	return petstore.Ask{Subject: "owner", Limits: petstore.Limits{PerMinute: perMinute, PerDay: perDay}}
}

func peek(ask petstore.Ask) petstore.Ask {
	ask.Peek = true
	return ask
}

func banned(ask petstore.Ask, until time.Time) petstore.Ask {
	ask.BannedUntil = until
	return ask
}

type fakeClock struct {
	mu   sync.Mutex
	time time.Time
}

func (c *fakeClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.time
}

func (c *fakeClock) set(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time = to
}

func (c *fakeClock) sleep(d time.Duration) { c.set(c.now().Add(d)) }

// sleepSeconds moves the clock forward by d, rounded up to whole seconds, as a sleeping client does.
func (c *fakeClock) sleepSeconds(d time.Duration) {
	c.sleep((d + time.Second - 1).Truncate(time.Second))
}

func (t limiterTest) take(ask petstore.Ask) petstore.Decision {
	t.Helper()
	d, err := t.Take(t.Context(), ask)
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
	if now := t.now().Truncate(millisecond); !d.Now.Equal(now) {
		t.Fatalf("decided at %v, want %v", d.Now, now)
	}
	if wait := d.Reset.Sub(d.Now); d.RetryAfter != wait || wait <= 0 {
		t.Fatalf("retry after %v, want the %v until the reset, and more than zero", d.RetryAfter, wait)
	}
	return d
}

// wantDecision takes one request, and fails the test unless the decision has this outcome, limit, number of remaining
// requests and reset time.
func (t limiterTest) wantDecision(ask petstore.Ask, outcome petstore.Outcome, limit, remaining int64, reset time.Time) {
	t.Helper()
	d := t.take(ask)
	if d.Outcome != outcome || d.Limit != limit || d.Remaining != remaining || !d.Reset.Equal(reset) {
		t.Fatalf("at %v:\n got outcome %d, %d of %d left until %v\nwant outcome %d, %d of %d left until %v", d.Now,
			d.Outcome, d.Remaining, d.Limit, d.Reset.UTC(), outcome, remaining, limit, reset.UTC())
	}
}

// giveBack gives back a request of an address.
func (t limiterTest) giveBack(ask petstore.Ask, taken petstore.Decision) {
	t.Helper()
	if err := t.GiveBack(t.Context(), ask, taken); err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// wantAllowed takes n requests and fails the test if one of them is refused.
func (t limiterTest) wantAllowed(ask petstore.Ask, n int) {
	t.Helper()
	for i := range n {
		if d := t.take(ask); d.Outcome != petstore.Allowed {
			t.Fatalf("request %d of %d was refused: %+v", i+1, n, d)
		}
	}
}

// wantAllowedOverMinutes takes n requests, and fails the test unless the limiter allows all of them. It takes as many
// requests in each minute as the limit allows. At the end, the clock is in a new minute.
func (t limiterTest) wantAllowedOverMinutes(ask petstore.Ask, n int) {
	t.Helper()
	for perMinute := int(ask.Limits.PerMinute); n > 0; n -= perMinute {
		t.wantAllowed(ask, min(n, perMinute))
		t.sleep(time.Minute)
	}
}

// wantLimited takes n requests, and fails the test unless a limit refuses all of them. It returns the numbers of the
// requests that earned a ban, counted from 1.
func (t limiterTest) wantLimited(ask petstore.Ask, n int) (bans []int) {
	t.Helper()
	for i := range n {
		d := t.take(ask)
		if d.Outcome != petstore.Limited || d.Remaining != 0 {
			t.Fatalf("request %d of %d was not refused: %+v", i+1, n, d)
		}
		if d.BanNow {
			bans = append(bans, i+1)
		}
	}
	return bans
}
