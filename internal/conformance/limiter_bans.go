package conformance

import (
	"slices"
	"time"

	"petstore/internal/petstore"
)

var provocationCases = []limiterCase{
	{"as many refusals in a minute as its limit ask for a ban, and so does each multiple", func(t limiterTest) {
		t.uses(free, 60)
		t.provokedAt(free, 200, 60, 120, 180)
	}},
	{"a limit below 30 asks for a ban at 30 refusals", func(t limiterTest) {
		t.uses(limited(5, 1_000), 5)
		t.provokedAt(limited(5, 1_000), 70, 30, 60)
	}},
	{"refusals by the day count too", func(t limiterTest) {
		t.uses(limited(40, 10), 10)
		t.provokedAt(limited(40, 10), 50, 40)
	}},
	{"refusals are forgotten when the minute ends", func(t limiterTest) {
		ask := limited(40, 10)
		t.uses(ask, 10)
		t.provokedAt(ask, 39)
		t.set(minuteEnd)
		t.provokedAt(ask, 40, 40)
	}},
	{"an address never asks for a ban", func(t limiterTest) {
		t.uses(address, 1_000)
		t.provokedAt(address, 2_500)
	}},
}

func (t limiterTest) provokedAt(ask petstore.Ask, refusals int, want ...int) {
	t.Helper()
	if got := t.isRefused(ask, refusals); !slices.Equal(got, want) {
		t.Fatalf("of %d refusals those asked for a ban: %v, want %v", refusals, got, want)
	}
}

var bannedCases = []limiterCase{
	{"a banned subject is refused until the ban ends, to the millisecond", func(t limiterTest) {
		end := epoch.Add(90*time.Second + millisecond)
		t.gets(banned(free, end), petstore.Banned, 60, 0, end)
		t.set(end.Add(-millisecond))
		t.gets(banned(free, end), petstore.Banned, 60, 0, end)
		t.set(end)
		t.gets(banned(free, end), petstore.Allowed, 60, 59, minuteEnd.Add(time.Minute))
	}},
	{"a ban that is over changes nothing", func(t limiterTest) {
		t.gets(banned(free, epoch), petstore.Allowed, 60, 59, minuteEnd)
		t.gets(banned(free, epoch.Add(-time.Hour)), petstore.Allowed, 60, 58, minuteEnd)
	}},
	{"a ban that ends within a millisecond lasts to its end", func(t limiterTest) {
		end := epoch.Add(10*time.Second + time.Microsecond)
		t.gets(banned(free, end), petstore.Banned, 60, 0, epoch.Add(10*time.Second+millisecond))
	}},
	{"requests during a ban count for nothing", func(t limiterTest) {
		t.uses(free, 60)
		t.provokedAt(free, 59)
		for range 100 {
			if d := t.take(banned(free, epoch.Add(time.Second))); d.Outcome != petstore.Banned || d.BanNow {
				t.Fatalf("during a ban: %+v", d)
			}
		}
		t.sleep(time.Second)
		t.provokedAt(free, 1, 1)
		t.sleep(time.Minute)
		t.usesSlowly(free, 940)
		t.isRefused(free, 1)
	}},
	{"a minute that is used up and ends after the ban is shown", func(t limiterTest) {
		t.uses(free, 60)
		t.gets(banned(free, epoch.Add(time.Second)), petstore.Banned, 60, 0, minuteEnd)
	}},
	{"a day that is used up and ends after the ban is shown", func(t limiterTest) {
		t.uses(limited(10, 5), 5)
		t.gets(banned(limited(10, 5), epoch.Add(time.Hour)), petstore.Banned, 5, 0, midnight)
	}},
	{"a ban that ends with the day that is used up is shown", func(t limiterTest) {
		t.uses(limited(10, 5), 5)
		t.gets(banned(limited(10, 5), midnight), petstore.Banned, 10, 0, midnight)
	}},
	{"a ban that ends after the windows that are used up is shown", func(t limiterTest) {
		t.uses(limited(5, 10), 5)
		t.gets(banned(limited(5, 10), minuteEnd.Add(time.Second)), petstore.Banned, 5, 0, minuteEnd.Add(time.Second))
		t.sleep(time.Minute)
		t.uses(limited(5, 10), 5)
		t.gets(banned(limited(5, 10), midnight.Add(time.Second)), petstore.Banned, 5, 0, midnight.Add(time.Second))
	}},
	{"a ban holds although the clock stepped back a little before its start", func(t limiterTest) {
		for _, ahead := range []time.Duration{millisecond, time.Minute} {
			ask := banned(free, epoch.Add(ahead+time.Minute))
			ask.BannedFrom = epoch.Add(ahead)
			t.gets(ask, petstore.Banned, 60, 0, ask.BannedUntil)
		}
	}},
	{"a ban given by a clock that was ahead does not hold", func(t limiterTest) {
		left := int64(60)
		for _, ahead := range []time.Duration{time.Minute + millisecond, time.Hour, 365 * 24 * time.Hour} {
			ask := banned(free, epoch.Add(ahead+time.Minute))
			ask.BannedFrom = epoch.Add(ahead)
			left--
			t.gets(peek(ask), petstore.Allowed, 60, left+1, minuteEnd)
			t.gets(ask, petstore.Allowed, 60, left, minuteEnd)
		}
	}},
	{"a request after a sleep until the reset of a ban passes", func(t limiterTest) {
		for i, end := range []time.Duration{time.Microsecond, time.Second, time.Minute, time.Hour, 15 * time.Hour} {
			ask := limited(5, 12)
			ask.Subject += string(rune('a' + i))
			t.set(epoch)
			t.uses(ask, 5)
			d := t.take(banned(ask, epoch.Add(end)))
			t.set(d.Reset)
			t.uses(banned(ask, epoch.Add(end)), 1)
		}
	}},
}
