package history

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
	"petstore/internal/postgres"
	"petstore/internal/ratelimit"
	"petstore/internal/sqlite"
	"petstore/internal/testservice"
)

// onEveryStorage runs a check with a new, empty storage of each kind. It is for what must be so on each; a fault that a test
// plants looks the same on all.
func onEveryStorage(t *testing.T, check func(t *testing.T, storage petstore.Database)) {
	t.Run("sqlite", func(t *testing.T) { check(t, openSQLite(t)) })
	t.Run("postgres", func(t *testing.T) {
		db, err := postgres.Open(t.Context(), postgres.Config{URL: testservice.Postgres(t), Environment: petstore.Production, Create: true})
		check(t, closedWith(t, db, err))
	})
}

func openSQLite(t *testing.T) petstore.Database {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "petstore.db"), Environment: petstore.Production, Create: true, Serve: true})
	return closedWith(t, db, err)
}

func closedWith(t *testing.T, storage petstore.Database, err error) petstore.Database {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { storage.Close() })
	return storage
}

// generous are limits that no test reaches.
var generous = petstore.Limits{PerMinute: 1_000_000, PerDay: 100_000_000}

// service is the real API on a port of its own, under load.
type service struct {
	*testing.T
	Load
	history *History
	rules   Rules
}

// serve starts the API with two keys: one that no test uses up, and one with those limits.
func serve(t *testing.T, storage petstore.Database, limiter petstore.Limiter, limits petstore.Limits) *service {
	t.Helper()
	versioned, _ := storage.(petstore.Versioned)
	api := httpapi.New(httpapi.Config{
		Environment: petstore.Production,
		Storage:     storage,
		Versioned:   versioned,
		Limiter:     limiter,
		Log:         slog.New(slog.DiscardHandler),
		Metrics:     prometheus.NewRegistry(),
		Now:         time.Now,
	})
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	s := &service{T: t, history: New(), rules: Rules{Limits: make(map[string]Limit)}}
	s.Load = Load{Base: server.URL, Keys: make(map[string]string), Client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}, Seed: 7, Workers: 6}
	s.rules.Began = s.history.Began()
	for name, limits := range map[string]petstore.Limits{"generous": generous, "limited": limits} {
		secret, key := petstore.NewSecret(petstore.Production), petstore.NewKey(name, petstore.Enterprise, limits, time.Now(), petstore.Forever)
		if err := storage.CreateKey(t.Context(), key, petstore.HashSecret(secret)); err != nil {
			t.Fatal(err)
		}
		s.Keys[name], s.rules.Limits[name] = secret, Limit(limits)
	}
	return s
}

// run loads the service until that many exchanges are recorded, and reads everything back.
func (s *service) run(exchanges int) {
	s.Helper()
	s.runUntil(func(recorded []Exchange) bool { return len(recorded) >= exchanges })
}

// runUntil loads the service until enough is recorded, and reads everything back.
func (s *service) runUntil(enough func(recorded []Exchange) bool) {
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
	s.readBack()
}

func (s *service) readBack() {
	ctx, stop := context.WithTimeout(s.Context(), time.Minute)
	defer stop()
	s.Load.ReadBack(ctx, s.history)
}

// finds checks that the history has faults of that kind. A planted fault may also be seen in other ways, which are named too;
// faults of all other kinds fail the test.
func (s *service) finds(want Kind, also ...Kind) {
	s.Helper()
	found := false
	for _, f := range Check(s.history.Exchanges(), s.rules) {
		found = found || f.Kind == want
		if f.Kind != want && !slices.Contains(also, f.Kind) {
			s.Error(f)
		}
	}
	if !found {
		s.Errorf("found no fault of the kind %q", want)
	}
}

// findsNothing checks that the history has no faults.
func (s *service) findsNothing() {
	s.Helper()
	for _, f := range Check(s.history.Exchanges(), s.rules) {
		s.Error(f)
	}
}

func TestNoFaultIsFoundWithoutOne(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, storage petstore.Database) {
		s := serve(t, storage, ratelimit.NewMemory(time.Now), generous)
		s.run(1000)
		s.findsNothing()
	})
}

func TestTheLoadDoesEveryOperation(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "petstore.db"), Environment: petstore.Production, Create: true, Serve: true})
	s := serve(t, closedWith(t, db, err), ratelimit.NewMemory(time.Now), generous)
	s.run(1000)
	asked, replays := make(map[string]bool), 0
	for i, e := range s.history.Exchanges() {
		c := read(i, e)
		asked[c.op] = true
		if c.replayed {
			replays++
		}
	}
	for _, op := range routes {
		if !asked[op] {
			t.Errorf("%s was never asked for", op)
		}
	}
	if replays == 0 {
		t.Error("no idempotent call was replayed")
	}
}
