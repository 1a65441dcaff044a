package conformance

import (
	"sync"
	"sync/atomic"
	"time"

	"petstore/internal/petstore"
)

var planCases = []limiterCase{
	{"a wider plan holds at once and keeps what was used", func(t limiterTest) {
		t.uses(free, 60)
		t.isRefused(free, 1)
		t.gets(pro, petstore.Allowed, 300, 239, minuteEnd)
		t.uses(pro, 239)
		t.isRefused(pro, 1)
	}},
	{"a narrower plan holds at once and never shows less than nothing", func(t limiterTest) {
		t.uses(pro, 100)
		t.gets(free, petstore.Limited, 60, 0, minuteEnd)
		t.sleep(time.Minute)
		t.gets(free, petstore.Allowed, 60, 59, minuteEnd.Add(time.Minute))
		t.gets(limited(60, 101), petstore.Limited, 101, 0, midnight)
	}},
}

var clockCases = []limiterCase{
	{"a clock that steps back within the minute changes nothing but the wait", func(t limiterTest) {
		t.uses(free, 60)
		t.sleep(-50 * millisecond)
		t.gets(free, petstore.Limited, 60, 0, minuteEnd)
	}},
	{"a clock that steps back into an earlier minute counts in the later one on", func(t limiterTest) {
		t.set(minuteEnd)
		t.uses(free, 20)
		t.sleep(-millisecond)
		t.gets(free, petstore.Allowed, 60, 39, minuteEnd.Add(time.Minute))
		t.uses(free, 39)
		t.gets(free, petstore.Limited, 60, 0, minuteEnd.Add(time.Minute))
	}},
	{"a clock that steps back does not give a minute twice", func(t limiterTest) {
		t.uses(free, 60)
		t.set(minuteEnd)
		t.gets(peek(free), petstore.Allowed, 60, 60, minuteEnd.Add(time.Minute))
		t.set(epoch)
		t.gets(free, petstore.Limited, 60, 0, minuteEnd)
		t.sleep(-time.Minute)
		t.gets(free, petstore.Limited, 60, 0, minuteEnd)
	}},
	{"a clock that steps back does not give a day twice", func(t limiterTest) {
		t.set(midnight)
		t.uses(limited(10, 5), 5)
		t.sleep(-time.Second)
		t.gets(limited(10, 5), petstore.Limited, 5, 0, midnight.Add(24*time.Hour))
	}},
	{"a wait is measured from the clock as it is, and a request after it passes", func(t limiterTest) {
		t.uses(free, 60)
		t.sleep(-time.Minute)
		d := t.take(free)
		if want := minuteEnd.Sub(t.now()); d.RetryAfter != want {
			t.Fatalf("retry after %v, want %v", d.RetryAfter, want)
		}
		t.sleepSeconds(d.RetryAfter)
		t.uses(free, 1)
	}},
	{"a ban holds by the clock as it is", func(t limiterTest) {
		end := epoch.Add(time.Second)
		t.set(end)
		t.uses(banned(free, end), 1)
		t.set(epoch)
		t.gets(banned(free, end), petstore.Banned, 60, 0, end)
	}},
	{"a clock that was ahead holds nobody up once it is right", func(t limiterTest) {
		for _, ahead := range []time.Duration{2 * time.Minute, time.Hour, 24 * time.Hour, 365 * 24 * time.Hour} {
			t.set(epoch.Add(ahead))
			t.uses(address, 1_000)
			t.isRefused(address, 1)
			t.set(epoch)
			t.gets(address, petstore.Allowed, 1_000, 999, minuteEnd)
			t.uses(address, 999)
			t.gets(address, petstore.Limited, 1_000, 0, minuteEnd)
		}
	}},
	{"what passed while the clock was ahead counts for the day, and refusals for nothing", func(t limiterTest) {
		ask := limited(40, 100)
		t.sleep(time.Hour)
		t.uses(ask, 40)
		t.provokedAt(ask, 39)
		t.set(epoch)
		t.uses(ask, 40)
		t.provokedAt(ask, 39)
		t.sleep(time.Minute)
		t.uses(ask, 20)
		t.gets(ask, petstore.Limited, 100, 0, midnight)
	}},
	{"what passed while the clock was a day ahead counts for the day that it is", func(t limiterTest) {
		t.set(midnight.Add(30 * time.Minute))
		t.uses(limited(10, 5), 5)
		t.set(epoch)
		t.gets(limited(10, 5), petstore.Limited, 5, 0, midnight)
		t.set(midnight)
		t.uses(limited(10, 5), 5)
	}},
	{"a clock that leaps forward begins new windows", func(t limiterTest) {
		t.uses(limited(5, 5), 5)
		t.set(midnight.AddDate(1, 2, 3))
		t.gets(limited(5, 5), petstore.Allowed, 5, 4, midnight.AddDate(1, 2, 4))
	}},
}

var crowdCases = []limiterCase{
	{"of 1,000 requests at once exactly 60 pass on the Free plan", func(t limiterTest) {
		var passed, refused, provoked, left atomic.Int64
		t.crowd(1_000, func(int) petstore.Ask { return free }, func(_ int, d petstore.Decision) {
			switch d.Outcome {
			case petstore.Allowed:
				passed.Add(1)
				left.Add(d.Remaining)
			case petstore.Limited:
				refused.Add(1)
			}
			if d.BanNow {
				provoked.Add(1)
			}
		})
		if passed.Load() != 60 || refused.Load() != 940 {
			t.Fatalf("%d passed and %d were refused, want 60 and 940", passed.Load(), refused.Load())
		}
		if want := int64(59 * 60 / 2); left.Load() != want {
			t.Fatalf("the answers do not count down from 59 to 0: their sum is %d, not %d", left.Load(), want)
		}
		if want := int64(940 / 60); provoked.Load() != want {
			t.Fatalf("%d refusals asked for a ban, want %d", provoked.Load(), want)
		}
	}},
	{"subjects in a crowd each get their own limit", func(t limiterTest) {
		const subjects = 26
		var passed [subjects]atomic.Int64
		ask := func(i int) petstore.Ask {
			ask := limited(10, 20)
			ask.Subject += string(rune('a' + i%subjects))
			return ask
		}
		t.crowd(subjects*20, ask, func(i int, d petstore.Decision) {
			if d.Outcome == petstore.Allowed {
				passed[i%subjects].Add(1)
			}
		})
		for i := range passed {
			if n := passed[i].Load(); n != 10 {
				t.Fatalf("subject %d had %d requests let through, want 10", i, n)
			}
		}
	}},
}

// crowd takes n requests, all at the same time.
func (t limiterTest) crowd(n int, ask func(i int) petstore.Ask, see func(i int, d petstore.Decision)) {
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
