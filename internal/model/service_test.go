package model

import (
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
	"petstore/internal/ratelimit"
	"petstore/internal/sqlite"
)

// noon is when every sequence begins.
var noon = time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)

// service is the API on a SQLite file. It can start over with the same file.
type service struct {
	clock atomic.Int64 // in Unix milliseconds
	db    *sqlite.DB
	aside *sqlite3.Conn
	api   *httpapi.API
	ids   map[string]string // the ids of keys by their secrets
}

func (s *service) now() time.Time { return time.UnixMilli(s.clock.Load()).UTC() }

// open makes the file, in memory if the system has a folder for that, so that nothing waits for the disk.
func open(f *testing.F, keys []*key) *service {
	dir, err := os.MkdirTemp("/dev/shm", "petstore")
	if err != nil {
		dir = f.TempDir()
	}
	f.Cleanup(func() { os.RemoveAll(dir) })
	s := &service{ids: make(map[string]string)}
	s.clock.Store(noon.UnixMilli())
	path := filepath.Join(dir, "pets.db")
	if s.db, err = sqlite.Open(f.Context(), sqlite.Config{Path: path, Environment: petstore.Production, Create: true, Serve: true, Now: s.now}); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.db.Close() })
	for _, k := range keys {
		s.keep(f, k)
	}
	if s.aside, err = sqlite3.OpenConn(path, sqlite3.OpenReadWrite); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.aside.Close() })
	// Otherwise the service would write in the background when a key was last used, for longer than a sequence takes.
	if err := sqlitex.ExecuteScript(s.aside, "UPDATE keys SET last_used_at = 1 << 50; CREATE TABLE first_keys AS SELECT * FROM keys", nil); err != nil {
		f.Fatal(err)
	}
	return s
}

// keep stores a key with its secret.
func (s *service) keep(f *testing.F, k *key) {
	stored := petstore.NewKey("model", petstore.Enterprise, petstore.Limits{PerMinute: k.minutely, PerDay: k.daily}, noon, petstore.Forever)
	stored.Owner, stored.ExpiresAt, stored.Access = k.owner, k.expires, petstore.ReadWrite
	if k.reads {
		stored.Access = petstore.ReadOnly
	}
	s.ids[k.secret] = stored.ID
	if err := s.db.CreateKey(f.Context(), stored, petstore.HashSecret(k.secret)); err != nil {
		f.Fatal(err)
	}
}

var beginAnew = []string{
	"BEGIN IMMEDIATE",
	"DELETE FROM pets", "DELETE FROM orders", "DELETE FROM categories", "DELETE FROM category_counter", "DELETE FROM idempotency",
	"DELETE FROM bans", "DELETE FROM sqlite_sequence", "UPDATE inventory SET animals = 0",
	"DELETE FROM keys", "INSERT INTO keys SELECT * FROM first_keys",
	"COMMIT",
}

// reset empties the store and begins at noon.
func (s *service) reset(t *testing.T) {
	t.Helper()
	s.clock.Store(noon.UnixMilli())
	for _, statement := range beginAnew {
		if err := sqlitex.Execute(s.aside, statement, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.db.DeletePet(t.Context(), 1); !petstore.IsCode(err, petstore.NotFound) { // a write, so that the reading connections see the new content
		t.Fatal(err)
	}
	s.restart()
}

// restart does what a new process on the same file does.
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
