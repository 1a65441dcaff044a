package model

import (
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
	"petstore/internal/ratelimit"
	"petstore/internal/sqlite"
)

// noon is the time at which every sequence begins.
var noon = time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)

// service is the API on a SQLite file. Its clock moves only when a script lets time pass.
type service struct {
	clock atomic.Int64 // in Unix milliseconds
	db    *sqlite.DB
	api   *httpapi.API
}

func (s *service) now() time.Time { return time.UnixMilli(s.clock.Load()).UTC() }

// key is an API key as its holder knows it.
type key struct {
	id, secret string
	owner      string
	isReadOnly bool
	expires    time.Time // zero if the key never expires
	isRevoked  bool
}

func (k *key) isUsable(now time.Time) bool {
	return k != nil && !k.isRevoked && (k.expires.IsZero() || now.Before(k.expires))
}

// newKeys returns the keys that exist when a sequence begins.
func newKeys() []*key {
	secret := func() string { return petstore.NewSecret(petstore.Production) }
	return []*key{
		{secret: secret(), owner: "keeper"},
		{secret: secret(), owner: "keeper", isReadOnly: true},
		{secret: secret(), owner: "other"},
		{secret: secret(), owner: "brief", expires: noon.Add(time.Hour)},
	}
}

// newFollowers returns keys that read the feed. One of them may only read, and sees no references.
func newFollowers() []*key {
	secret := func() string { return petstore.NewSecret(petstore.Production) }
	return []*key{{secret: secret(), owner: "follower"}, {secret: secret(), owner: "follower", isReadOnly: true}}
}

// strangers are secrets that belong to no key: an empty secret, a malformed secret, and a well-formed secret.
var strangers = []string{"", "pets_live_nonsense", petstore.NewSecret(petstore.Production)}

// serve starts the API with the given keys. If the system has a folder in memory, the database file is in that folder, so
// that nothing waits for the disk.
func serve(t testing.TB, keys []*key) *service {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "petstore")
	if err != nil {
		dir = t.TempDir()
	}
	s := new(service)
	s.clock.Store(noon.UnixMilli())
	config := sqlite.Config{Path: filepath.Join(dir, "pets.db"), Environment: petstore.Production, Create: true, Serve: true, Now: s.now}
	if s.db, err = sqlite.Open(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.db.Close()
		os.RemoveAll(dir)
	})
	for _, k := range keys {
		limits := petstore.Limits{PerMinute: 1_000_000, PerDay: 1_000_000}
		stored := petstore.NewKey("model", petstore.Enterprise, limits, noon, petstore.Forever)
		stored.Owner, stored.ExpiresAt, stored.Access = k.owner, k.expires, petstore.ReadWrite
		if k.isReadOnly {
			stored.Access = petstore.ReadOnly
		}
		k.id = stored.ID
		if err := s.db.CreateKey(t.Context(), stored, petstore.HashSecret(k.secret), petstore.KeyRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	s.restart()
	return s
}

// restart replaces the API, as a new process on the same file does.
func (s *service) restart() {
	s.api = httpapi.New(httpapi.Config{
		Environment: petstore.Production,
		Storage:     s.db,
		Versioned:   s.db,
		Limiter:     ratelimit.NewMemory(s.now),
		Log:         slog.New(slog.DiscardHandler),
		Metrics:     prometheus.NewRegistry(),
		Now:         s.now,
	})
}
