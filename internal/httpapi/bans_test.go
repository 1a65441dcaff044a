package httpapi_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
	"petstore/internal/ratelimit"
	"petstore/internal/testservice"
)

func TestBan(t *testing.T) {
	storage := openSQLite(t)
	s := serve(t, on(storage))
	secret, key := s.createKey(petstore.NewKey("loud", petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, noon, petstore.Forever))
	ask := request("GET", "/v1/pets", secret)
	earnBan := func(t *testing.T) *answer {
		t.Helper()
		s := s.in(t)
		s.repeat(ask, 60)
		s.repeat(ask, 59)
		a := s.send(ask)
		a.is(t, 429, "key_banned")
		return a
	}

	t.Run("starts at the 60th refusal and lasts a minute", func(t *testing.T) {
		s.clock.step(20 * time.Second)
		a := earnBan(t)
		a.hasLimits(t, 60, 0, noon.Add(80*time.Second))
		a.has(t, "Retry-After", "60")
	})
	t.Run("is stored with the owner", func(t *testing.T) {
		stored, err := storage.FindKey(t.Context(), petstore.HashSecret(secret))
		if err != nil || !stored.BannedUntil.Equal(noon.Add(80*time.Second)) {
			t.Errorf("got %v, %v", stored.BannedUntil, err)
		}
	})
	t.Run("is in force in a service that starts later", func(t *testing.T) {
		other := serve(t, on(storage), func(c *httpapi.Config) { c.Now, c.Limiter = s.clock.now, ratelimit.NewMemory(s.clock.now) })
		other.send(ask).is(t, 429, "key_banned")
	})
	t.Run("is in force for a key that replaces the banned one", func(t *testing.T) {
		next := s.secret(petstore.Production)
		if _, err := storage.RotateKey(t.Context(), key.ID, petstore.HashSecret(next), petstore.Rotation{Overlap: 1000 * time.Hour}, petstore.ByOperator(s.clock.now())); err != nil {
			t.Fatal(err)
		}
		s.in(t).get(next, "/v1/pets").is(t, 429, "key_banned")
	})
	t.Run("is not prolonged by requests", func(t *testing.T) {
		s.clock.step(30 * time.Second)
		for range 100 {
			s.in(t).send(ask).hasLimits(t, 60, 0, noon.Add(80*time.Second))
		}
	})
	t.Run("ends after Retry-After", func(t *testing.T) {
		s.clock.step(30*time.Second - time.Millisecond)
		a := s.in(t).send(ask)
		a.is(t, 429, "key_banned")
		a.has(t, "Retry-After", "1")
		s.clock.step(time.Millisecond)
		s.in(t).send(ask).is(t, 200, "")
	})
	t.Run("can be lifted within 5 seconds", func(t *testing.T) {
		s.clock.step(time.Hour)
		earnBan(t).has(t, "Retry-After", "120")
		noError(t, writeError(storage.UnbanKey(t.Context(), key.Owner, petstore.KeyRequest{})))
		s.clock.step(5 * time.Second)
		if a := s.in(t).send(ask); a.status == 429 {
			a.is(t, 429, "rate_limited")
		}
	})
}

func TestFutureDatedBanIsLifted(t *testing.T) {
	storage := openSQLite(t)
	s := serve(t, on(storage))
	secret, _ := s.createKey(petstore.NewKey("loud", petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, noon, petstore.Forever))
	ask := request("GET", "/v1/pets", secret)
	s.clock.step(time.Hour)
	s.repeat(ask, 60+60)
	s.send(ask).is(t, 429, "key_banned")

	s.clock.step(-time.Hour)
	for range 70 { // passes the time of the future-dated ban
		s.send(ask).is(t, 200, "")
		s.clock.step(time.Minute)
	}
	stored, err := storage.FindKey(t.Context(), petstore.HashSecret(secret))
	if err != nil || !stored.BannedUntil.IsZero() {
		t.Errorf("a ban until %v is stored (%v)", stored.BannedUntil, err)
	}
}

func TestReplicaWithoutRedisKeepsAFutureDatedBan(t *testing.T) {
	redis := testservice.StartRedis(t)
	redis.Stop(t)
	limiter, err := ratelimit.NewFallback(redis.URL, petstore.Production, slog.New(slog.DiscardHandler), func(bool, time.Duration) {})
	noError(t, err)
	defer limiter.Close()
	storage := openSQLite(t)
	s := serve(t, on(storage), func(c *httpapi.Config) { c.Limiter, c.Now = limiter, time.Now })
	secret, key := s.createKey(petstore.NewKey("loud", petstore.Enterprise, petstore.Limits{PerMinute: 1, PerDay: 1000}, noon, petstore.Forever))
	ban, err := storage.BanOwner(t.Context(), key.Owner, time.Now().Add(time.Hour))
	noError(t, err)
	ask := request("GET", "/v1/pets", secret)
	stays := func() bool {
		t.Helper()
		stored, err := storage.FindKey(t.Context(), petstore.HashSecret(secret))
		noError(t, err)
		return stored.BannedFrom.Equal(ban.Start)
	}

	s.repeat(ask, 100) // enough requests for another ban
	if !stays() {
		t.Error("the ban was lifted, although the clock of this replica may be slow")
	}
	redis.Start(t)
	for deadline := time.Now().Add(30 * time.Second); stays(); s.send(ask) {
		if time.Now().After(deadline) {
			t.Fatal("Redis is back and its clock shows that the ban is future-dated, but the ban was not lifted")
		}
	}
}

func TestBanThatCouldNotBeStoredIsRetried(t *testing.T) {
	storage := openHooked(t)
	s := serve(t, on(storage))
	ask := request("GET", "/v1/pets", s.key(petstore.Free))
	s.repeat(ask, 60)
	storage.failOn("BanOwner", petstore.NotDone(nil))
	s.repeat(ask, 59)
	s.send(ask).is(t, 429, "rate_limited")
	storage.setHook(nil)
	s.repeat(ask, 59)
	s.send(ask).is(t, 429, "key_banned")
}

func TestBanIsStoredEvenIfTheClientHangsUp(t *testing.T) {
	storage := openHooked(t)
	s := serve(t, on(storage))
	secret := s.key(petstore.Free)
	ask := request("GET", "/v1/pets", secret)
	s.repeat(ask, 60)
	s.repeat(ask, 59)

	banning, gone, fate := make(chan struct{}), make(chan struct{}), make(chan error)
	storage.setHook(func(ctx context.Context, call string) error {
		if call == "BanOwner" {
			close(banning)
			<-gone
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond): // enough time for the server to notice that the client has hung up
			}
			fate <- ctx.Err()
		}
		return nil
	})
	conn := dial(t, s.address)
	fmt.Fprint(conn, ask)
	<-banning
	conn.Close()
	close(gone)
	if err := <-fate; err != nil {
		t.Errorf("the call of BanOwner was cancelled: %v", err)
	}
}

func TestBansAreIgnoredWhileLimitsAreOff(t *testing.T) {
	s := serve(t, func(c *httpapi.Config) { c.CountOnly = true })
	secret, key := s.createKey(petstore.NewKey("loud", petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, noon, petstore.Forever))
	if _, err := s.storage.BanOwner(t.Context(), key.Owner, noon); err != nil {
		t.Fatal(err)
	}
	a := s.get(secret, "/v1/pets")
	a.is(t, 200, "")
	a.hasLimits(t, 60, 59, noon.Add(time.Minute))
}
