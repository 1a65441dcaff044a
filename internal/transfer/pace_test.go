package transfer

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"petstore/client"
	"petstore/internal/petstore"
)

// limits returns limits per minute and per day.
func limits(perMinute, perDay int64) petstore.Limits {
	return petstore.Limits{PerMinute: perMinute, PerDay: perDay}
}

// at returns a time on 10 March 2026.
func at(hour, minute, second int) time.Time {
	return time.Date(2026, 3, 10, hour, minute, second, 0, time.UTC)
}

const day = 24 * time.Hour

func TestTheTimeLeftFollowsFromTheLimits(t *testing.T) {
	t.Parallel()
	free := limits(60, 1000)
	for _, c := range []struct {
		name         string
		requests     int64
		limits, left petstore.Limits
		now          time.Time
		want         time.Duration
	}{
		{"nothing is left to send", 0, free, free, at(12, 0, 0), 0},
		{"all fit into this minute", 60, free, free, at(12, 0, 20), 0},
		{"one is too many for this minute", 61, free, free, at(12, 0, 20), 40 * time.Second},
		{"this minute is used up", 60, free, limits(0, 940), at(12, 0, 20), 40 * time.Second},
		{"they need three more minutes", 240, free, free, at(12, 0, 0), 3 * time.Minute},
		{"they need a part of the last minute", 241, free, free, at(12, 0, 0), 4 * time.Minute},
		{"all fit into this day", 1000, free, free, at(12, 0, 0), 16 * time.Minute},
		{"one is too many for this day", 1001, free, free, at(12, 0, 0), 12 * time.Hour},
		{"this day is used up", 1, free, limits(60, 0), at(23, 0, 0), time.Hour},
		{"this day is shorter than its limit", 1000, free, free, at(23, 58, 30), 90*time.Second + 14*time.Minute},
		{"the last minute of this day", 61, free, free, at(23, 59, 30), 30 * time.Second},
		{"a Free key has 3,000 lines at noon", 3000, free, free, at(12, 0, 0), 12*time.Hour + day + 16*time.Minute},
		{"the minutes of a day are fewer than its limit", 100_000, limits(10, 1_000_000), limits(10, 1_000_000), at(0, 0, 0), 6*day + 1359*time.Minute},
		{"no daily limit is known", 6000, limits(60, 0), limits(60, 0), at(12, 0, 0), 99 * time.Minute},
		{"no limit per minute is known", 3000, limits(0, 1000), limits(0, 500), at(12, 0, 0), 12*time.Hour + 2*day},
		{"no limit is known", 1 << 40, limits(0, 0), limits(0, 0), at(12, 0, 0), 0},
		{"the limits are the highest", 1 << 40, limits(petstore.MaxLimit, petstore.MaxLimit), limits(petstore.MaxLimit, petstore.MaxLimit), at(0, 0, 0), 0},
		{"it would take longer than a lifetime", 1 << 40, limits(1, 1), limits(1, 1), at(0, 0, 0), maxTimeLeft},
	} {
		if got := timeLeft(c.requests, c.limits, c.left, c.now); got != c.want {
			t.Errorf("%s: %s are left, want %s", c.name, got, c.want)
		}
	}
}

// The simulation sends requests one by one, as soon as the windows allow.
func TestTheTimeLeftIsThatOfASimulation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		perMinute := rapid.Int64Range(1, 40).Draw(t, "per minute")
		allowed := limits(perMinute, rapid.Int64Range(perMinute, 2000).Draw(t, "per day"))
		left := limits(rapid.Int64Range(0, allowed.PerMinute).Draw(t, "left of the minute"), rapid.Int64Range(0, allowed.PerDay).Draw(t, "left of the day"))
		now := at(0, 0, 0).Add(time.Duration(rapid.Int64Range(0, 86_399).Draw(t, "second")) * time.Second)
		requests := rapid.Int64Range(1, 6000).Draw(t, "requests")

		window, remaining := now, left
		for n := requests; ; {
			sent := min(n, remaining.PerMinute, remaining.PerDay)
			if n -= sent; n == 0 {
				break
			}
			next := window.Truncate(time.Minute).Add(time.Minute)
			remaining = limits(allowed.PerMinute, remaining.PerDay-sent)
			if next.Day() != window.Day() {
				remaining.PerDay = allowed.PerDay
			}
			window = next
		}
		if got, want := timeLeft(requests, allowed, left, now), window.Sub(now); got != want {
			t.Errorf("%s are left, want %s", got, want)
		}
	})
}

func TestTheLimitsOfAKeyAreThoseOfItsPlan(t *testing.T) {
	t.Parallel()
	nextMinute, midnight := at(12, 1, 0), at(0, 0, 0).Add(day)
	for _, c := range []struct {
		name string
		seen client.Limits
		now  time.Time
		want petstore.Limits
	}{
		{"the minute of a Free key", client.Limits{Limit: 60, Remaining: 59, Reset: nextMinute}, at(12, 0, 5), limits(60, 1000)},
		{"the day of a Free key", client.Limits{Limit: 1000, Remaining: 3, Reset: midnight}, at(12, 0, 5), limits(60, 1000)},
		{"the minute of a Business key", client.Limits{Limit: 1000, Remaining: 3, Reset: nextMinute}, at(12, 0, 5), limits(1000, 100_000)},
		{"the last minute of a Pro key's day", client.Limits{Limit: 300, Remaining: 3, Reset: midnight}, at(23, 59, 5), limits(300, 10_000)},
		{"the minute of an Enterprise key", client.Limits{Limit: 77, Remaining: 3, Reset: nextMinute}, at(12, 0, 5), limits(77, 0)},
		{"the day of an Enterprise key", client.Limits{Limit: 77, Remaining: 3, Reset: midnight}, at(12, 0, 5), limits(0, 77)},
		{"a server without limits", client.Limits{}, at(12, 0, 5), limits(0, 0)},
	} {
		if got := limitsOf(c.seen, c.now); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestWhatIsLeftOfTheLimits(t *testing.T) {
	t.Parallel()
	free := limits(60, 1000)
	nextMinute, midnight := at(12, 1, 0), at(0, 0, 0).Add(day)
	for _, c := range []struct {
		name string
		seen client.Limits
		sent int64
		want petstore.Limits
	}{
		{"the minute is known", client.Limits{Limit: 60, Remaining: 20, Reset: nextMinute}, 100, limits(20, 900)},
		{"the day is known", client.Limits{Limit: 1000, Remaining: 20, Reset: midnight}, 100, limits(60, 20)},
		{"the known minute is over", client.Limits{Limit: 60, Remaining: 20, Reset: at(12, 0, 0)}, 100, limits(60, 900)},
		{"more were sent than a day allows", client.Limits{}, 1100, limits(60, 0)},
	} {
		if got := leftOf(free, c.seen, c.sent, at(12, 0, 30)); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
