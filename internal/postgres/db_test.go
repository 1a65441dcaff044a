package postgres

import (
	"cmp"
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"petstore/internal/conformance"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

var rex = petstore.NewPet{Name: "Rex", CategoryID: 7, Status: petstore.Available}

// longTimeout is the timeout in every test that is not about timeouts. Even on a busy machine, no call takes that long.
const longTimeout = time.Minute

func open(t testing.TB, url string) *DB { return openConfig(t, Config{URL: url, Create: true}) }

// openAsShipped opens a database with the product's timeouts, for tests of outages. On a busy machine, the database may
// refuse a call that should succeed.
func openAsShipped(t testing.TB, url string) *DB {
	return openConfig(t, Config{URL: url, Create: true, timeout: callTimeout})
}

// openConfig opens a database of the production environment, and closes the database at the end of the test. Without
// cfg.timeout, openConfig uses longTimeout.
func openConfig(t testing.TB, cfg Config) *DB {
	t.Helper()
	cfg.Environment, cfg.timeout = petstore.Production, cmp.Or(cfg.timeout, longTimeout)
	db, err := Open(t.Context(), cfg)
	noError(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mustCreate creates an available animal.
func mustCreate(t *testing.T, db *DB) petstore.Pet {
	t.Helper()
	pet, _, err := db.CreatePet(t.Context(), rex, nil)
	noError(t, err)
	return pet
}

// execute opens a new connection and executes a statement that the package itself never executes.
func execute(t testing.TB, url, sql string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	noError(t, err)
	defer conn.Close(ctx)
	noError(t, errorOf(conn.Exec(ctx, sql)))
}

// holdLocks opens a new connection and begins a transaction on it. The statement in sql takes locks. The transaction ends
// with the test, unless the caller ends it on the returned connection.
func holdLocks(t testing.TB, url, sql string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err == nil {
		t.Cleanup(func() { conn.Close(context.Background()) })
		_, err = conn.Exec(t.Context(), "BEGIN; "+sql)
	}
	noError(t, err)
	return conn
}

// The map prepared has the URLs of the databases in which openEmptied has created the tables.
var prepared sync.Map

// openEmptied opens a database as if the database were new. Creating the tables takes longer than most tests, so
// openEmptied creates them only once. It saves the initial settings and the empty feed in another schema, and restores them in each later
// call.
func openEmptied(t testing.TB, url string) *DB {
	t.Helper()
	if _, again := prepared.LoadOrStore(url, true); again {
		execute(t, url, deleteEverything)
		return open(t, url)
	}
	db := open(t, url)
	execute(t, url, "CREATE SCHEMA new; CREATE TABLE new.settings AS TABLE settings; CREATE TABLE new.feed AS TABLE feed")
	return db
}

// deleteEverything empties all tables, and restores the initial settings and the empty feed. It disables the triggers that count the animals.
const deleteEverything = `DO $$
	DECLARE
		name text;
	BEGIN
		SET LOCAL session_replication_role = replica;
		FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
			EXECUTE format('DELETE FROM %I', name);
		END LOOP;
		FOR name IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' LOOP
			EXECUTE format('ALTER SEQUENCE %I RESTART', name);
		END LOOP;
		INSERT INTO settings TABLE new.settings;
		INSERT INTO feed TABLE new.feed;
	END $$`

func TestStorageConforms(t *testing.T) {
	url := testservice.Postgres(t)
	conformance.Storage(t, func(t *testing.T) petstore.Database { return serving(t, openEmptied(t, url)) })
}
