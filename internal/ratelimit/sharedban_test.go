package ratelimit

import (
	"crypto/rand"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// sharedBan returns the request by which a replica tells the others, for 5 seconds, of a ban of that length.
func sharedBan(now time.Time, length time.Duration) petstore.Ask {
	ask := owner
	ask.BannedFrom, ask.BannedUntil, ask.ShareBan = now, now.Add(length), 5*time.Second
	return ask
}

func TestANewBanHoldsOnAllReplicasUntilTheyKnowIt(t *testing.T) {
	url, env := testservice.Redis(t), petstore.Environment(rand.Text())
	first, _ := openFallback(t, url, env)
	second, _ := openFallback(t, url, env)
	now := morning.Add(58 * time.Second)
	for _, replica := range []*Fallback{first, second} {
		replica.now = func() time.Time { return now }
		replica.redis.Load().clock = replica.now
	}
	left := func(ask petstore.Ask, want int64) {
		t.Helper()
		if d := take(t, second, ask); d.Outcome != petstore.Allowed || d.Remaining != want {
			t.Fatalf("at %v a request on the other replica gets %+v, want %d remaining", now, d, want)
		}
	}
	left(owner, 59)
	want := take(t, first, sharedBan(now, time.Minute))
	peek := owner
	peek.Peek = true
	for _, at := range []time.Duration{0, 1, 2, 4999 * time.Millisecond} { // the minute ends after 2 seconds
		now = morning.Add(58 * time.Second).Add(at)
		for _, ask := range []petstore.Ask{owner, peek} {
			d := take(t, second, ask)
			if d.Outcome != petstore.Banned || d.Limit != 60 || d.Remaining != 0 || !d.Reset.Equal(want.Reset) || d.RetryAfter != want.Reset.Sub(d.Now) {
				t.Fatalf("%v after a ban the other replica decides %+v, and this one decided %+v", at, d, want)
			}
		}
	}
	now = morning.Add(63 * time.Second) // had it not been lifted, the other replica would know it by now
	left(owner, 59)
	left(peek, 59)

	take(t, first, sharedBan(now, time.Second))
	now = now.Add(time.Second)
	left(owner, 58)
}

func TestABanOfAFastClockIsNotShared(t *testing.T) {
	url, env := testservice.Redis(t), petstore.Environment(rand.Text())
	f, _ := openFallback(t, url, env)
	now := morning.Add(time.Hour)
	f.now = func() time.Time { return now }
	f.redis.Load().clock = f.now
	if d := take(t, f, sharedBan(now.Add(time.Hour), time.Minute)); d.Outcome != petstore.Allowed {
		t.Errorf("a request of an owner with a future-dated ban gets %+v", d)
	}
	if d := take(t, f, owner); d.Outcome != petstore.Allowed {
		t.Errorf("a future-dated ban was shared: the next request gets %+v", d)
	}
	take(t, f, sharedBan(now, time.Hour))
	now = morning
	if d := take(t, f, owner); d.Outcome != petstore.Allowed {
		t.Errorf("a ban that was shared an hour ahead of time is still shared: %+v", d)
	}
}

func TestASharedBanKeepsTheCounts(t *testing.T) {
	f, _ := openFallback(t, testservice.Redis(t), petstore.Environment(rand.Text()))
	now := morning
	f.redis.Load().clock = func() time.Time { return now }
	f.redis.Load().known = nil // only Redis remembers
	for range 60 + 59 {
		take(t, f, owner)
	}
	take(t, f, sharedBan(now, 10*time.Second))
	now = now.Add(5 * time.Second)
	if d := take(t, f, owner); d.Outcome != petstore.Limited || !d.BanNow {
		t.Errorf("after 60 requests, 59 refusals and a ban the next request gets %+v", d)
	}
}
