package ratelimit

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"petstore/internal/petstore"
)

// history is a model of the policy: it keeps every request and counts all of them for each decision.
type history struct{ passed, refused, returned []moment }

// moment is the minute and the day in which a request counts.
type moment struct{ minute, day time.Time }

func momentOf(t time.Time) moment { return moment{t.Truncate(time.Minute), t.Truncate(24 * time.Hour)} }

func (h *history) take(ask petstore.Ask, clock time.Time) petstore.Decision {
	seen, now := h.asOf(momentOf(clock))
	minuteEnd, dayEnd := now.minute.Add(time.Minute), now.day.Add(24*time.Hour)
	minuteFull := seen.usedIn(now) >= ask.Limits.PerMinute
	dayFull := ask.Limits.PerDay != 0 && inDay(seen.passed, now) >= ask.Limits.PerDay

	d := petstore.Decision{Now: clock}
	switch {
	case !clock.Before(ask.BannedFrom.Add(-time.Minute)) && clock.Before(ask.BannedUntil):
		d.Outcome = petstore.Banned
	case minuteFull || dayFull:
		d.Outcome = petstore.Limited
		if !ask.Peek {
			seen.refused = append(seen.refused, now)
			threshold := ask.Limits.PerMinute
			if threshold < 30 {
				threshold = 30
			}
			d.BanNow = ask.Limits.PerDay != 0 && inMinute(seen.refused, now)%threshold == 0
		}
	default:
		if !ask.Peek {
			seen.passed = append(seen.passed, now)
		}
	}
	if d.Outcome != petstore.Banned && !ask.Peek {
		*h = seen
	}

	minuteLeft := max(0, ask.Limits.PerMinute-seen.usedIn(now))
	dayLeft := max(0, ask.Limits.PerDay-inDay(seen.passed, now))
	d.Limit, d.Remaining, d.Reset = ask.Limits.PerMinute, minuteLeft, minuteEnd
	if ask.Limits.PerDay != 0 && dayLeft <= minuteLeft {
		d.Limit, d.Remaining, d.Reset = ask.Limits.PerDay, dayLeft, dayEnd
	}
	if d.Outcome == petstore.Banned {
		d.Limit, d.Remaining, d.Reset = ask.Limits.PerMinute, 0, ask.BannedUntil
		if minuteFull && minuteEnd.After(d.Reset) {
			d.Reset = minuteEnd
		}
		if dayFull && !dayEnd.Before(d.Reset) && dayEnd.After(ask.BannedUntil) {
			d.Limit, d.Reset = ask.Limits.PerDay, dayEnd
		}
	}
	d.RetryAfter = d.Reset.Sub(clock)
	return d
}

// giveBack gives a request of an address back to the minute that counted it.
func (h *history) giveBack(taken petstore.Decision) {
	if counted := momentOf(taken.Reset.Add(-time.Minute)); h.usedIn(counted) > 0 {
		h.returned = append(h.returned, counted)
	}
}

// usedIn returns how many requests count in a minute.
func (h *history) usedIn(now moment) int64 {
	return inMinute(h.passed, now) - inMinute(h.returned, now)
}

// asOf returns the history when the clock shows now, and the moment in which a request then counts. That moment is the
// latest of the history if it is in the next minute. If the latest is further ahead, its day becomes the day of now, and
// its minutes have ended.
func (h *history) asOf(now moment) (history, moment) {
	all := slices.Concat(h.passed, h.refused)
	if len(all) == 0 {
		return *h, now
	}
	latest := slices.MaxFunc(all, func(a, b moment) int { return a.minute.Compare(b.minute) })
	switch ahead := latest.minute.Sub(now.minute); {
	case ahead <= 0:
		return *h, now
	case ahead == time.Minute:
		return *h, latest
	}
	var corrected history
	for _, m := range h.passed {
		if m.day.Equal(latest.day) {
			corrected.passed = append(corrected.passed, moment{day: now.day})
		}
	}
	return corrected, now
}

func inMinute(moments []moment, now moment) (n int64) {
	for _, m := range moments {
		if m.minute.Equal(now.minute) {
			n++
		}
	}
	return n
}

func inDay(moments []moment, now moment) (n int64) {
	for _, m := range moments {
		if m.day.Equal(now.day) {
			n++
		}
	}
	return n
}

func TestPolicyDecidesLikeAModelThatKeepsEveryRequest(t *testing.T) {
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
			if taken, ok := walk.givesBack(t, ask, got); ok {
				c.giveBack(minuteOf(taken))
				model.giveBack(taken)
			}
		}
	})
}

// walk is a random sequence of requests from one subject, with a random clock. The clock steps back by at most the duration
// in the field back.
type walk struct {
	now, latest time.Time
	back        time.Duration
	limits      petstore.Limits
	taken       []petstore.Decision // the requests of an address that can be given back
}

func newWalk(t *rapid.T, back time.Duration) *walk {
	perMinute := rapid.Int64Range(1, 40).Draw(t, "per minute")
	perDay := rapid.SampledFrom([]int64{0, perMinute, 2*perMinute + 1}).Draw(t, "per day")
	start := time.Date(2026, time.November, 14, 23, 58, 30, 0, time.UTC)
	return &walk{now: start, latest: start, back: back, limits: petstore.Limits{PerMinute: perMinute, PerDay: perDay}}
}

var clockSteps = rapid.SampledFrom([]time.Duration{
	time.Millisecond, 999 * time.Millisecond, time.Minute, time.Hour, 7 * time.Hour,
	-time.Millisecond, -time.Second, -30 * time.Second, -time.Minute, -2 * time.Minute, -time.Hour, -3 * time.Hour,
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

// next returns the next request. Sometimes it moves the clock before that.
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
		ask.BannedFrom = ask.BannedUntil.Add(-rapid.SampledFrom([]time.Duration{time.Millisecond, time.Minute, time.Hour}).Draw(t, "length"))
	case 4:
		if ask.Limits.PerDay > 0 {
			ask.Limits.PerMinute, ask.Limits.PerDay = ask.Limits.PerMinute+3, ask.Limits.PerDay+5
		}
	}
	return ask
}

// givesBack sometimes returns a request of an address that is to be given back: the latest, or an earlier one. It is called
// after each decision.
func (w *walk) givesBack(t *rapid.T, ask petstore.Ask, d petstore.Decision) (taken petstore.Decision, ok bool) {
	if ask.Limits.OfAddress() && d.Outcome == petstore.Allowed && !ask.Peek {
		w.taken = append(w.taken, d)
	}
	if len(w.taken) == 0 || rapid.IntRange(0, 2).Draw(t, "give back") != 0 {
		return taken, false
	}
	i := rapid.IntRange(0, len(w.taken)-1).Draw(t, "which")
	taken = w.taken[i]
	w.taken = slices.Delete(w.taken, i, i+1)
	return taken, true
}

func TestAGroupOfRequestsCountsLikeSingleRequests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk := newWalk(t, 0)
		c := counter{
			minute:   walk.now.UnixMilli() / millisPerMinute,
			passed:   rapid.Int64Range(0, 50).Draw(t, "passed"),
			rejected: rapid.Int64Range(0, 50).Draw(t, "rejected"),
			today:    rapid.Int64Range(0, 50).Draw(t, "today"),
		}
		c.returned = rapid.Int64Range(0, c.passed).Draw(t, "returned")
		ask := walk.next(t)
		now := max(walk.now.UnixMilli(), c.minute*millisPerMinute)
		c = c.asOf(now / millisPerMinute)
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
