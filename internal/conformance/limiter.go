package conformance

import (
	"sync"
	"testing"
	"time"

	"petstore/internal/petstore"
)

// Limiter checks that the limiter of open keeps every promise of petstore.Limiter and every published rule of the rate
// limits. Each case opens a new limiter, which has counted nothing and reads the time from now. The function open
// registers its own cleanup.
func Limiter(t *testing.T, open func(t *testing.T, now func() time.Time) petstore.Limiter) {
	groups := []struct {
		name  string
		cases []limiterCase
	}{
		{"windows", windowCases},
		{"refusals", refusalCases},
		{"peeks", peekCases},
		{"provocations", provocationCases},
		{"bans", bannedCases},
		{"plans", planCases},
		{"clock", clockCases},
		{"crowds", crowdCases},
	}
	for _, group := range groups {
		t.Run(group.name, func(t *testing.T) {
			for _, c := range group.cases {
				t.Run(c.behaviour, func(t *testing.T) {
					clock := &fakeClock{time: epoch}
					c.check(limiterTest{t, open(t, clock.now), clock})
				})
			}
		})
	}
}

type limiterCase struct {
	behaviour string
	check     func(t limiterTest)
}

// limiterTest is a running case: the test, the limiter under test, and its clock, which starts at epoch.
type limiterTest struct {
	*testing.T
	petstore.Limiter
	*fakeClock
}

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

// sleepSeconds sleeps like a client that rounds up to whole seconds.
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
		t.Fatalf("retry after %v, want the %v until the reset, and more than nothing", d.RetryAfter, wait)
	}
	return d
}

// gets takes one request and checks its outcome, limit, remaining requests and reset.
func (t limiterTest) gets(ask petstore.Ask, outcome petstore.Outcome, limit, remaining int64, reset time.Time) {
	t.Helper()
	d := t.take(ask)
	if d.Outcome != outcome || d.Limit != limit || d.Remaining != remaining || !d.Reset.Equal(reset) {
		t.Fatalf("at %v:\n got outcome %d, %d of %d left until %v\nwant outcome %d, %d of %d left until %v", d.Now,
			d.Outcome, d.Remaining, d.Limit, d.Reset.UTC(), outcome, remaining, limit, reset.UTC())
	}
}

// uses takes n requests that must all pass.
func (t limiterTest) uses(ask petstore.Ask, n int) {
	t.Helper()
	for i := range n {
		if d := t.take(ask); d.Outcome != petstore.Allowed {
			t.Fatalf("request %d of %d was refused: %+v", i+1, n, d)
		}
	}
}

// usesSlowly takes n requests that must all pass, a minute's limit at a time, and leaves the clock in a fresh minute.
func (t limiterTest) usesSlowly(ask petstore.Ask, n int) {
	t.Helper()
	for perMinute := int(ask.Limits.PerMinute); n > 0; n -= perMinute {
		t.uses(ask, min(n, perMinute))
		t.sleep(time.Minute)
	}
}

// isRefused takes n requests that a limit must all refuse. It returns the numbers, counted from 1, of those whose answer
// asked for a ban.
func (t limiterTest) isRefused(ask petstore.Ask, n int) (provocations []int) {
	t.Helper()
	for i := range n {
		d := t.take(ask)
		if d.Outcome != petstore.Limited || d.Remaining != 0 {
			t.Fatalf("request %d of %d was not refused: %+v", i+1, n, d)
		}
		if d.BanNow {
			provocations = append(provocations, i+1)
		}
	}
	return provocations
}
