// Package ratelimit decides which requests may pass. The policy is pure; Memory applies it in this process, Redis in
// one place for any number of replicas, and Fallback goes from the second to the first while Redis is out of reach.
package ratelimit

import (
	"time"

	"petstore/internal/petstore"
)

const (
	millisPerMinute = 60_000
	minutesPerDay   = 24 * 60

	// leastBanThreshold spares owners of small limits a ban for a short burst.
	leastBanThreshold = 30
)

// counter is all that is remembered of a subject. Its time never runs backwards, whatever the clock does: so no window
// is ever counted anew.
type counter struct {
	minute   int64 // the latest UTC minute it was counted in, as a number since 1970
	passed   int64 // requests let through in that minute
	rejected int64 // requests refused in that minute
	today    int64 // requests let through in the UTC day of that minute
}

// take decides one request at now, in Unix milliseconds, and counts it.
func (c *counter) take(ask *petstore.Ask, now int64) petstore.Decision {
	current := c.at(now / millisPerMinute)
	outcome := current.outcome(ask, now)
	if outcome != petstore.Banned && !ask.Peek {
		current.count(outcome)
		*c = current
	}
	return current.describe(outcome, ask, now)
}

// at is the counter in that minute, or in its own if that is later.
func (c counter) at(minute int64) counter {
	if minute <= c.minute {
		return c
	}
	next := counter{minute: minute}
	if minute/minutesPerDay == c.minute/minutesPerDay {
		next.today = c.today
	}
	return next
}

// merge is what two accounts of the same subject say together: neither forgets what the other has counted.
func (c counter) merge(other counter) counter {
	c, other = c.at(other.minute), other.at(c.minute)
	return counter{
		minute:   c.minute,
		passed:   max(c.passed, other.passed),
		rejected: max(c.rejected, other.rejected),
		today:    max(c.today, other.today),
	}
}

// after is the counter after n requests like ask.
func (c counter) after(n int64, ask *petstore.Ask, now int64) counter {
	if ask.Peek || now < banEnd(ask) {
		return c
	}
	left := ask.Limits.PerMinute - c.passed
	if ask.Limits.PerDay > 0 {
		left = min(left, ask.Limits.PerDay-c.today)
	}
	passed := max(0, min(n, left))
	c.passed += passed
	c.today += passed
	c.rejected += n - passed
	return c
}

func (c counter) outcome(ask *petstore.Ask, now int64) petstore.Outcome {
	switch {
	case now < banEnd(ask):
		return petstore.Banned
	case c.passed >= ask.Limits.PerMinute, ask.Limits.PerDay > 0 && c.today >= ask.Limits.PerDay:
		return petstore.Limited
	}
	return petstore.Allowed
}

func (c *counter) count(outcome petstore.Outcome) {
	if outcome == petstore.Allowed {
		c.passed++
		c.today++
	} else {
		c.rejected++
	}
}

// describe is the answer to a request that had that outcome and left the counter as it is.
func (c counter) describe(outcome petstore.Outcome, ask *petstore.Ask, now int64) petstore.Decision {
	w := c.shown(outcome, ask.Limits)
	if outcome == petstore.Banned && (w.left > 0 || w.reset <= banEnd(ask)) {
		w = window{limit: ask.Limits.PerMinute, reset: banEnd(ask)}
	}
	return petstore.Decision{
		Outcome:    outcome,
		Limit:      w.limit,
		Remaining:  w.left,
		Reset:      time.UnixMilli(w.reset).UTC(),
		RetryAfter: time.Duration(w.reset-now) * time.Millisecond,
		BanNow:     outcome == petstore.Limited && !ask.Peek && c.provokes(ask.Limits),
		Now:        time.UnixMilli(now).UTC(),
	}
}

// provokes says whether the latest refusal asks for a ban. It does so at every multiple of the threshold, so that a
// ban that could not be stored is asked for again, and one that was lifted does not return with the next refusal.
func (c counter) provokes(limits petstore.Limits) bool {
	return limits.PerDay > 0 && c.rejected%max(leastBanThreshold, limits.PerMinute) == 0
}

// window is what a client is told of a minute or a day: its limit, what is left of it and when it ends.
type window struct{ limit, left, reset int64 }

// shown is the window with fewer requests left, the minute when equal; of a refusal it is the one that refused, and of
// both the later, because no request passes before it ends.
func (c counter) shown(outcome petstore.Outcome, limits petstore.Limits) window {
	minute := window{limits.PerMinute, max(0, limits.PerMinute-c.passed), (c.minute + 1) * millisPerMinute}
	if limits.PerDay == 0 {
		return minute
	}
	day := window{limits.PerDay, max(0, limits.PerDay-c.today), c.dayEnd()}
	if day.left < minute.left || (outcome != petstore.Allowed && day.left == 0 && day.reset > minute.reset) {
		return day
	}
	return minute
}

func (c counter) dayEnd() int64 {
	return (c.minute/minutesPerDay + 1) * minutesPerDay * millisPerMinute
}

// banEnd is the first millisecond in which the subject is not banned.
func banEnd(ask *petstore.Ask) int64 {
	if ask.BannedUntil.IsZero() {
		return 0
	}
	return ask.BannedUntil.Add(time.Millisecond - 1).UnixMilli()
}
