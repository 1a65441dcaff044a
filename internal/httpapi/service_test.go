package httpapi_test

import (
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
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

// noon is when every test begins, by the service's clock.
var noon = time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)

// clock stands still until it is stepped.
type clock struct{ sinceNoon atomic.Int64 }

func (c *clock) now() time.Time       { return noon.Add(time.Duration(c.sinceNoon.Load())) }
func (c *clock) step(d time.Duration) { c.sinceNoon.Add(int64(d)) }

// service is the API behind a real server on a port of its own, with a real storage and a real limiter.
type service struct {
	*testing.T
	clock   *clock
	storage petstore.Storage
	api     *httpapi.API
	address string
	journal *journal
}

// in is the same service in a part of the test.
func (s *service) in(t *testing.T) *service {
	part := *s
	part.T = t
	return &part
}

// opener opens a new, empty storage that is closed with the test.
type opener func(t testing.TB) petstore.Storage

// onEveryStorage runs the same checks on a service with each kind of storage.
func onEveryStorage(t *testing.T, check func(t *testing.T, open opener)) {
	t.Run("sqlite", func(t *testing.T) { check(t, openSQLite) })
	t.Run("postgres", func(t *testing.T) { check(t, openPostgres) })
}

func openSQLite(t testing.TB) petstore.Storage { return openSQLiteAt(t, time.Now) }

// openSQLiteAt opens a storage in which orders end by that clock.
func openSQLiteAt(t testing.TB, now func() time.Time) petstore.Storage {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "petstore.db"), Environment: petstore.Production, Create: true, Serve: true, Now: now})
	return closedWith(t, db, err)
}

func openPostgres(t testing.TB) petstore.Storage {
	t.Helper()
	db, err := postgres.Open(t.Context(), postgres.Config{URL: testservice.Postgres(t), Environment: petstore.Production, Create: true})
	return closedWith(t, db, err)
}

func closedWith(t testing.TB, storage petstore.Storage, err error) petstore.Storage {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := storage.Close(); err != nil {
			t.Error(err)
		}
	})
	return storage
}

// serve starts a service on SQLite, or on what the settings put in its place.
func serve(t *testing.T, settings ...func(*httpapi.Config)) *service {
	t.Helper()
	s := &service{T: t, clock: new(clock), journal: new(journal)}
	config := httpapi.Config{
		Environment: petstore.Production,
		Log:         slog.New(slog.NewJSONHandler(s.journal, nil)),
		Metrics:     prometheus.NewRegistry(),
		Now:         s.clock.now,
		Limiter:     ratelimit.NewMemory(s.clock.now),
	}
	for _, set := range settings {
		set(&config)
	}
	if config.Storage == nil {
		config.Storage = openSQLite(t)
	}
	config.Versioned, _ = config.Storage.(petstore.Versioned)
	s.storage, s.api = config.Storage, httpapi.New(config)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = listener.Addr().String()
	server := &http.Server{
		Handler:                      strict(t, s.api),
		MaxHeaderBytes:               128 << 10,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(slog.NewTextHandler(s.journal, nil), slog.LevelError),
	}
	go server.Serve(listener)
	t.Cleanup(func() {
		server.Close()
		s.journal.keepsSecrets(t)
	})
	return s
}

// strict lets a handler add headers as package server does, and fails the test if one comes twice or after the status.
func strict(t *testing.T, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&strictWriter{ResponseWriter: w, t: t}, r)
	})
}

type strictWriter struct {
	http.ResponseWriter
	t    *testing.T
	sent bool
}

func (w *strictWriter) AddHeader(name, value string) {
	if before, there := w.Header()[name]; there || w.sent {
		w.t.Errorf("%s: %s is added after %q, after the status: %v", name, value, before, w.sent)
	}
	w.Header()[name] = []string{value}
}

func (w *strictWriter) WriteHeader(status int) {
	w.sent = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *strictWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func on(storage petstore.Storage) func(*httpapi.Config) {
	return func(c *httpapi.Config) { c.Storage = storage }
}

// key makes a key of that plan and returns its secret.
func (s *service) key(plan petstore.Plan) string {
	s.Helper()
	limits, err := plan.Limits(0, 0)
	if plan == petstore.Enterprise {
		limits, err = petstore.FirstKeyLimits, nil
	}
	if err != nil {
		s.Fatal(err)
	}
	secret, _ := s.keep(petstore.NewKey("test", plan, limits, s.clock.now(), petstore.Forever))
	return secret
}

// keep stores a key under a new secret.
func (s *service) keep(key petstore.Key) (string, petstore.Key) {
	s.Helper()
	secret := s.secret(petstore.Production)
	if err := s.storage.CreateKey(s.Context(), key, petstore.HashSecret(secret)); err != nil {
		s.Fatal(err)
	}
	return secret, key
}

// secret makes a secret that must never be logged.
func (s *service) secret(env petstore.Environment) string {
	secret := petstore.NewSecret(env)
	s.journal.secrets = append(s.journal.secrets, secret)
	return secret
}

// pets lists what is stored.
func (s *service) pets() []petstore.Pet {
	s.Helper()
	pets, err := s.storage.ListPets(s.Context(), petstore.PetQuery{Limit: 10_000})
	if err != nil {
		s.Fatal(err)
	}
	return pets
}

// journal is what was logged, and what must not be.
type journal struct {
	mu      sync.Mutex
	text    strings.Builder
	secrets []string
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// of waits for the line about a request, which is written after its answer.
func (j *journal) of(requestID string) string {
	for range 30_000 {
		for line := range strings.Lines(j.String()) {
			if strings.Contains(line, `"id":"`+requestID+`"`) {
				return line
			}
		}
		time.Sleep(time.Millisecond)
	}
	return ""
}

func (j *journal) keepsSecrets(t testing.TB) {
	text := j.String()
	for _, secret := range j.secrets {
		if strings.Contains(text, secret) {
			t.Errorf("the log tells the secret %s", secret)
		}
	}
}
