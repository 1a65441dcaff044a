package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
)

func TestValidKeyCostsOneQueryIn5Seconds(t *testing.T) {
	storage := openHooked(t)
	s := serve(t, on(storage))
	key := s.key(petstore.Enterprise)
	for range 3 {
		for range 20 {
			s.get(key, "/v1/pets").is(t, 200, "")
			s.clock.step(200 * time.Millisecond)
		}
		s.clock.step(time.Second)
		if n := storage.count("FindKey"); n != 1 {
			t.Errorf("%d queries in 5 seconds, want 1", n)
		}
	}
}

func TestKeyInUseIsRenewedInTheBackground(t *testing.T) {
	storage := openHooked(t)
	s := serve(t, on(storage))
	secret, key := s.createKey(petstore.NewKey("busy", petstore.Enterprise, petstore.FirstKeyLimits, noon, petstore.Forever))
	s.get(secret, "/v1/pets").has(t, "X-RateLimit-Limit", "100000000")
	if _, _, err := storage.UpdateKey(t.Context(), key.ID, petstore.KeyChange{PerMinute: new(int64(90_000_000))}, petstore.ByOperator(noon)); err != nil {
		t.Fatal(err)
	}
	storage.count("FindKey")
	asked, release := storage.blockLookUps(10)
	s.clock.step(4 * time.Second)
	for range 10 {
		s.get(secret, "/v1/pets").has(t, "X-RateLimit-Limit", "100000000")
	}
	select {
	case <-asked:
	case <-time.After(30 * time.Second):
		t.Fatal("the key is not looked up before its 5 seconds are over")
	}
	close(release)
	for deadline := time.Now().Add(30 * time.Second); s.get(secret, "/v1/pets").header.Get("X-RateLimit-Limit") != "90000000"; {
		if time.Now().After(deadline) {
			t.Fatal("the key that was looked up is not used")
		}
	}
	s.clock.step(4*time.Second - 1)
	s.get(secret, "/v1/pets").has(t, "X-RateLimit-Limit", "90000000")
	if n := storage.count("FindKey"); n != 1 {
		t.Errorf("%d queries in 8 seconds, want 1", n)
	}
}

func TestEndedKeyIsRefusedWithin5Seconds(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		s := serve(t, on(open(t)))
		limits := petstore.Limits{PerMinute: 60, PerDay: 1000}
		revoked, key := s.createKey(petstore.NewKey("revoked", petstore.Free, limits, noon, petstore.Forever))
		old, rotated := s.createKey(petstore.NewKey("rotated", petstore.Free, limits, noon, petstore.Forever))
		retired, atOnce := s.createKey(petstore.NewKey("rotated at once", petstore.Free, limits, noon, petstore.Forever))
		short, _ := s.createKey(petstore.NewKey("short", petstore.Free, limits, noon, 3*time.Second))
		for _, secret := range []string{revoked, old, retired, short} {
			s.get(secret, "/v1/pets").is(t, 200, "")
		}
		next, now := s.secret(petstore.Production), s.secret(petstore.Production)
		noError(t, writeError(s.storage.RevokeKey(t.Context(), key.ID, petstore.ByOperator(noon))))
		if _, err := s.storage.RotateKey(t.Context(), rotated.ID, petstore.HashSecret(next), petstore.Rotation{Overlap: time.Hour}, petstore.ByOperator(noon)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.storage.RotateKey(t.Context(), atOnce.ID, petstore.HashSecret(now), petstore.Rotation{}, petstore.ByOperator(noon)); err != nil {
			t.Fatal(err)
		}
		s.get(next, "/v1/pets").is(t, 200, "")
		s.get(now, "/v1/pets").is(t, 200, "")

		s.clock.step(3*time.Second - 1)
		s.get(short, "/v1/pets").is(t, 200, "")
		s.clock.step(1)
		s.get(short, "/v1/pets").is(t, 401, "unauthorized") // refused immediately, because the cache knows when the key expires

		s.clock.step(2 * time.Second)
		s.get(revoked, "/v1/pets").is(t, 401, "unauthorized")
		s.get(retired, "/v1/pets").is(t, 401, "unauthorized")
		s.get(old, "/v1/pets").is(t, 200, "")
		s.clock.step(time.Hour)
		s.get(old, "/v1/pets").is(t, 401, "unauthorized")
		s.get(next, "/v1/pets").is(t, 200, "")
	})
}

func TestChangedPlanTakesEffectWithin5SecondsAndKeepsTheCounts(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		s := serve(t, on(open(t)))
		secret, key := s.createKey(petstore.NewKey("a", petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, noon, petstore.Forever))
		s.get(secret, "/v1/pets").has(t, "X-RateLimit-Remaining", "59")
		if _, _, err := s.storage.UpdateKey(t.Context(), key.ID, petstore.KeyChange{Plan: new(petstore.Pro)}, petstore.ByOperator(noon)); err != nil {
			t.Fatal(err)
		}
		s.clock.step(5 * time.Second)
		changed := s.get(secret, "/v1/pets")
		changed.has(t, "X-RateLimit-Limit", "300")
		changed.has(t, "X-RateLimit-Remaining", "298")
	})
}

func TestNamedKeyMayHaveAnyForm(t *testing.T) {
	const named = "a-key-of-my-own-choice=="
	storage := openHooked(t)
	s := serve(t, on(storage), func(c *httpapi.Config) { c.NamedKey = named })
	s.log.secrets = append(s.log.secrets, named)
	s.get(named, "/v1/pets").is(t, 401, "unauthorized")
	noError(t, storage.EnsureKey(t.Context(), petstore.NewKey("named", petstore.Enterprise, petstore.FirstKeyLimits, noon, petstore.Forever), petstore.HashSecret(named)))
	s.get(named, "/v1/pets").is(t, 200, "")
	storage.count("FindKey")
	s.get(named+"=", "/v1/pets").is(t, 401, "unauthorized")
	s.get(strings.ToUpper(named), "/v1/pets").is(t, 401, "unauthorized")
	if n := storage.count("FindKey"); n != 0 {
		t.Errorf("other names cost %d queries", n)
	}
}
