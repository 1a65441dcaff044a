package postgres

import (
	"os"
	"testing"

	"petstore/internal/conformance"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// loadVersionOne makes a database the store that the first version made.
func loadVersionOne(t testing.TB, url string) {
	t.Helper()
	dump, err := os.ReadFile("testdata/version1.sql")
	if err != nil {
		t.Fatal(err)
	}
	execute(t, url, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
	execute(t, url, string(dump))
}

func openMigrated(t testing.TB, url string) *DB {
	t.Helper()
	db, err := Open(t.Context(), Config{URL: url, Environment: petstore.Production, Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestAStoreOfTheFirstVersionIsMigrated(t *testing.T) {
	here, there := testservice.Postgres(t), testservice.Postgres(t)
	conformance.VersionOne(t,
		func(t *testing.T) petstore.Movable { loadVersionOne(t, here); return openMigrated(t, here) },
		func(t *testing.T) petstore.Movable { return openEmptied(t, there) })
}

// BenchmarkMigration brings a million animals of the first version to this one: go test -bench Migration -benchtime 1x.
func BenchmarkMigration(b *testing.B) {
	url := testservice.Postgres(b)
	for b.Loop() {
		b.StopTimer()
		loadVersionOne(b, url)
		execute(b, url, `
			INSERT INTO pets (name, category_id, status)
			SELECT 'Pet number ' || i, i % 40 + 1, i % 3 + 1 FROM generate_series(1, 1000000) i;
			INSERT INTO idempotency SELECT 'owner', id, decode(repeat('00', 32), 'hex'), id, id FROM pets WHERE id <= 100000;
			ANALYZE`)
		b.StartTimer()
		openMigrated(b, url).Close()
	}
}
