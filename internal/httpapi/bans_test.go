package httpapi_test

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
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
	secret, key := s.keep(petstore.NewKey("loud", petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, noon, petstore.Forever))
	ask := request("GET", "/v1/pets", secret)
	provoke := func(t *testing.T) *answer {
		t.Helper()
		s := s.in(t)
		s.repeat(ask, 60)
		s.repeat(ask, 59)
		a := s.send(ask)
		a.is(t, 429, "key_banned")
		return a
	}

	t.Run("comes with the 60th refusal, for a minute from then", func(t *testing.T) {
		s.clock.step(20 * time.Second)
		a := provoke(t)
		a.told(t, 60, 0, noon.Add(80*time.Second))
		a.has(t, "Retry-After", "60")
	})
	t.Run("is stored with the owner", func(t *testing.T) {
		stored, err := storage.FindKey(t.Context(), petstore.HashSecret(secret))
		if err != nil || !stored.BannedUntil.Equal(noon.Add(80*time.Second)) {
			t.Errorf("got %v, %v", stored.BannedUntil, err)
		}
	})
	t.Run("holds in a service that starts afterwards", func(t *testing.T) {
		other := serve(t, on(storage), func(c *httpapi.Config) { c.Now, c.Limiter = s.clock.now, ratelimit.NewMemory(s.clock.now) })
		other.send(ask).is(t, 429, "key_banned")
	})
	t.Run("holds for a key that replaces the banned one", func(t *testing.T) {
		next := s.secret(petstore.Production)
		if _, err := storage.RotateKey(t.Context(), key.ID, petstore.HashSecret(next), s.clock.now(), 1000*time.Hour); err != nil {
			t.Fatal(err)
		}
		s.in(t).get(next, "/v1/pets").is(t, 429, "key_banned")
	})
	t.Run("is not prolonged by requests during it", func(t *testing.T) {
		s.clock.step(30 * time.Second)
		for range 100 {
			s.in(t).send(ask).told(t, 60, 0, noon.Add(80*time.Second))
		}
	})
	t.Run("ends as it was said", func(t *testing.T) {
		s.clock.step(30*time.Second - time.Millisecond)
		a := s.in(t).send(ask)
		a.is(t, 429, "key_banned")
		a.has(t, "Retry-After", "1")
		s.clock.step(time.Millisecond)
		s.in(t).send(ask).is(t, 200, "")
	})
	t.Run("doubles within a day, up to an hour", func(t *testing.T) {
		for _, minutes := range []int{2, 4, 8, 16, 32, 60, 60} {
			s.clock.step(time.Hour)
			provoke(t).has(t, "Retry-After", strconv.Itoa(60*minutes))
		}
	})
	t.Run("is a minute again after a day without one", func(t *testing.T) {
		s.clock.step(24*time.Hour + time.Minute)
		provoke(t).has(t, "Retry-After", "60")
	})
	t.Run("can be lifted, and that holds within 5 seconds", func(t *testing.T) {
		if err := storage.UnbanOwner(t.Context(), key.Owner); err != nil {
			t.Fatal(err)
		}
		s.clock.step(5 * time.Second)
		if a := s.in(t).send(ask); a.status == 429 {
			a.is(t, 429, "rate_limited")
		}
	})
}

func TestBanOfAClockThatWasAheadIsLiftedWhenTheClockIsRight(t *testing.T) {
	storage := openSQLite(t)
	s := serve(t, on(storage))
	secret, _ := s.keep(petstore.NewKey("loud", petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, noon, petstore.Forever))
	ask := request("GET", "/v1/pets", secret)
	s.clock.step(time.Hour)
	s.repeat(ask, 60+60)
	s.send(ask).is(t, 429, "key_banned")

	s.clock.step(-time.Hour)
	for range 70 { // up to the hour in which the ban would have been in force, and past it
		s.send(ask).is(t, 200, "")
		s.clock.step(time.Minute)
	}
	stored, err := storage.FindKey(t.Context(), petstore.HashSecret(secret))
	if err != nil || !stored.BannedUntil.IsZero() {
		t.Errorf("a ban until %v is stored (%v)", stored.BannedUntil, err)
	}
}

func TestReplicaThatNeverReachedRedisLeavesABanThatLiesAheadOfItsClock(t *testing.T) {
	redis := testservice.StartRedis(t)
	redis.Stop(t)
	limiter, err := ratelimit.NewFallback(redis.URL, petstore.Production, slog.New(slog.DiscardHandler), func(bool, time.Duration) {})
	if err != nil {
		t.Fatal(err)
	}
	defer limiter.Close()
	storage := openSQLite(t)
	s := serve(t, on(storage), func(c *httpapi.Config) { c.Limiter, c.Now = limiter, time.Now })
	secret, key := s.keep(petstore.NewKey("loud", petstore.Enterprise, petstore.Limits{PerMinute: 1, PerDay: 1000}, noon, petstore.Forever))
	ban, err := storage.BanOwner(t.Context(), key.Owner, time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	ask := request("GET", "/v1/pets", secret)
	stays := func() bool {
		t.Helper()
		stored, err := storage.FindKey(t.Context(), petstore.HashSecret(secret))
		if err != nil {
			t.Fatal(err)
		}
		return stored.BannedFrom.Equal(ban.Start)
	}

	s.repeat(ask, 100) // enough for another ban
	if !stays() {
		t.Error("the ban is gone, but the clock of this replica may be slow")
	}
	redis.Start(t)
	for deadline := time.Now().Add(30 * time.Second); stays(); s.send(ask) {
		if time.Now().After(deadline) {
			t.Fatal("Redis is back and says that the ban lies ahead, and the ban still stays")
		}
	}
}

func TestBanThatCannotBeStoredIsAskedForAgain(t *testing.T) {
	storage := meddle(t)
	s := serve(t, on(storage))
	ask := request("GET", "/v1/pets", s.key(petstore.Free))
	s.repeat(ask, 60)
	storage.failing("BanOwner", petstore.NotDone(nil))
	s.repeat(ask, 59)
	s.send(ask).is(t, 429, "rate_limited")
	storage.with(nil)
	s.repeat(ask, 59)
	s.send(ask).is(t, 429, "key_banned")
}

func TestBanIsStoredEvenIfItsCauserHangsUp(t *testing.T) {
	storage := meddle(t)
	s := serve(t, on(storage))
	secret := s.key(petstore.Free)
	ask := request("GET", "/v1/pets", secret)
	s.repeat(ask, 60)
	s.repeat(ask, 59)

	banning, gone, fate := make(chan struct{}), make(chan struct{}), make(chan error)
	storage.with(func(ctx context.Context, call string) error {
		if call == "BanOwner" {
			close(banning)
			<-gone
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond): // enough time for the server to notice that its client is gone
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
		t.Errorf("who hangs up is not banned: %v", err)
	}
}

func TestNobodyIsToldOfABanWhileLimitsAreOff(t *testing.T) {
	s := serve(t, func(c *httpapi.Config) { c.CountOnly = true })
	secret, key := s.keep(petstore.NewKey("loud", petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, noon, petstore.Forever))
	if _, err := s.storage.BanOwner(t.Context(), key.Owner, noon); err != nil {
		t.Fatal(err)
	}
	a := s.get(secret, "/v1/pets")
	a.is(t, 200, "")
	a.told(t, 60, 59, noon.Add(time.Minute))
}
