package limitertest

import (
	"slices"
	"time"

	"petstore/internal/petstore"
)

var earnedBanCases = []limiterCase{
	{"as many refusals in a minute as its limit earn a ban, and so does each multiple", func(t limiterTest) {
		t.wantAllowed(free, 60)
		t.earnsBansAt(free, 200, 60, 120, 180)
	}},
	{"with a limit below 30, 30 refusals earn a ban", func(t limiterTest) {
		t.wantAllowed(limited(5, 1_000), 5)
		t.earnsBansAt(limited(5, 1_000), 70, 30, 60)
	}},
	{"refusals by the daily limit count too", func(t limiterTest) {
		t.wantAllowed(limited(40, 10), 10)
		t.earnsBansAt(limited(40, 10), 50, 40)
	}},
	{"refusals are forgotten when the minute ends", func(t limiterTest) {
		ask := limited(40, 10)
		t.wantAllowed(ask, 10)
		t.earnsBansAt(ask, 39)
		t.set(minuteEnd)
		t.earnsBansAt(ask, 40, 40)
	}},
	{"an address never earns a ban", func(t limiterTest) {
		t.wantAllowed(address, 1_000)
		t.earnsBansAt(address, 2_500)
	}},
}

func (t limiterTest) earnsBansAt(ask petstore.Ask, refusals int, want ...int) {
	t.Helper()
	if got := t.wantLimited(ask, refusals); !slices.Equal(got, want) {
		t.Fatalf("of %d refusals these earned a ban: %v, want %v", refusals, got, want)
	}
}

var bannedCases = []limiterCase{
	{"a banned subject is refused until the ban ends, to the millisecond", func(t limiterTest) {
		end := epoch.Add(90*time.Second + millisecond)
		t.wantDecision(banned(free, end), petstore.Banned, 60, 0, end)
		t.set(end.Add(-millisecond))
		t.wantDecision(banned(free, end), petstore.Banned, 60, 0, end)
		t.set(end)
		t.wantDecision(banned(free, end), petstore.Allowed, 60, 59, minuteEnd.Add(time.Minute))
	}},
	{"a ban that is over changes nothing", func(t limiterTest) {
		t.wantDecision(banned(free, epoch), petstore.Allowed, 60, 59, minuteEnd)
		t.wantDecision(banned(free, epoch.Add(-time.Hour)), petstore.Allowed, 60, 58, minuteEnd)
	}},
	{"the end of a ban is rounded up to a millisecond", func(t limiterTest) {
		end := epoch.Add(10*time.Second + time.Microsecond)
		t.wantDecision(banned(free, end), petstore.Banned, 60, 0, epoch.Add(10*time.Second+millisecond))
	}},
	{"requests during a ban count for nothing", func(t limiterTest) {
		t.wantAllowed(free, 60)
		t.earnsBansAt(free, 59)
		for range 100 {
			if d := t.take(banned(free, epoch.Add(time.Second))); d.Outcome != petstore.Banned || d.BanNow {
				t.Fatalf("during a ban: %+v", d)
			}
		}
		t.sleep(time.Second)
		t.earnsBansAt(free, 1, 1)
		t.sleep(time.Minute)
		t.wantAllowedOverMinutes(free, 940)
		t.wantLimited(free, 1)
	}},
	{"if the minute is used up and ends after the ban, the answer shows the minute", func(t limiterTest) {
		t.wantAllowed(free, 60)
		t.wantDecision(banned(free, epoch.Add(time.Second)), petstore.Banned, 60, 0, minuteEnd)
	}},
	{"if the day is used up and ends after the ban, the answer shows the day", func(t limiterTest) {
		t.wantAllowed(limited(10, 5), 5)
		t.wantDecision(banned(limited(10, 5), epoch.Add(time.Hour)), petstore.Banned, 5, 0, midnight)
	}},
	{"if the day is used up and ends with the ban, the answer shows the ban", func(t limiterTest) {
		t.wantAllowed(limited(10, 5), 5)
		t.wantDecision(banned(limited(10, 5), midnight), petstore.Banned, 10, 0, midnight)
	}},
	{"if the ban ends after the windows that are used up, the answer shows the ban", func(t limiterTest) {
		t.wantAllowed(limited(5, 10), 5)
		t.wantDecision(banned(limited(5, 10), minuteEnd.Add(time.Second)), petstore.Banned, 5, 0, minuteEnd.Add(time.Second))
		t.sleep(time.Minute)
		t.wantAllowed(limited(5, 10), 5)
		t.wantDecision(banned(limited(5, 10), midnight.Add(time.Second)), petstore.Banned, 5, 0, midnight.Add(time.Second))
	}},
	{"a ban holds even if the clock is up to a minute before its start", func(t limiterTest) {
		for _, ahead := range []time.Duration{millisecond, time.Minute} {
			ask := banned(free, epoch.Add(ahead+time.Minute))
			ask.BannedFrom = epoch.Add(ahead)
			t.wantDecision(ask, petstore.Banned, 60, 0, ask.BannedUntil)
		}
	}},
	{"a future-dated ban, recorded while a clock was fast, does not hold", func(t limiterTest) {
		left := int64(60)
		for _, ahead := range []time.Duration{time.Minute + millisecond, time.Hour, 365 * 24 * time.Hour} {
			ask := banned(free, epoch.Add(ahead+time.Minute))
			ask.BannedFrom = epoch.Add(ahead)
			left--
			t.wantDecision(peek(ask), petstore.Allowed, 60, left+1, minuteEnd)
			t.wantDecision(ask, petstore.Allowed, 60, left, minuteEnd)
		}
	}},
	{"a request passes after a sleep until the reset of a ban", func(t limiterTest) {
		for i, end := range []time.Duration{time.Microsecond, time.Second, time.Minute, time.Hour, 15 * time.Hour} {
			ask := limited(5, 12)
			ask.Subject += string(rune('a' + i))
			t.set(epoch)
			t.wantAllowed(ask, 5)
			d := t.take(banned(ask, epoch.Add(end)))
			t.set(d.Reset)
			t.wantAllowed(banned(ask, epoch.Add(end)), 1)
		}
	}},
}
