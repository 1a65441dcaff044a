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

// longTimeout is for every test that is not about timeouts: no call takes so long, however busy the machine is.
const longTimeout = time.Minute

func open(t testing.TB, url string) *DB { return openConfig(t, Config{URL: url, Create: true}) }

// openAsShipped opens a database with the timeouts of the product, for tests of outages. If the machine is busy, a call that
// should succeed may be refused.
func openAsShipped(t testing.TB, url string) *DB {
	return openConfig(t, Config{URL: url, Create: true, timeout: callTimeout})
}

// openConfig opens a production database that is closed with the test, with longTimeout unless cfg has another timeout.
func openConfig(t testing.TB, cfg Config) *DB {
	t.Helper()
	cfg.Environment, cfg.timeout = petstore.Production, cmp.Or(cfg.timeout, longTimeout)
	db, err := Open(t.Context(), cfg)
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

// filled has the URLs of databases in which openEmptied has made the tables.
var filled sync.Map

// openEmptied opens a database as if it were new. It makes the tables only once, because that takes longer than most tests:
// it keeps the settings of the new database in a schema beside, and later goes back to them.
func openEmptied(t testing.TB, url string) *DB {
	t.Helper()
	if _, again := filled.LoadOrStore(url, true); again {
		execute(t, url, empty)
		return open(t, url)
	}
	db := open(t, url)
	execute(t, url, "CREATE SCHEMA new; CREATE TABLE new.settings AS TABLE settings")
	return db
}

// empty deletes everything, without triggers that count it.
const empty = `DO $$
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
	END $$`

func TestStorageConforms(t *testing.T) {
	url := testservice.Postgres(t)
	conformance.Storage(t, func(t *testing.T) petstore.Database { return openEmptied(t, url) })
}
