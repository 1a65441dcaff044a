package limitertest

import (
	"sync"
	"sync/atomic"
	"time"

	"petstore/internal/petstore"
)

var planCases = []limiterCase{
	{"higher limits apply at once and keep what was used", func(t limiterTest) {
		t.wantAllowed(free, 60)
		t.wantLimited(free, 1)
		t.wantDecision(pro, petstore.Allowed, 300, 239, minuteEnd)
		t.wantAllowed(pro, 239)
		t.wantLimited(pro, 1)
	}},
	{"lower limits apply at once, and the remaining requests are never negative", func(t limiterTest) {
		t.wantAllowed(pro, 100)
		t.wantDecision(free, petstore.Limited, 60, 0, minuteEnd)
		t.sleep(time.Minute)
		t.wantDecision(free, petstore.Allowed, 60, 59, minuteEnd.Add(time.Minute))
		t.wantDecision(limited(60, 101), petstore.Limited, 101, 0, midnight)
	}},
}

var clockCases = []limiterCase{
	{"a clock that steps back within the minute changes only the wait", func(t limiterTest) {
		t.wantAllowed(free, 60)
		t.sleep(-50 * millisecond)
		t.wantDecision(free, petstore.Limited, 60, 0, minuteEnd)
	}},
	{"if the clock steps back into an earlier minute, the later minute goes on counting", func(t limiterTest) {
		t.set(minuteEnd)
		t.wantAllowed(free, 20)
		t.sleep(-millisecond)
		t.wantDecision(free, petstore.Allowed, 60, 39, minuteEnd.Add(time.Minute))
		t.wantAllowed(free, 39)
		t.wantDecision(free, petstore.Limited, 60, 0, minuteEnd.Add(time.Minute))
	}},
	{"a clock that steps back does not give a minute twice", func(t limiterTest) {
		t.wantAllowed(free, 60)
		t.set(minuteEnd)
		t.wantDecision(peek(free), petstore.Allowed, 60, 60, minuteEnd.Add(time.Minute))
		t.set(epoch)
		t.wantDecision(free, petstore.Limited, 60, 0, minuteEnd)
		t.sleep(-time.Minute)
		t.wantDecision(free, petstore.Limited, 60, 0, minuteEnd)
	}},
	{"a clock that steps back does not give a day twice", func(t limiterTest) {
		t.set(midnight)
		t.wantAllowed(limited(10, 5), 5)
		t.sleep(-time.Second)
		t.wantDecision(limited(10, 5), petstore.Limited, 5, 0, midnight.Add(24*time.Hour))
	}},
	{"after the clock steps back, the wait is measured from the new time, and a request passes after it", func(t limiterTest) {
		t.wantAllowed(free, 60)
		t.sleep(-time.Minute)
		d := t.take(free)
		if want := minuteEnd.Sub(t.now()); d.RetryAfter != want {
			t.Fatalf("retry after %v, want %v", d.RetryAfter, want)
		}
		t.sleepSeconds(d.RetryAfter)
		t.wantAllowed(free, 1)
	}},
	{"after the clock steps back, a ban that was over holds again", func(t limiterTest) {
		end := epoch.Add(time.Second)
		t.set(end)
		t.wantAllowed(banned(free, end), 1)
		t.set(epoch)
		t.wantDecision(banned(free, end), petstore.Banned, 60, 0, end)
	}},
	{"a clock that was fast delays nobody once it is right", func(t limiterTest) {
		for _, ahead := range []time.Duration{2 * time.Minute, time.Hour, 24 * time.Hour, 365 * 24 * time.Hour} {
			t.set(epoch.Add(ahead))
			t.wantAllowed(address, 1_000)
			t.wantLimited(address, 1)
			t.set(epoch)
			t.wantDecision(address, petstore.Allowed, 1_000, 999, minuteEnd)
			t.wantAllowed(address, 999)
			t.wantDecision(address, petstore.Limited, 1_000, 0, minuteEnd)
		}
	}},
	{"requests that passed while the clock was fast count for the day, and refusals do not count", func(t limiterTest) {
		ask := limited(40, 100)
		t.sleep(time.Hour)
		t.wantAllowed(ask, 40)
		t.earnsBansAt(ask, 39)
		t.set(epoch)
		t.wantAllowed(ask, 40)
		t.earnsBansAt(ask, 39)
		t.sleep(time.Minute)
		t.wantAllowed(ask, 20)
		t.wantDecision(ask, petstore.Limited, 100, 0, midnight)
	}},
	{"requests that passed while the clock was a day fast count for the current day", func(t limiterTest) {
		t.set(midnight.Add(30 * time.Minute))
		t.wantAllowed(limited(10, 5), 5)
		t.set(epoch)
		t.wantDecision(limited(10, 5), petstore.Limited, 5, 0, midnight)
		t.set(midnight)
		t.wantAllowed(limited(10, 5), 5)
	}},
	{"a clock that leaps forward begins new windows", func(t limiterTest) {
		t.wantAllowed(limited(5, 5), 5)
		t.set(midnight.AddDate(1, 2, 3))
		t.wantDecision(limited(5, 5), petstore.Allowed, 5, 4, midnight.AddDate(1, 2, 4))
	}},
}

var concurrentCases = []limiterCase{
	{"of 1,000 requests at once exactly 60 pass on the Free plan", func(t limiterTest) {
		var passed, refused, bans, left atomic.Int64
		t.takeConcurrently(1_000, func(int) petstore.Ask { return free }, func(_ int, d petstore.Decision) {
			switch d.Outcome {
			case petstore.Allowed:
				passed.Add(1)
				left.Add(d.Remaining)
			case petstore.Limited:
				refused.Add(1)
			}
			if d.BanNow {
				bans.Add(1)
			}
		})
		if passed.Load() != 60 || refused.Load() != 940 {
			t.Fatalf("%d passed and %d were refused, want 60 and 940", passed.Load(), refused.Load())
		}
		if want := int64(59 * 60 / 2); left.Load() != want {
			t.Fatalf("the answers do not count down from 59 to 0: their sum is %d, not %d", left.Load(), want)
		}
		if want := int64(940 / 60); bans.Load() != want {
			t.Fatalf("%d refusals earned a ban, want %d", bans.Load(), want)
		}
	}},
	{"requests that are taken and given back at once leave exactly those that stay", func(t limiterTest) {
		var stayed atomic.Int64
		t.takeConcurrently(500, func(int) petstore.Ask { return address }, func(i int, d petstore.Decision) {
			if i%3 == 0 {
				stayed.Add(1)
			} else if err := t.GiveBack(t.Context(), address, d); err != nil {
				t.Errorf("unexpected error: %v", err)
			}
		})
		t.wantDecision(peek(address), petstore.Allowed, 1_000, 1_000-stayed.Load(), minuteEnd)
	}},
	{"with concurrent requests, each subject has its own limit", func(t limiterTest) {
		const subjects = 26
		var passed [subjects]atomic.Int64
		ask := func(i int) petstore.Ask {
			ask := limited(10, 20)
			ask.Subject += string(rune('a' + i%subjects))
			return ask
		}
		t.takeConcurrently(subjects*20, ask, func(i int, d petstore.Decision) {
			if d.Outcome == petstore.Allowed {
				passed[i%subjects].Add(1)
			}
		})
		for i := range passed {
			if n := passed[i].Load(); n != 10 {
				t.Fatalf("%d requests of subject %d passed, want 10", n, i)
			}
		}
	}},
}

// takeConcurrently takes n requests at the same time, and calls the function see with each decision.
func (t limiterTest) takeConcurrently(n int, ask func(i int) petstore.Ask, see func(i int, d petstore.Decision)) {
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			d, err := t.Take(t.Context(), ask(i))
			if err != nil {
				t.Errorf("unexpected error: %v", err)
				return
			}
			see(i, d)
		})
	}
	close(start)
	all.Wait()
}
