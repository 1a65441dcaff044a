package ratelimit

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"petstore/internal/petstore"
)

// history decides as the published rules say, naively: it keeps the time of every request and counts them again for
// every answer.
type history struct{ passed, refused []time.Time }

func (h *history) take(ask petstore.Ask, clock time.Time) petstore.Decision {
	now := clock
	for _, earlier := range slices.Concat(h.passed, h.refused) {
		if minute := earlier.Truncate(time.Minute); minute.After(now) {
			now = minute
		}
	}
	minuteStart, dayStart := now.Truncate(time.Minute), now.Truncate(24*time.Hour)
	minuteEnd, dayEnd := minuteStart.Add(time.Minute), dayStart.Add(24*time.Hour)
	minuteFull := since(h.passed, minuteStart) >= ask.Limits.PerMinute
	dayFull := ask.Limits.PerDay != 0 && since(h.passed, dayStart) >= ask.Limits.PerDay

	d := petstore.Decision{Now: clock}
	switch {
	case clock.Before(ask.BannedUntil):
		d.Outcome = petstore.Banned
	case minuteFull || dayFull:
		d.Outcome = petstore.Limited
		if !ask.Peek {
			h.refused = append(h.refused, now)
			threshold := ask.Limits.PerMinute
			if threshold < 30 {
				threshold = 30
			}
			d.BanNow = ask.Limits.PerDay != 0 && since(h.refused, minuteStart)%threshold == 0
		}
	default:
		if !ask.Peek {
			h.passed = append(h.passed, now)
		}
	}

	minuteLeft := max(0, ask.Limits.PerMinute-since(h.passed, minuteStart))
	dayLeft := max(0, ask.Limits.PerDay-since(h.passed, dayStart))
	d.Limit, d.Remaining, d.Reset = ask.Limits.PerMinute, minuteLeft, minuteEnd
	if ask.Limits.PerDay != 0 && (dayLeft < minuteLeft || d.Outcome == petstore.Limited && dayFull && dayEnd.After(minuteEnd)) {
		d.Limit, d.Remaining, d.Reset = ask.Limits.PerDay, dayLeft, dayEnd
	}
	if d.Outcome == petstore.Banned {
		d.Limit, d.Remaining, d.Reset = ask.Limits.PerMinute, 0, ask.BannedUntil
		if minuteFull && minuteEnd.After(d.Reset) {
			d.Reset = minuteEnd
		}
		if dayFull && dayEnd.After(d.Reset) {
			d.Limit, d.Reset = ask.Limits.PerDay, dayEnd
		}
	}
	d.RetryAfter = d.Reset.Sub(clock)
	return d
}

func since(times []time.Time, start time.Time) (n int64) {
	for _, t := range times {
		if !t.Before(start) {
			n++
		}
	}
	return n
}

func TestPolicyDecidesLikeAListOfTimestamps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var model history
		var c counter
		walk := newWalk(t, 24*time.Hour)
		for range 200 {
			ask := walk.next(t)
			got, want := c.take(&ask, walk.now.UnixMilli()), model.take(ask, walk.now)
			if got != want {
				t.Fatalf("%+v at %v:\n got %+v\nwant %+v", ask, walk.now, got, want)
			}
		}
	})
}

// walk is a random sequence of requests of one subject under a random clock, which steps back by so much at most.
type walk struct {
	now, latest time.Time
	back        time.Duration
	limits      petstore.Limits
}

func newWalk(t *rapid.T, back time.Duration) *walk {
	perMinute := rapid.Int64Range(1, 40).Draw(t, "per minute")
	perDay := rapid.SampledFrom([]int64{0, perMinute, 2*perMinute + 1}).Draw(t, "per day")
	start := time.Date(2026, time.November, 14, 23, 58, 30, 0, time.UTC)
	return &walk{start, start, back, petstore.Limits{PerMinute: perMinute, PerDay: perDay}}
}

var clockSteps = rapid.SampledFrom([]time.Duration{
	time.Millisecond, 999 * time.Millisecond, time.Minute, 7 * time.Hour,
	-time.Millisecond, -time.Second, -30 * time.Second, -3 * time.Hour,
})

func (w *walk) step(by time.Duration) {
	w.now = w.now.Add(by)
	if w.now.After(w.latest) {
		w.latest = w.now
	}
	if earliest := w.latest.Add(-w.back); w.now.Before(earliest) {
		w.now = earliest
	}
}

// next is the next request; sometimes the clock moves before.
func (w *walk) next(t *rapid.T) petstore.Ask {
	ask := petstore.Ask{Subject: "subject", Limits: w.limits}
	switch rapid.IntRange(0, 24).Draw(t, "kind") {
	case 0, 1:
		w.step(clockSteps.Draw(t, "step"))
	case 2:
		ask.Peek = true
	case 3:
		ban := rapid.Int64Range(-1_000, 120_000).Draw(t, "ban")
		ask.BannedUntil = w.now.Add(time.Duration(ban) * time.Millisecond)
	case 4:
		if ask.Limits.PerDay > 0 {
			ask.Limits.PerMinute, ask.Limits.PerDay = ask.Limits.PerMinute+3, ask.Limits.PerDay+5
		}
	}
	return ask
}

func TestManyRequestsAtOnceCountLikeOneAfterTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk := newWalk(t, 0)
		c := counter{
			minute:   walk.now.UnixMilli() / millisPerMinute,
			passed:   rapid.Int64Range(0, 50).Draw(t, "passed"),
			rejected: rapid.Int64Range(0, 50).Draw(t, "rejected"),
			today:    rapid.Int64Range(0, 50).Draw(t, "today"),
		}
		ask := walk.next(t)
		now := max(walk.now.UnixMilli(), c.minute*millisPerMinute)
		c = c.at(now / millisPerMinute)
		n := rapid.Int64Range(0, 100).Draw(t, "requests")
		one := c
		for range n {
			one.take(&ask, now)
		}
		if all := c.after(n, &ask, now); all != one {
			t.Fatalf("%d of %+v on %+v: %+v, and one after the other %+v", n, ask, c, all, one)
		}
	})
}
