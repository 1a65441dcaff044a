package postgres

import (
	"path/filepath"
	"testing"

	"petstore/internal/conformance"
	"petstore/internal/petstore"
	"petstore/internal/sqlite"
	"petstore/internal/testservice"
)

// The way out of one machine, and back.
func TestCopy(t *testing.T) {
	here := func(t *testing.T) petstore.Movable { return open(t, testservice.Postgres(t)) }
	file := func(t *testing.T) petstore.Movable {
		db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "pets.db"), Environment: petstore.Production, Create: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	}
	t.Run("from SQLite", func(t *testing.T) { conformance.Copy(t, file, here) })
	t.Run("to SQLite", func(t *testing.T) { conformance.Copy(t, here, file) })
}
