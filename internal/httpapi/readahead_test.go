package httpapi_test

import (
	"context"
	"testing"
	"time"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
	"petstore/internal/ratelimit"
)

// distantLimiter is a slow limiter. After Begin, it decides only when the storage has been read.
type distantLimiter struct {
	*ratelimit.Memory
	refuses bool
	begun   int
	asked   chan struct{} // gets a value for every read of the storage
}

func (d *distantLimiter) Begin(ask petstore.Ask) func() (petstore.Decision, error) {
	d.begun++
	return func() (petstore.Decision, error) {
		select {
		case <-d.asked:
		case <-time.After(time.Minute):
		}
		if d.refuses {
			ask.BannedFrom, ask.BannedUntil = noon, noon.Add(time.Hour)
		}
		return d.Memory.Take(context.Background(), ask)
	}
}

func serveDistant(t *testing.T) (*service, *distantLimiter, *hookedStorage) {
	storage, limiter := openHooked(t), &distantLimiter{asked: make(chan struct{}, 10)}
	s := serve(t, on(storage), func(c *httpapi.Config) {
		limiter.Memory = ratelimit.NewMemory(c.Now)
		c.Limiter, c.Distant = limiter, limiter
	})
	storage.setHook(func(_ context.Context, call string) error {
		if call == "ListPets" || call == "GetPet" {
			limiter.asked <- struct{}{}
		}
		return nil
	})
	return s, limiter, storage
}

func TestReadGoesAheadWhileTheLimiterDecides(t *testing.T) {
	s, limiter, _ := serveDistant(t)
	key := s.key(petstore.Free)
	s.post(key, `{"name":"Rex","categoryId":1}`).is(t, 201, "")
	if limiter.begun != 0 {
		t.Error("a create went ahead of the limiter")
	}
	for i, target := range []string{"/v1/pets", "/v1/pets/1", "/v1/pets/2"} {
		a := s.get(key, target)
		a.has(t, "X-RateLimit-Remaining", []string{"58", "57", "56"}[i])
		if status := []int{200, 200, 404}[i]; a.status != status || limiter.begun != i+1 {
			t.Errorf("%s: got %d after %d were begun, want %d", target, a.status, limiter.begun, status)
		}
	}
	s.get("", "/v1/pets").is(t, 401, "unauthorized")
	s.send(request("OPTIONS", "/v1/pets", key)).is(t, 204, "")
	s.send(request("DELETE", "/v1/pets/1", key)).is(t, 204, "")
	if limiter.begun != 3 {
		t.Errorf("%d requests were begun, want the three reads", limiter.begun)
	}
}

func TestReadThatTheLimiterRefusesSendsNothing(t *testing.T) {
	s, limiter, storage := serveDistant(t)
	key := s.key(petstore.Free)
	for range 3 {
		s.post(key, `{"name":"Rex","categoryId":1}`).is(t, 201, "")
	}
	limiter.refuses = true
	for _, target := range []string{"/v1/pets?limit=1", "/v1/pets/1", "/v1/pets/4"} {
		a := s.get(key, target)
		a.is(t, 429, "key_banned")
		a.has(t, "X-RateLimit-Remaining", "0")
		a.has(t, "Retry-After", "3600")
		if target == "/v1/pets?limit=1" {
			a.has(t, "Link", "")
		}
	}
	for _, target := range []string{"/v1/pets?limit=0", "/v1/pets/none"} { // later steps refuse these without a read
		limiter.asked <- struct{}{}
		s.get(key, target).is(t, 429, "key_banned")
	}
	limiter.refuses = false
	storage.setHook(func(_ context.Context, call string) error {
		if call == "GetPet" {
			limiter.asked <- struct{}{}
			panic("the storage")
		}
		return nil
	})
	a := s.get(key, "/v1/pets/2")
	a.is(t, 500, "internal_error")
	a.has(t, "X-RateLimit-Remaining", "56")
}
