package postgres

import (
	"testing"

	"petstore/internal/conformance"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

func open(t testing.TB, url string) *DB {
	t.Helper()
	db, err := Open(t.Context(), Config{URL: url, Environment: petstore.Production})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestStorage(t *testing.T) {
	conformance.Storage(t, func(t *testing.T) petstore.Storage { return open(t, testservice.Postgres(t)) })
}
