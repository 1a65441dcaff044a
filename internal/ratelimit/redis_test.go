package ratelimit

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"petstore/internal/limitertest"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// withLongTimeouts adds timeouts to a Redis URL that are long enough for a busy machine.
func withLongTimeouts(url string) string {
	separator := "?"
	if strings.Contains(url, "?") {
		separator = "&"
	}
	return url + separator + "dial_timeout=30s&write_timeout=30s"
}

func openRedis(t *testing.T, url string, now func() time.Time) *Redis {
	t.Helper()
	r, err := NewRedis(withLongTimeouts(url), petstore.Environment("test-"+rand.Text()))
	noError(t, err)
	t.Cleanup(r.Close)
	r.clock = now
	return r
}

func TestRedisConforms(t *testing.T) {
	limitertest.Run(t, func(t *testing.T, now func() time.Time) petstore.Limiter {
		return openRedis(t, testservice.Redis(t), now)
	})
}

func TestMemoryAndRedisDecideAlike(t *testing.T) {
	var now time.Time
	clock := func() time.Time { return now }
	redis := openRedis(t, testservice.Redis(t), clock)
	rapid.Check(t, func(rt *rapid.T) {
		redis.prefix = rand.Text() + ":"
		memory := NewMemory(clock)
		walk := newWalk(rt, graceMinutes*time.Minute)
		for range 100 {
			ask := walk.next(rt)
			now = walk.now
			got, want := take(t, redis, ask), take(t, memory, ask)
			if got != want {
				rt.Fatalf("%+v at %v:\nRedis decides %+v\n      memory %+v", ask, now, got, want)
			}
			if taken, ok := walk.givesBack(rt, ask, got); ok {
				address := petstore.Ask{Subject: ask.Subject, Limits: ask.Limits}
				giveBack(t, redis, address, taken)
				giveBack(t, memory, address, taken)
			}
		}
	})
}

func TestRedisDecidesLikeThePolicyOnTheMergedCounters(t *testing.T) {
	var now time.Time
	var known counter
	redis := openRedis(t, testservice.Redis(t), func() time.Time { return now })
	redis.known = func(*petstore.Ask) counter { return known }
	rapid.Check(t, func(rt *rapid.T) {
		redis.prefix = rand.Text() + ":"
		var stored counter
		walk := newWalk(rt, 24*time.Hour)
		for range 50 {
			ask := walk.next(rt)
			now = walk.now
			minute := now.UnixMilli() / millisPerMinute
			known = counter{
				minute:   minute + rapid.SampledFrom([]int64{-2 * minutesPerDay, -60, -1, 0, 1, 2, minutesPerDay}).Draw(rt, "minute"),
				passed:   rapid.Int64Range(0, 3).Draw(rt, "passed"),
				rejected: rapid.Int64Range(0, 3).Draw(rt, "rejected"),
				today:    rapid.Int64Range(0, 9).Draw(rt, "today"),
			}
			known.returned = rapid.Int64Range(0, known.passed).Draw(rt, "returned")
			together := stored.merge(known, minute)
			got, want := take(t, redis, ask), together.take(&ask, now.UnixMilli())
			if got != want {
				rt.Fatalf("%+v at %v, %+v in Redis and %+v known:\n got %+v\nwant %+v", ask, now, stored, known, got, want)
			} else if got.Outcome != petstore.Banned && !ask.Peek {
				stored = together
			}
			if taken, ok := walk.givesBack(rt, ask, got); ok {
				giveBack(t, redis, petstore.Ask{Subject: ask.Subject, Limits: ask.Limits}, taken)
				stored = stored.merge(known, minute)
				stored.giveBack(minuteOf(taken))
			}
		}
	})
}

func TestRedisUsesItsOwnClock(t *testing.T) {
	r := openRedis(t, testservice.Redis(t), nil)
	before := time.Now().Truncate(time.Millisecond)
	d := take(t, r, owner)
	if d.Now.Before(before) || d.Now.After(time.Now()) {
		t.Errorf("it decided at %v, and it is %v", d.Now, time.Now())
	}
	if d.Outcome != petstore.Allowed || d.Remaining != 59 {
		t.Errorf("the first request gets %+v", d)
	}
}

func TestRedisWorksWithSentinelsAndClusters(t *testing.T) {
	urls := map[string]func(t *testing.T) string{
		"single":   func(t *testing.T) string { return testservice.Redis(t) },
		"Sentinel": func(t *testing.T) string { return testservice.StartRedis(t).Sentinel(t) },
		"Cluster":  func(t *testing.T) string { return testservice.StartRedisCluster(t).URL },
	}
	for name, url := range urls {
		t.Run(name, func(t *testing.T) {
			r := openRedis(t, url(t), func() time.Time { return morning })
			for i := range 10 {
				ask := petstore.Ask{Subject: strings.Repeat("x", i+1), Limits: owner.Limits}
				take(t, r, ask)
				if err := r.probe(t.Context(), ask.Subject); err != nil {
					t.Errorf("probe: %v", err)
				}
				if d := take(t, r, ask); d.Remaining != 58 {
					t.Errorf("the second request gets %+v", d)
				}
			}
		})
	}
}

func TestCountersInRedisExpire(t *testing.T) {
	url := testservice.Redis(t)
	r := openRedis(t, url, func() time.Time { return morning })
	for _, c := range []struct {
		ask  petstore.Ask
		want time.Duration
	}{
		{address, 2 * time.Minute},
		{owner, 14*time.Hour + 31*time.Minute},
	} {
		take(t, r, c.ask)
		ttl, err := r.client.Do(t.Context(), r.client.B().Pttl().Key(r.key(c.ask.Subject)).Build()).AsInt64()
		noError(t, err)
		if left := time.Duration(ttl) * time.Millisecond; left <= c.want-time.Minute || left > c.want {
			t.Errorf("the counter of %s expires in %v, want about %v", c.ask.Subject, left, c.want)
		}
	}
}

func TestEnvironmentsShareARedisWithoutSharingCounts(t *testing.T) {
	url := testservice.Redis(t)
	ask := owner
	ask.Subject = rand.Text()
	for _, env := range []petstore.Environment{petstore.Production, petstore.Staging} {
		r, err := NewRedis(withLongTimeouts(url), env)
		noError(t, err)
		defer r.Close()
		if d := take(t, r, ask); d.Remaining != 59 {
			t.Errorf("the first request in %s gets %+v", env, d)
		}
	}
}

func TestRedisDecidesAfterItsScriptsAreFlushed(t *testing.T) {
	r := openRedis(t, testservice.StartRedis(t).URL, nil)
	take(t, r, owner)
	noError(t, r.client.Do(t.Context(), r.client.B().ScriptFlush().Build()).Error())
	take(t, r, owner)
}

func TestATakeThatFailedMayHaveCounted(t *testing.T) {
	server := testservice.StartRedis(t)
	r := openRedis(t, server.URL, func() time.Time { return morning })
	take(t, r, owner)
	server.Pause(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if d, err := r.Take(ctx, owner); err == nil {
		t.Fatalf("a paused Redis decided %+v", d)
	}
	server.Resume(t)
	if d := take(t, r, owner); d.Remaining != 57 {
		t.Errorf("after a request that failed, the next one gets %+v, want both counted", d)
	}
}

func TestADecisionThatNobodyWaitsForTimesOut(t *testing.T) {
	server := testservice.StartRedis(t)
	r := openRedis(t, server.URL, nil)
	server.Pause(t)
	defer server.Resume(t)
	ended := make(chan error, 1)
	go func() {
		_, err := r.decide(owner, 1)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a paused Redis decided")
		}
	case <-time.After(20 * time.Second): // less than the connection's own timeout
		t.Error("the decision still runs after 20 s")
	}
}

func TestTheErrorForAWrongRedisURLHidesThePassword(t *testing.T) {
	for _, url := range []string{"http://localhost", "redis://:secret@local host", "redis://u:secret@localhost/x", "redis://:secret@%zz"} {
		_, err := NewRedis(url, petstore.Production)
		if err == nil || !strings.Contains(err.Error(), "redis://user:password@host:6379/0") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestRedisCountsExactlyUpToTheLargestLimit(t *testing.T) {
	r := openRedis(t, testservice.Redis(t), func() time.Time { return morning })
	ask := petstore.Ask{Subject: "owner", Limits: petstore.Limits{PerMinute: petstore.MaxLimit, PerDay: petstore.MaxLimit}}
	almost := fmt.Sprintf("%d %d 0 %d", morning.Unix()/60, petstore.MaxLimit-2, petstore.MaxLimit-2)
	noError(t, r.client.Do(t.Context(), r.client.B().Set().Key(r.key(ask.Subject)).Value(almost).Build()).Error())
	for _, want := range []petstore.Decision{{Outcome: petstore.Allowed, Remaining: 1}, {Outcome: petstore.Allowed}, {Outcome: petstore.Limited}} {
		if d := take(t, r, ask); d.Outcome != want.Outcome || d.Remaining != want.Remaining {
			t.Errorf("got %+v, want outcome %d and %d remaining", d, want.Outcome, want.Remaining)
		}
	}
}

// noError fails the test if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
