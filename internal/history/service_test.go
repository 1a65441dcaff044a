package history

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"petstore/internal/httpapi"
	"petstore/internal/model"
	"petstore/internal/petstore"
	"petstore/internal/postgres"
	"petstore/internal/ratelimit"
	"petstore/internal/sqlite"
	"petstore/internal/testservice"
)

// onEveryStorage runs a check with a new, empty storage of each kind.
func onEveryStorage(t *testing.T, check func(t *testing.T, storage petstore.Storage)) {
	t.Run("sqlite", func(t *testing.T) { check(t, openSQLite(t, nil)) })
	t.Run("postgres", func(t *testing.T) {
		db, err := postgres.Open(t.Context(), postgres.Config{URL: testservice.Postgres(t), Environment: petstore.Production, Create: true})
		storage := closedWith(t, db, err)
		if err := db.MarkServed(t.Context()); err != nil { // only a replica that serves answers from memory
			t.Fatal(err)
		}
		check(t, storage)
	})
}

// openSQLite opens a database whose orders expire by the given clock. Nil means the system's clock.
func openSQLite(t testing.TB, now func() time.Time) petstore.Database {
	t.Helper()
	config := sqlite.Config{Path: filepath.Join(t.TempDir(), "petstore.db"), Environment: petstore.Production, Create: true, Serve: true, Now: now}
	db, err := sqlite.Open(t.Context(), config)
	return closedWith(t, db, err)
}

func closedWith(t testing.TB, storage petstore.Database, err error) petstore.Database {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { storage.Close() })
	return storage
}

// The load never reaches the limits in generous. It does reach the limits in tight.
var (
	generous = petstore.Limits{PerMinute: 1_000_000, PerDay: 100_000_000}
	tight    = petstore.Limits{PerMinute: 60, PerDay: 100_000}
)

// service is the real API, under load, on a port of its own.
type service struct {
	testing.TB
	Load
	api     http.Handler
	history *History
	rules   Rules
}

// serve starts the API with two keys. No test reaches the limits of the first key. The second key has tight limits.
func serve(t testing.TB, storage petstore.Storage, limiter petstore.Limiter) *service {
	t.Helper()
	s := &service{TB: t, history: New()}
	versioned, _ := storage.(petstore.Versioned)
	s.api = httpapi.New(httpapi.Config{
		Environment: petstore.Production,
		Storage:     storage,
		Versioned:   versioned,
		Limiter:     limiter,
		Log:         slog.New(slog.DiscardHandler),
		Metrics:     prometheus.NewRegistry(),
		Now:         time.Now,
	})
	server := httptest.NewServer(s.api)
	t.Cleanup(server.Close)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	s.Load = Load{Base: server.URL, Keys: make(map[string]string), Client: client, Seed: 7, Workers: 6}
	s.rules = Rules{Began: s.history.Began(), Limits: make(map[string]Limit)}
	for name, limits := range map[string]petstore.Limits{"a": generous, "b": generous, "tight": tight} {
		secret := petstore.NewSecret(petstore.Production)
		key := petstore.NewKey(name, petstore.Enterprise, limits, time.Now(), petstore.Forever)
		if err := storage.CreateKey(t.Context(), key, petstore.HashSecret(secret), petstore.KeyRequest{}); err != nil {
			t.Fatal(err)
		}
		s.Keys[name], s.rules.Limits[name] = secret, Limit(limits)
	}
	return s
}

// serveSQLite starts the API on a correct storage.
func serveSQLite(t testing.TB) *service {
	return serve(t, openSQLite(t, nil), ratelimit.NewMemory(time.Now))
}

// run sends requests until the given number of exchanges is recorded, and then reads everything back.
func (s *service) run(exchanges int) {
	s.Helper()
	s.runUntil(func(recorded []model.Exchange) bool { return len(recorded) >= exchanges })
}

// runUntil sends requests until the function enough returns true, and then reads everything back.
func (s *service) runUntil(enough func(recorded []model.Exchange) bool) {
	s.Helper()
	ctx, stop := context.WithTimeout(s.Context(), 2*time.Minute)
	defer stop()
	var load sync.WaitGroup
	load.Go(func() { s.Load.Run(ctx, s.history) })
	for !enough(s.history.Exchanges()) {
		if ctx.Err() != nil {
			s.Fatalf("%d exchanges were recorded in two minutes, which was not enough", len(s.history.Exchanges()))
		}
		time.Sleep(time.Millisecond)
	}
	stop()
	load.Wait()
	ctx, stop = context.WithTimeout(s.Context(), time.Minute)
	defer stop()
	s.ReadBack(ctx, s.history)
	if ctx.Err() != nil {
		s.Error("the lists and the feed could not be read to their ends within a minute")
	}
}

// found counts the faults of each kind that the history has.
func (s *service) found() map[Kind]int {
	found := make(map[Kind]int)
	for _, f := range Check(s.history.Exchanges(), s.rules) {
		found[f.Kind]++
	}
	return found
}

// wantFault fails the test unless the history has a fault of the given kind. The history may also have other faults,
// but no search may take too long.
func (s *service) wantFault(want Kind) {
	s.Helper()
	found := s.found()
	if found[want] == 0 || found[Undecided] > 0 {
		s.Errorf("found %v, want %q", found, want)
	}
}

// findsNothing fails the test if the history has a fault.
func (s *service) findsNothing() {
	s.Helper()
	for _, f := range Check(s.history.Exchanges(), s.rules) {
		s.Error(f)
	}
}
