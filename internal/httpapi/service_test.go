package httpapi_test

import (
	"context"
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

// noon is the time of the service's clock when a test begins.
var noon = time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)

// clock is a clock that moves only when a test calls step.
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
	log     *testLog

	// What answers have shown, for the requests of a conversation:
	token       string   // of the last photo
	shownKeys   []string // the ids of keys, in the order of their first appearance
	shownHooks  []string // the ids of webhooks, likewise
	cursor      string   // of the last page that another one follows
	shownSecret string   // of the last key
	feed        string   // the name of the feed of events
}

// in returns the same service for a subtest.
func (s *service) in(t *testing.T) *service {
	part := *s
	part.T = t
	return &part
}

// opener opens a new, empty storage, which is closed when the test ends.
type opener func(t testing.TB) petstore.Storage

// onEveryStorage runs check once for each kind of storage.
func onEveryStorage(t *testing.T, check func(t *testing.T, open opener)) {
	t.Run("sqlite", func(t *testing.T) { check(t, openSQLite) })
	t.Run("postgres", func(t *testing.T) { check(t, openPostgres) })
}

func openSQLite(t testing.TB) petstore.Storage { return openSQLiteAt(t, time.Now) }

// openSQLiteAt opens a SQLite storage in which orders expire by the given clock.
func openSQLiteAt(t testing.TB, now func() time.Time) petstore.Storage {
	t.Helper()
	db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "petstore.db"), Environment: petstore.Production, Create: true, Serve: true, Now: now})
	return closeAfterTest(t, db, err)
}

func openPostgres(t testing.TB) petstore.Storage {
	t.Helper()
	db, err := postgres.Open(t.Context(), postgres.Config{URL: testservice.Postgres(t), Environment: petstore.Production, Create: true})
	return closeAfterTest(t, db, err)
}

func closeAfterTest(t testing.TB, storage petstore.Storage, err error) petstore.Storage {
	t.Helper()
	noError(t, err)
	t.Cleanup(func() {
		if err := storage.Close(); err != nil {
			t.Error(err)
		}
	})
	return storage
}

// serve starts a service with these settings. If the settings choose no storage, the service uses SQLite.
func serve(t *testing.T, settings ...func(*httpapi.Config)) *service {
	t.Helper()
	s := &service{T: t, clock: new(clock), log: new(testLog)}
	config := httpapi.Config{
		Environment: petstore.Production,
		Log:         slog.New(slog.NewJSONHandler(s.log, nil)),
		Metrics:     prometheus.NewRegistry(),
		Now:         s.clock.now,
		Limiter:     ratelimit.NewMemory(s.clock.now),

		CheckWebhookURL: requireHTTPS,
		Ping:            answerPing,
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
	noError(t, err)
	s.address = listener.Addr().String()
	server := &http.Server{
		Handler:                      strict(t, s.api),
		MaxHeaderBytes:               128 << 10,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(slog.NewTextHandler(s.log, nil), slog.LevelError),
	}
	go server.Serve(listener)
	t.Cleanup(func() {
		server.Close()
		s.log.expectNoSecrets(t)
	})
	return s
}

// requireHTTPS takes the place of the rules for the URLs of webhooks.
func requireHTTPS(url string) (problem string) {
	if !strings.HasPrefix(url, "https://") {
		return "must be an address with https"
	}
	return ""
}

// answerPing takes the place of a receiver, which refuses what is sent to a URL that contains "refuse".
func answerPing(_ context.Context, webhook petstore.Webhook) petstore.Delivery {
	at := time.Now().UTC().Truncate(time.Millisecond)
	ping := petstore.Delivery{ID: petstore.NewDeliveryID(at), WebhookID: webhook.ID, EventID: petstore.NewPingID(), At: at, Status: 204, Took: 12 * time.Millisecond}
	if strings.Contains(webhook.URL, "refuse") {
		ping.Status, ping.Error = 404, "status"
	}
	return ping
}

// strict gives a handler the AddHeader method that package server provides. It fails the test if the handler adds a header
// twice or after the status.
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
		w.t.Errorf("%s: %s is added; before it: %q; after the status: %v", name, value, before, w.sent)
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

// key creates a key with that plan and returns the secret of the key.
func (s *service) key(plan petstore.Plan) string {
	s.Helper()
	limits, err := plan.Limits(0, 0)
	if plan == petstore.Enterprise {
		limits, err = petstore.FirstKeyLimits, nil
	}
	if err != nil {
		s.Fatal(err)
	}
	secret, _ := s.createKey(petstore.NewKey("test", plan, limits, s.clock.now(), petstore.Forever))
	return secret
}

// admin creates an administrator's key that no test limits, and returns its secret and the key.
func (s *service) admin() (string, petstore.Key) {
	s.Helper()
	key := petstore.NewKey("admin", petstore.Enterprise, petstore.FirstKeyLimits, s.clock.now(), petstore.Forever)
	key.Access = petstore.Admin
	return s.createKey(key)
}

// createKey stores a key with a new secret, and returns the secret and the key.
func (s *service) createKey(key petstore.Key) (string, petstore.Key) {
	s.Helper()
	secret := s.secret(petstore.Production)
	if err := s.storage.CreateKey(s.Context(), key, petstore.HashSecret(secret), petstore.KeyRequest{}); err != nil {
		s.Fatal(err)
	}
	return secret, key
}

// secret generates a secret. The test fails if the service ever logs the secret.
func (s *service) secret(env petstore.Environment) string {
	secret := petstore.NewSecret(env)
	s.log.secrets = append(s.log.secrets, secret)
	return secret
}

// pets returns all stored animals.
func (s *service) pets() []petstore.Pet {
	s.Helper()
	pets, err := s.storage.ListPets(s.Context(), petstore.PetQuery{Limit: 10_000})
	if err != nil {
		s.Fatal(err)
	}
	return pets
}

// testLog keeps the lines that the service logged, and the secrets that it must not log.
type testLog struct {
	mu      sync.Mutex
	text    strings.Builder
	secrets []string
}

func (j *testLog) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *testLog) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// lineOf returns the log line of a request. It waits for the line, because the service logs the line after the answer.
func (j *testLog) lineOf(requestID string) string {
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

func (j *testLog) expectNoSecrets(t testing.TB) {
	text := j.String()
	for _, secret := range j.secrets {
		if strings.Contains(text, secret) {
			t.Errorf("the log contains the secret %s", secret)
		}
	}
}

// writeError returns the error of a write and drops the result.
func writeError[T any](_ T, _ bool, err error) error { return err }

// noError fails the test if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
