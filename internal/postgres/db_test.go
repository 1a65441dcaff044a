package postgres

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"petstore/internal/conformance"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

var rex = petstore.NewPet{Name: "Rex", CategoryID: 7, Status: petstore.Available}

func open(t testing.TB, url string) *DB {
	t.Helper()
	db, err := Open(t.Context(), Config{URL: url, Environment: petstore.Production, Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// execute runs a statement that the package itself never runs.
func execute(t testing.TB, url, sql string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatal(err)
	}
}

// hold begins a transaction on a connection of its own, with the locks that sql takes, and ends it with the test.
func hold(t testing.TB, url, sql string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err == nil {
		t.Cleanup(func() { conn.Close(context.Background()) })
		_, err = conn.Exec(t.Context(), "BEGIN; "+sql)
	}
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// openEmptied opens a database that it has emptied, which is ten times as fast as to make a new one.
func openEmptied(t testing.TB, url string) *DB {
	t.Helper()
	execute(t, url, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
	return open(t, url)
}

func TestStorageConforms(t *testing.T) {
	url := testservice.Postgres(t)
	conformance.Storage(t, func(t *testing.T) petstore.Storage { return openEmptied(t, url) })
}
