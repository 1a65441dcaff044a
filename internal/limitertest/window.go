package limitertest

import (
	"time"

	"petstore/internal/petstore"
)

var windowCases = []limiterCase{
	{"in a minute, its limit passes and not one more", func(t limiterTest) {
		t.wantAllowed(free, 59)
		t.wantDecision(free, petstore.Allowed, 60, 0, minuteEnd)
		t.wantDecision(free, petstore.Limited, 60, 0, minuteEnd)
	}},
	{"a minute ends to the millisecond", func(t limiterTest) {
		t.wantAllowed(free, 60)
		t.set(minuteEnd.Add(-millisecond))
		t.wantDecision(free, petstore.Limited, 60, 0, minuteEnd)
		t.set(minuteEnd)
		t.wantDecision(free, petstore.Allowed, 60, 59, minuteEnd.Add(time.Minute))
	}},
	{"a minute is the UTC minute, not one that begins with the first request", func(t limiterTest) {
		t.set(minuteEnd.Add(-millisecond))
		t.wantDecision(free, petstore.Allowed, 60, 59, minuteEnd)
		t.sleep(millisecond)
		t.wantDecision(free, petstore.Allowed, 60, 59, minuteEnd.Add(time.Minute))
	}},
	{"in a day, its limit passes and not one more", func(t limiterTest) {
		t.wantAllowedOverMinutes(free, 1_000)
		t.wantDecision(free, petstore.Limited, 1_000, 0, midnight)
	}},
	{"a day ends at midnight UTC, to the millisecond", func(t limiterTest) {
		t.wantAllowedOverMinutes(free, 1_000)
		t.set(midnight.Add(-millisecond))
		t.wantDecision(free, petstore.Limited, 1_000, 0, midnight)
		t.set(midnight)
		t.wantDecision(free, petstore.Allowed, 60, 59, midnight.Add(time.Minute))
		t.wantAllowed(free, 59)
		t.sleep(time.Minute)
		t.wantAllowedOverMinutes(free, 940)
		t.wantLimited(free, 1)
	}},
	{"the answer shows the day if it has fewer requests left than the minute", func(t limiterTest) {
		ask := limited(10, 25)
		t.wantAllowed(ask, 10)
		t.sleep(time.Minute)
		t.wantAllowed(ask, 10)
		t.sleep(time.Minute)
		t.wantDecision(ask, petstore.Allowed, 25, 4, midnight)
	}},
	{"the answer shows the day, which resets later, if both have the same number left", func(t limiterTest) {
		t.wantDecision(peek(limited(10, 10)), petstore.Allowed, 10, 10, midnight)
		t.wantDecision(limited(10, 10), petstore.Allowed, 10, 9, midnight)
		t.wantDecision(limited(8, 10), petstore.Allowed, 8, 6, minuteEnd)
	}},
	{"the answer shows the day when the last request of both passes", func(t limiterTest) {
		t.wantAllowed(limited(10, 10), 9)
		t.wantDecision(limited(10, 10), petstore.Allowed, 10, 0, midnight)
	}},
	{"an address has a limit per minute and none per day", func(t limiterTest) {
		for range 3 {
			t.wantAllowed(address, 1_000)
			t.wantDecision(address, petstore.Limited, 1_000, 0, t.now().Truncate(time.Minute).Add(time.Minute))
			t.sleep(time.Minute)
		}
	}},
	{"each subject is counted separately", func(t limiterTest) {
		t.wantAllowed(free, 60)
		other := free
		other.Subject = "another owner"
		t.wantDecision(other, petstore.Allowed, 60, 59, minuteEnd)
	}},
	{"the largest limits are exact", func(t limiterTest) {
		ask := limited(petstore.MaxLimit, petstore.MaxLimit)
		t.wantDecision(ask, petstore.Allowed, petstore.MaxLimit, petstore.MaxLimit-1, midnight)
		t.wantDecision(ask, petstore.Allowed, petstore.MaxLimit, petstore.MaxLimit-2, midnight)
		t.sleep(time.Minute)
		t.wantDecision(ask, petstore.Allowed, petstore.MaxLimit, petstore.MaxLimit-3, midnight)
	}},
}

var refusalCases = []limiterCase{
	{"a refused request uses no quota", func(t limiterTest) {
		t.wantAllowed(free, 60)
		t.wantLimited(free, 500)
		t.sleep(time.Minute)
		t.wantAllowedOverMinutes(free, 940)
		t.wantLimited(free, 1)
	}},
	{"the answer shows the later reset if both refused", func(t limiterTest) {
		t.wantAllowed(limited(5, 5), 5)
		t.wantDecision(limited(5, 5), petstore.Limited, 5, 0, midnight)
	}},
	{"a request passes after a sleep until the reset", func(t limiterTest) {
		t.wantAllowedAfterSleep(func(d petstore.Decision) { t.set(d.Reset) })
	}},
	{"a request passes after a sleep of whole seconds", func(t limiterTest) {
		t.wantAllowedAfterSleep(func(d petstore.Decision) { t.sleepSeconds(d.RetryAfter) })
	}},
}

// wantAllowedAfterSleep uses up a limit at several times of the minute and of the day, and then sleeps. Afterwards the
// limiter must allow a request, whether the last request before the sleep was allowed or refused.
func (t limiterTest) wantAllowedAfterSleep(sleep func(petstore.Decision)) {
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
				t.wantAllowed(ask, 1)
			}
		}
	}
}

var peekCases = []limiterCase{
	{"a peek counts nothing", func(t limiterTest) {
		t.wantAllowed(free, 10)
		for range 100 {
			t.wantDecision(peek(free), petstore.Allowed, 60, 50, minuteEnd)
		}
		t.wantDecision(free, petstore.Allowed, 60, 49, minuteEnd)
	}},
	{"a peek at a new subject shows its whole limit", func(t limiterTest) {
		t.wantDecision(peek(free), petstore.Allowed, 60, 60, minuteEnd)
	}},
	{"a peek shows that a request would be refused, and does not count as a refusal", func(t limiterTest) {
		t.wantAllowed(free, 60)
		t.wantLimited(free, 59)
		if t.wantLimited(peek(free), 100) != nil {
			t.Fatal("a peek earned a ban")
		}
		if t.wantLimited(free, 1) == nil {
			t.Fatal("the 60th refusal earned no ban")
		}
	}},
	{"a peek shows the current windows", func(t limiterTest) {
		t.wantAllowed(free, 60)
		t.sleep(time.Minute)
		t.wantDecision(peek(free), petstore.Allowed, 60, 60, minuteEnd.Add(time.Minute))
		t.set(midnight)
		t.wantDecision(peek(limited(2_000, 1_000)), petstore.Allowed, 1_000, 1_000, midnight.Add(24*time.Hour))
	}},
	{"a peek shows that the subject is banned", func(t limiterTest) {
		end := epoch.Add(time.Hour)
		t.wantDecision(peek(banned(free, end)), petstore.Banned, 60, 0, end)
	}},
}

var giveBackCases = []limiterCase{
	{"a request that is given back counts no longer", func(t limiterTest) {
		taken := t.take(address)
		t.wantAllowed(address, 999)
		t.wantLimited(address, 1)
		t.giveBack(address, taken)
		t.wantDecision(peek(address), petstore.Allowed, 1_000, 1, minuteEnd)
		t.wantDecision(address, petstore.Allowed, 1_000, 0, minuteEnd)
		t.wantLimited(address, 1)
	}},
	{"requests that are all given back use nothing up", func(t limiterTest) {
		for range 1_100 {
			t.giveBack(address, t.take(address))
		}
		t.wantDecision(address, petstore.Allowed, 1_000, 999, minuteEnd)
	}},
	{"a request is given back to its own minute only", func(t limiterTest) {
		taken := t.take(address)
		t.sleep(time.Minute)
		t.wantAllowed(address, 10)
		t.giveBack(address, taken)
		t.wantDecision(address, petstore.Allowed, 1_000, 989, minuteEnd.Add(time.Minute))
	}},
	{"a request that is given back after its minute leaves the next minute whole", func(t limiterTest) {
		taken := t.take(address)
		t.sleep(time.Minute)
		t.giveBack(address, taken)
		t.wantDecision(peek(address), petstore.Allowed, 1_000, 1_000, minuteEnd.Add(time.Minute))
	}},
	{"a request of another minute of the clock is given back to the minute that counted it", func(t limiterTest) {
		t.set(minuteEnd)
		t.wantAllowed(address, 10)
		t.sleep(-millisecond)
		taken := t.take(address)
		t.giveBack(address, taken)
		t.wantDecision(peek(address), petstore.Allowed, 1_000, 990, minuteEnd.Add(time.Minute))
	}},
	{"a request that was not taken cannot be given back", func(t limiterTest) {
		taken := t.take(address)
		t.giveBack(address, taken)
		t.giveBack(address, taken)
		t.wantDecision(peek(address), petstore.Allowed, 1_000, 1_000, minuteEnd)
	}},
	{"each address is given back its own requests", func(t limiterTest) {
		other := address
		other.Subject = "192.0.2.2"
		taken := t.take(address)
		t.wantAllowed(other, 5)
		t.giveBack(address, taken)
		t.wantDecision(peek(other), petstore.Allowed, 1_000, 995, minuteEnd)
	}},
}
