package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"petstore/internal/conformance"
	"petstore/internal/petstore"
)

// copyVersionOne copies a store that the first version of the program wrote, and returns the path of the copy.
func copyVersionOne(t testing.TB) (path string) {
	t.Helper()
	content, err := os.ReadFile("testdata/version1.db")
	noError(t, err)
	path = filepath.Join(t.TempDir(), "petstore.db")
	noError(t, os.WriteFile(path, content, 0o600))
	return path
}

func TestAStoreOfTheFirstVersionIsMigrated(t *testing.T) {
	migrated := func(t *testing.T) petstore.Database {
		return open(t, Config{Path: copyVersionOne(t), Migrate: true, Serve: true})
	}
	conformance.VersionOne(t, migrated, func(t *testing.T) petstore.Database { return openNew(t) })
}

func TestAStoreOfTheFirstVersionThatWasBackedUpIsMigratedToo(t *testing.T) {
	backup, database := filepath.Join(t.TempDir(), "backup.db"), filepath.Join(t.TempDir(), "petstore.db")
	noError(t, Backup(t.Context(), production(copyVersionOne(t)), backup, noProgress))
	_, err := Restore(t.Context(), production(database), backup, false, noProgress)
	noError(t, err)
	db := open(t, Config{Path: database, Migrate: true, Serve: true})
	again := filepath.Join(t.TempDir(), "again.db")
	noError(t, Backup(t.Context(), production(database), again, noProgress))
	for _, got := range []*DB{db, open(t, Config{Path: again})} {
		inventory, err := got.Inventory(t.Context())
		noError(t, err)
		if want := (petstore.Inventory{Available: 3, Pending: 1, Sold: 1}); inventory != want {
			t.Errorf("the inventory is %+v, want %+v", inventory, want)
		}
	}
	checkIntegrity(t, db)
}

// BenchmarkMigration migrates a store of the first version with a million animals. Run it with -benchtime 1x.
func BenchmarkMigration(b *testing.B) {
	filled := copyVersionOne(b)
	conn, err := sqlite3.OpenConn(filled, sqlite3.OpenReadWrite)
	noError(b, err)
	noError(b, sqlitex.ExecuteScript(conn, `
		INSERT INTO pets (name, category_id, status)
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
		SELECT 'Pet number ' || i, i % 40 + 1, i % 3 + 1 FROM n;
		INSERT INTO idempotency SELECT 'owner', id, zeroblob(32), id, id FROM pets WHERE id <= 100000`, nil))
	noError(b, conn.Close())
	content, err := os.ReadFile(filled)
	noError(b, err)
	for b.Loop() {
		b.StopTimer()
		noError(b, os.WriteFile(filled, content, 0o600))
		b.StartTimer()
		open(b, Config{Path: filled, Migrate: true}).Close()
	}
}
