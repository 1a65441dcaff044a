package httpapi_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
	"petstore/internal/ratelimit"
)

// number reads a header that must be a whole number.
func (a *answer) number(t testing.TB, name string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(a.header.Get(name), 10, 64)
	if err != nil {
		t.Fatalf("%s: %v in\n%s", name, err, a.raw)
	}
	return n
}

// hasLimits fails the test unless the answer has these rate-limit headers.
func (a *answer) hasLimits(t testing.TB, limit, remaining int64, reset time.Time) {
	t.Helper()
	a.has(t, "X-RateLimit-Limit", fmt.Sprint(limit))
	a.has(t, "X-RateLimit-Remaining", fmt.Sprint(remaining))
	a.has(t, "X-RateLimit-Reset", fmt.Sprint(reset.Unix()))
}

func TestClientThatWaitsForRetryAfterPasses(t *testing.T) {
	for _, offset := range []time.Duration{0, time.Millisecond, 29*time.Second + 999*time.Millisecond, 59 * time.Second, time.Minute - time.Millisecond, time.Minute - time.Nanosecond} {
		t.Run(offset.String(), func(t *testing.T) {
			s := serve(t)
			s.clock.step(offset)
			key := s.key(petstore.Free)
			s.repeat(request("GET", "/v1/pets", key), 60)
			a := s.get(key, "/v1/pets")
			a.is(t, 429, "rate_limited")
			a.hasLimits(t, 60, 0, noon.Add(time.Minute))

			wait := time.Duration(a.number(t, "Retry-After")) * time.Second
			if over := wait - (time.Minute - offset); over < 0 || over >= time.Second+time.Millisecond {
				t.Errorf("%v before the end of the minute, Retry-After is %v", time.Minute-offset, wait)
			}
			s.clock.step(time.Unix(a.number(t, "X-RateLimit-Reset"), 0).Sub(s.clock.now()))
			a = s.get(key, "/v1/pets")
			a.is(t, 200, "")
			a.hasLimits(t, 60, 59, noon.Add(2*time.Minute))
		})
	}
}

func TestDayIsCountedAndTheScarcerWindowIsShown(t *testing.T) {
	s := serve(t)
	key, _ := s.createKey(petstore.NewKey("small", petstore.Enterprise, petstore.Limits{PerMinute: 4, PerDay: 6}, noon, petstore.Forever))
	midnight := noon.Add(12 * time.Hour)
	for remaining := int64(3); remaining >= 0; remaining-- {
		s.get(key, "/v1/pets").hasLimits(t, 4, remaining, noon.Add(time.Minute))
	}
	s.get(key, "/v1/pets").is(t, 429, "rate_limited")
	s.clock.step(time.Minute)
	s.get(key, "/v1/pets").hasLimits(t, 6, 1, midnight)
	s.get(key, "/v1/pets").hasLimits(t, 6, 0, midnight)
	s.clock.step(time.Hour)
	a := s.get(key, "/v1/pets")
	a.is(t, 429, "rate_limited")
	a.hasLimits(t, 6, 0, midnight)
	a.has(t, "Retry-After", fmt.Sprint(12*3600-60-3600))
	s.clock.step(12*time.Hour - time.Minute - time.Hour)
	a = s.get(key, "/v1/pets")
	a.is(t, 200, "")
	a.hasLimits(t, 4, 3, midnight.Add(time.Minute))
}

func TestRotationDoesNotDoubleTheQuota(t *testing.T) {
	s := serve(t)
	secret, key := s.createKey(petstore.NewKey("rotated", petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, noon, petstore.Forever))
	s.repeat(request("GET", "/v1/pets", secret), 40)
	next := s.secret(petstore.Production)
	if _, err := s.storage.RotateKey(t.Context(), key.ID, petstore.HashSecret(next), petstore.Rotation{Overlap: 24 * time.Hour}, petstore.ByOperator(noon)); err != nil {
		t.Fatal(err)
	}
	s.get(next, "/v1/pets").hasLimits(t, 60, 19, noon.Add(time.Minute))
	s.get(secret, "/v1/pets").hasLimits(t, 60, 18, noon.Add(time.Minute))
}

func TestGarbageCostsNoQuery(t *testing.T) {
	storage := openHooked(t)
	s := serve(t, on(storage))
	for _, token := range []string{"", "garbage", petstore.NewSecret(petstore.Staging), petstore.NewSecret(petstore.Production)[:42]} {
		for range 10 {
			s.get("", "/v1/pets", "Authorization: Bearer "+token).is(t, 401, "unauthorized")
		}
	}
	if n := storage.count("FindKey"); n != 0 {
		t.Errorf("garbage cost %d queries", n)
	}
}

func TestAddressBeyondItsLimitCostsNoQuery(t *testing.T) {
	storage := openHooked(t)
	s := serve(t, on(storage))
	valid, fresh := s.key(petstore.Free), s.key(petstore.Free)
	s.get(valid, "/v1/pets").is(t, 200, "")
	storage.count("FindKey")
	for range 100 {
		s.get(petstore.NewSecret(petstore.Production), "/v1/pets").is(t, 401, "unauthorized")
	}
	if n := storage.count("FindKey"); n != 100 {
		t.Errorf("100 keys that may exist cost %d queries", n)
	}
	s.repeat(request("GET", "/", ""), 900)
	for range 10 {
		a := s.get(petstore.NewSecret(petstore.Production), "/v1/pets")
		a.is(t, 429, "rate_limited")
		a.hasLimits(t, 1000, 0, noon.Add(time.Minute))
		a.has(t, "Retry-After", "60")
	}
	s.get(fresh, "/v1/pets").is(t, 429, "rate_limited")
	s.get("", "/v1/pets").is(t, 429, "rate_limited")
	s.get("", "/").is(t, 429, "rate_limited")
	s.get(valid, "/v1/pets").is(t, 200, "")
	s.clock.step(5 * time.Second)
	s.get(valid, "/v1/pets").is(t, 200, "")
	if n := storage.count("FindKey"); n != 1 {
		t.Errorf("%d queries, want that of the valid key only", n)
	}
	s.clock.step(55 * time.Second)
	s.get(fresh, "/v1/pets").is(t, 200, "")
}

// turningLimiter is a limiter for which a minute passes after every refusal.
type turningLimiter struct {
	petstore.Limiter
	clock *clock
}

func (l turningLimiter) Take(ctx context.Context, ask petstore.Ask) (petstore.Decision, error) {
	d, err := l.Limiter.Take(ctx, ask)
	if d.Outcome != petstore.Allowed {
		l.clock.step(time.Minute)
	}
	return d, err
}

func TestUncheckedKeyIsNotCalledInvalid(t *testing.T) {
	s := serve(t, func(c *httpapi.Config) {
		minutes := new(clock)
		c.Limiter = turningLimiter{ratelimit.NewMemory(minutes.now), minutes}
	})
	key := s.key(petstore.Free)
	s.repeat(request("GET", "/", ""), 1000)
	a := s.get(key, "/v1/pets")
	a.is(t, 429, "rate_limited")
	a.has(t, "Retry-After", "60")
	s.get(key, "/v1/pets").is(t, 200, "")
}
