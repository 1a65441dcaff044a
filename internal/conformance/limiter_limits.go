package conformance

import (
	"time"

	"petstore/internal/petstore"
)

var windowCases = []limiterCase{
	{"what remains excludes the request that passed", func(t limiterTest) {
		t.gets(free, petstore.Allowed, 60, 59, minuteEnd)
		t.gets(free, petstore.Allowed, 60, 58, minuteEnd)
	}},
	{"a minute lets its limit through and not one more", func(t limiterTest) {
		t.uses(free, 59)
		t.gets(free, petstore.Allowed, 60, 0, minuteEnd)
		t.gets(free, petstore.Limited, 60, 0, minuteEnd)
	}},
	{"a minute ends to the millisecond", func(t limiterTest) {
		t.uses(free, 60)
		t.set(minuteEnd.Add(-millisecond))
		t.gets(free, petstore.Limited, 60, 0, minuteEnd)
		t.set(minuteEnd)
		t.gets(free, petstore.Allowed, 60, 59, minuteEnd.Add(time.Minute))
	}},
	{"a minute is the UTC minute, not one that begins with the first request", func(t limiterTest) {
		t.set(minuteEnd.Add(-millisecond))
		t.gets(free, petstore.Allowed, 60, 59, minuteEnd)
		t.sleep(millisecond)
		t.gets(free, petstore.Allowed, 60, 59, minuteEnd.Add(time.Minute))
	}},
	{"a day lets its limit through and not one more", func(t limiterTest) {
		t.usesSlowly(free, 1_000)
		t.gets(free, petstore.Limited, 1_000, 0, midnight)
	}},
	{"a day ends at midnight UTC, to the millisecond", func(t limiterTest) {
		t.usesSlowly(free, 1_000)
		t.set(midnight.Add(-millisecond))
		t.gets(free, petstore.Limited, 1_000, 0, midnight)
		t.set(midnight)
		t.gets(free, petstore.Allowed, 60, 59, midnight.Add(time.Minute))
		t.uses(free, 59)
		t.sleep(time.Minute)
		t.usesSlowly(free, 940)
		t.isRefused(free, 1)
	}},
	{"the day is shown when it has fewer requests left than the minute", func(t limiterTest) {
		ask := limited(10, 25)
		t.uses(ask, 10)
		t.sleep(time.Minute)
		t.uses(ask, 10)
		t.sleep(time.Minute)
		t.gets(ask, petstore.Allowed, 25, 4, midnight)
	}},
	{"the day, which resets later, is shown when both have as many left", func(t limiterTest) {
		t.gets(peek(limited(10, 10)), petstore.Allowed, 10, 10, midnight)
		t.gets(limited(10, 10), petstore.Allowed, 10, 9, midnight)
		t.gets(limited(8, 10), petstore.Allowed, 8, 6, minuteEnd)
	}},
	{"the day is shown when the last request of both passes", func(t limiterTest) {
		t.uses(limited(10, 10), 9)
		t.gets(limited(10, 10), petstore.Allowed, 10, 0, midnight)
	}},
	{"an address has a minute and no day", func(t limiterTest) {
		for range 3 {
			t.uses(address, 1_000)
			t.gets(address, petstore.Limited, 1_000, 0, t.now().Truncate(time.Minute).Add(time.Minute))
			t.sleep(time.Minute)
		}
	}},
	{"subjects are counted apart", func(t limiterTest) {
		t.uses(free, 60)
		other := free
		other.Subject = "another owner"
		t.gets(other, petstore.Allowed, 60, 59, minuteEnd)
	}},
	{"the largest limits are exact", func(t limiterTest) {
		ask := limited(petstore.MaxLimit, petstore.MaxLimit)
		t.gets(ask, petstore.Allowed, petstore.MaxLimit, petstore.MaxLimit-1, midnight)
		t.gets(ask, petstore.Allowed, petstore.MaxLimit, petstore.MaxLimit-2, midnight)
		t.sleep(time.Minute)
		t.gets(ask, petstore.Allowed, petstore.MaxLimit, petstore.MaxLimit-3, midnight)
	}},
}

var refusalCases = []limiterCase{
	{"a refused request uses no quota", func(t limiterTest) {
		t.uses(free, 60)
		t.isRefused(free, 500)
		t.sleep(time.Minute)
		t.usesSlowly(free, 940)
		t.isRefused(free, 1)
	}},
	{"the minute is shown when it alone refused", func(t limiterTest) {
		t.uses(free, 60)
		t.gets(free, petstore.Limited, 60, 0, minuteEnd)
	}},
	{"the day is shown when it alone refused", func(t limiterTest) {
		t.uses(limited(10, 5), 5)
		t.gets(limited(10, 5), petstore.Limited, 5, 0, midnight)
	}},
	{"the later reset is shown when both refused", func(t limiterTest) {
		t.uses(limited(5, 5), 5)
		t.gets(limited(5, 5), petstore.Limited, 5, 0, midnight)
	}},
	{"a request after a sleep until the reset passes", func(t limiterTest) {
		t.sleepsAndPasses(func(d petstore.Decision) { t.set(d.Reset) })
	}},
	{"a request after a sleep of whole seconds passes", func(t limiterTest) {
		t.sleepsAndPasses(func(d petstore.Decision) { t.sleepSeconds(d.RetryAfter) })
	}},
}

// sleepsAndPasses uses up a limit at several times of the minute and of the day. A request after the sleep must pass,
// whether the client slept after its last request that passed or after a refusal.
func (t limiterTest) sleepsAndPasses(sleep func(petstore.Decision)) {
	few := address
	few.Limits.PerMinute = 6
	asks := []petstore.Ask{limited(6, 100), limited(7, 7), limited(5, 12), few}
	starts := []time.Time{epoch, minuteEnd.Add(-millisecond), midnight.Add(-millisecond), midnight}
	for i, start := range starts {
		for _, ask := range asks {
			for _, refusals := range []int{0, 1} {
				ask.Subject += string(rune('a' + i))
				t.set(start)
				last := t.take(ask)
				for last.Remaining > 0 {
					last = t.take(ask)
				}
				for range refusals {
					t.sleep(time.Second / 3)
					last = t.take(ask)
				}
				sleep(last)
				t.uses(ask, 1)
			}
		}
	}
}

var peekCases = []limiterCase{
	{"a peek counts nothing", func(t limiterTest) {
		t.uses(free, 10)
		for range 100 {
			t.gets(peek(free), petstore.Allowed, 60, 50, minuteEnd)
		}
		t.gets(free, petstore.Allowed, 60, 49, minuteEnd)
	}},
	{"a peek at a new subject shows its whole limit", func(t limiterTest) {
		t.gets(peek(free), petstore.Allowed, 60, 60, minuteEnd)
	}},
	{"a peek says that a request would be refused, and does not count as a refusal", func(t limiterTest) {
		t.uses(free, 60)
		t.isRefused(free, 59)
		if t.isRefused(peek(free), 100) != nil {
			t.Fatal("a peek asked for a ban")
		}
		if t.isRefused(free, 1) == nil {
			t.Fatal("the 60th refusal asked for no ban")
		}
	}},
	{"a peek sees the windows of now", func(t limiterTest) {
		t.uses(free, 60)
		t.sleep(time.Minute)
		t.gets(peek(free), petstore.Allowed, 60, 60, minuteEnd.Add(time.Minute))
		t.set(midnight)
		t.gets(peek(limited(2_000, 1_000)), petstore.Allowed, 1_000, 1_000, midnight.Add(24*time.Hour))
	}},
	{"a peek says that the subject is banned", func(t limiterTest) {
		end := epoch.Add(time.Hour)
		t.gets(peek(banned(free, end)), petstore.Banned, 60, 0, end)
	}},
}
