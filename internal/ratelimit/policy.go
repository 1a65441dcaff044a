// Package ratelimit decides which requests may pass. [Memory] counts them in this process, [Redis] in one place for any
// number of replicas. [Fallback] uses Redis, and a Memory while Redis is out of reach. A server on one machine needs
// [NewMemory], one of several replicas [NewFallback].
//
// All of them follow one policy, the type counter in policy.go, which does no I/O. take.lua is the part of the policy
// that Redis runs.
package ratelimit

import (
	"time"

	"petstore/internal/petstore"
)

const (
	millisPerMinute = 60_000
	minutesPerDay   = 24 * 60

	// minBanThreshold is the smallest number of refusals that leads to a ban. It keeps an owner with small limits from
	// being banned for a short burst.
	minBanThreshold = 30
)

// counter is everything the limiter remembers about a subject.
type counter struct {
	minute   int64 // the UTC minute of the latest request, counted from 1970
	passed   int64 // requests let through in that minute
	rejected int64 // requests refused in that minute
	today    int64 // requests let through in the UTC day of that minute
	returned int64 // requests that passed in that minute and were given back; only requests of an address can be
}

// used returns how many requests count in the minute. The two counts that it combines only grow within the minute, so
// that counters of several replicas can be merged.
func (c counter) used() int64 { return c.passed - c.returned }

// take decides about one request and counts it. The parameter now is the time in Unix milliseconds.
func (c *counter) take(ask *petstore.Ask, now int64) petstore.Decision {
	current := c.asOf(now / millisPerMinute)
	outcome := current.outcome(ask, now)
	if outcome != petstore.Banned && !ask.Peek {
		current.count(outcome)
		*c = current
	}
	return current.describe(outcome, ask, now)
}

// giveBack makes a request of that minute count no longer. If the counter has moved on, or was lost since, nothing is left
// to give back.
func (c *counter) giveBack(minute int64) {
	if c.minute == minute && c.returned < c.passed {
		c.returned++
	}
}

// minuteOf returns the minute in which the limiter counted a request of an address.
func minuteOf(taken petstore.Decision) int64 { return taken.Reset.UnixMilli()/millisPerMinute - 1 }

// asOf returns the counter as of that minute, with the counts of earlier windows removed. A clock may step back a little,
// so a counter of the next minute stays as it is: otherwise a subject would get one window twice. A counter further in the
// future was recorded while the clock was fast. Its minute is ignored, so that nobody has to wait for that minute to pass,
// but the requests that it let through still count for the day.
func (c counter) asOf(minute int64) counter {
	switch {
	case c.minute == minute, c.minute == minute+1:
		return c
	case c.minute > minute, c.minute/minutesPerDay == minute/minutesPerDay:
		return counter{minute: minute, today: c.today}
	}
	return counter{minute: minute}
}

// merge combines two counters of the same subject as of that minute. Each count is the larger of the two.
func (c counter) merge(other counter, minute int64) counter {
	c, other = c.asOf(minute), other.asOf(minute)
	latest := max(c.minute, other.minute)
	c, other = c.asOf(latest), other.asOf(latest)
	return counter{
		minute:   latest,
		passed:   max(c.passed, other.passed),
		rejected: max(c.rejected, other.rejected),
		today:    max(c.today, other.today),
		returned: max(c.returned, other.returned),
	}
}

// after returns the counter after n requests like ask.
func (c counter) after(n int64, ask *petstore.Ask, now int64) counter {
	if ask.Peek || banned(ask, now) {
		return c
	}
	left := ask.Limits.PerMinute - c.used()
	if !ask.Limits.OfAddress() {
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
	case banned(ask, now):
		return petstore.Banned
	case c.used() >= ask.Limits.PerMinute, !ask.Limits.OfAddress() && c.today >= ask.Limits.PerDay:
		return petstore.Limited
	}
	return petstore.Allowed
}

// hasHalfLeft reports whether more than half of every window is left at now. It is false for a subject without a counter,
// because nothing is known about it.
func (c counter) hasHalfLeft(ask *petstore.Ask, now int64) bool {
	if c == (counter{}) || banned(ask, now) {
		return false
	}
	c = c.asOf(now / millisPerMinute)
	return 2*c.used() < ask.Limits.PerMinute && (ask.Limits.OfAddress() || 2*c.today < ask.Limits.PerDay)
}

func (c *counter) count(outcome petstore.Outcome) {
	if outcome == petstore.Allowed {
		c.passed++
		c.today++
	} else {
		c.rejected++
	}
}

// describe returns the decision about a request that had that outcome. The receiver is the counter after the request.
func (c counter) describe(outcome petstore.Outcome, ask *petstore.Ask, now int64) petstore.Decision {
	w := c.shown(ask.Limits)
	if outcome == petstore.Banned && (w.left > 0 || w.reset <= banEnd(ask)) {
		w = window{limit: ask.Limits.PerMinute, reset: banEnd(ask)}
	}
	return petstore.Decision{
		Outcome:    outcome,
		Limit:      w.limit,
		Remaining:  w.left,
		Reset:      time.UnixMilli(w.reset).UTC(),
		RetryAfter: time.Duration(w.reset-now) * time.Millisecond,
		BanNow:     outcome == petstore.Limited && !ask.Peek && c.earnsBan(ask.Limits),
		Now:        time.UnixMilli(now).UTC(),
	}
}

// earnsBan reports whether the latest refusal earns the owner a ban. Every multiple of the threshold does: if a ban could
// not be stored, a later refusal earns it again, but a ban that was lifted does not return with the next refusal.
func (c counter) earnsBan(limits petstore.Limits) bool {
	return !limits.OfAddress() && c.rejected%max(minBanThreshold, limits.PerMinute) == 0
}

// window is what a client is told about a minute or a day: its limit, how many requests are left, and when it ends.
type window struct{ limit, left, reset int64 }

// shown returns the window with fewer requests left. If both have the same number left, it is the day, which ends later.
// After a refusal, that is the window that refused.
func (c counter) shown(limits petstore.Limits) window {
	minute := window{limits.PerMinute, max(0, limits.PerMinute-c.used()), (c.minute + 1) * millisPerMinute}
	if limits.OfAddress() {
		return minute
	}
	day := window{limits.PerDay, max(0, limits.PerDay-c.today), c.dayEnd()}
	if minute.left < day.left {
		return minute
	}
	return day
}

func (c counter) dayEnd() int64 {
	return (c.minute/minutesPerDay + 1) * minutesPerDay * millisPerMinute
}

// banned reports whether the subject's ban holds at now, by the same rule as petstore.Ban.InForce.
func banned(ask *petstore.Ask, now int64) bool { return banStart(ask) <= now && now < banEnd(ask) }

// banStart returns the first millisecond in which the subject's ban can hold.
func banStart(ask *petstore.Ask) int64 {
	return ask.BannedFrom.Add(-petstore.ClockSlack).UnixMilli()
}

// banEnd returns the first millisecond in which the subject is not banned.
func banEnd(ask *petstore.Ask) int64 {
	if ask.BannedUntil.IsZero() {
		return 0
	}
	return ask.BannedUntil.Add(time.Millisecond - 1).UnixMilli()
}
