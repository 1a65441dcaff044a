package sqlite

import (
	"path/filepath"
	"testing"

	"petstore/internal/conformance"
	"petstore/internal/petstore"
)

func TestStorageConforms(t *testing.T) {
	conformance.Storage(t, func(t *testing.T) petstore.Database { return openNew(t) })
}

// openNew opens a new database as a server does, and closes the database at the end of the test.
func openNew(t testing.TB) *DB {
	t.Helper()
	return open(t, Config{Path: filepath.Join(t.TempDir(), "petstore.db"), Create: true, Serve: true})
}

// open opens a database of the production environment, and closes the database at the end of the test.
func open(t testing.TB, cfg Config) *DB {
	t.Helper()
	cfg.Environment = petstore.Production
	db, err := Open(t.Context(), cfg)
	noError(t, err)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}
