package postgres

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// knownSchema returns the schema version that this program needs.
func knownSchema(t testing.TB) int {
	t.Helper()
	files, err := fs.ReadDir(migrations, "migrations")
	noError(t, err)
	return len(files)
}

// addMigration adds a migration, so that this program needs a newer schema. The migration is removed at the end of the
// test.
func addMigration(t *testing.T) {
	t.Helper()
	files, err := fs.Glob(embedded, "migrations/*.sql")
	noError(t, err)
	more := fstest.MapFS{"migrations/9999_next.sql": {Data: []byte("CREATE TABLE next_version (id integer)")}}
	for _, name := range files {
		sql, err := fs.ReadFile(embedded, name)
		noError(t, err)
		more[name] = &fstest.MapFile{Data: sql}
	}
	migrations = more
	t.Cleanup(func() { migrations = embedded })
}

func TestADatabaseIsFilledAndMigratedOnlyOnRequest(t *testing.T) {
	database := testservice.Postgres(t)
	refused := func(says string, cfg Config) {
		t.Helper()
		cfg.URL, cfg.Environment, cfg.timeout = database, petstore.Production, longTimeout
		db, err := Open(t.Context(), cfg)
		if err == nil {
			db.Close()
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want an error that contains %q", err, says)
		}
	}
	accepted := func(cfg Config) *DB {
		t.Helper()
		cfg.URL = database
		return openConfig(t, cfg)
	}
	refused("is empty; petstore serve fills it", Config{})
	older := accepted(Config{Create: true})
	accepted(Config{})

	schema := knownSchema(t)
	addMigration(t)
	says := fmt.Sprintf("has the schema of an older petstore (%d, this one needs %d); run petstore migrate", schema, schema+1)
	refused(says, Config{})
	refused(says, Config{Create: true})
	if _, _, err := older.CreatePet(t.Context(), rex, nil); err != nil {
		t.Errorf("the program with the older schema: %v", err)
	}
	accepted(Config{Create: true, Migrate: true})
	accepted(Config{})
}

func TestCheckReturnsTheSchemaAndChangesNothing(t *testing.T) {
	database := testservice.Postgres(t)
	check := func(what string, env petstore.Environment, want int, says string) {
		t.Helper()
		schema, known, err := Check(t.Context(), Config{URL: database, Environment: env, timeout: longTimeout})
		switch {
		case says == "" && (err != nil || schema != want || known != knownSchema(t)):
			t.Errorf("%s: schema %d of %d, %v; want %d", what, schema, known, err, want)
		case says != "" && (err == nil || !strings.Contains(err.Error(), says)):
			t.Errorf("%s: got %v, want an error that contains %q", what, err, says)
		}
	}
	check("an empty database", petstore.Production, 0, "")
	check("a database that was checked", petstore.Production, 0, "")
	open(t, database).Close()
	known := knownSchema(t)
	check("a filled database", petstore.Production, known, "")
	check("a database of the other environment", petstore.Staging, 0, "belongs to the production environment")
	addMigration(t)
	check("an older database", petstore.Production, known, "")
	check("an older database that was checked", petstore.Production, known, "")
	execute(t, database, "UPDATE settings SET value = '999' WHERE name = 'schema'")
	check("a newer database", petstore.Production, 0, "was written by a newer petstore")
}

func TestCheckRefusesAUserWithoutTheNeededRights(t *testing.T) {
	database := testservice.Postgres(t)
	weak, err := url.Parse(database)
	noError(t, err)
	name := "weak_" + strings.ToLower(rand.Text())
	weak.User = url.User(name)
	execute(t, database, "CREATE ROLE "+name+" LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC")
	t.Cleanup(func() { execute(t, database, "DROP OWNED BY "+name+"; DROP ROLE "+name) })
	check := func(says string) {
		t.Helper()
		_, _, err := Check(t.Context(), Config{URL: weak.String(), Environment: petstore.Production, timeout: longTimeout})
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("got %v, want an error that contains %q", err, says)
		}
	}
	check("does not let this user create tables; grant this user CREATE on its schema")
	open(t, database)
	check("lacks a right in")
	execute(t, database, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO "+name)
	check("does not let this user read and write " + strings.Join(tables, ", ") + ";")
	execute(t, database, "GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "+name)
	check("does not let this user give out ids; grant this user SELECT, UPDATE and USAGE on all sequences")
	execute(t, database, "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO "+name)
	check("")
	db := open(t, weak.String())
	mustCreate(t, db)
	copyCounters := func() error {
		_, err := db.Counters(t.Context())
		return cmp.Or(err, db.RaiseCounters(t.Context(), petstore.Counters{Pet: 7}))
	}
	if err := copyCounters(); err == nil || !strings.Contains(err.Error(), "grant this user SELECT, UPDATE and USAGE on all sequences") {
		t.Errorf("without these rights: %v", err)
	}
	execute(t, database, "GRANT SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA public TO "+name)
	if err := copyCounters(); err != nil {
		t.Errorf("with these rights: %v", err)
	}
	execute(t, database, "REVOKE INSERT ON pets FROM "+name)
	check("does not let this user read and write pets;")
}

func TestCheckCoversEveryTableAndSequence(t *testing.T) {
	db := open(t, testservice.Postgres(t))
	sequences := append([]string{"inventory_id_seq", "marked_blocks_id_seq", "usage_added_id_seq", "event_slips_id_seq"}, sequences...) // only their tables use them, which takes no right
	for kind, listed := range map[string][]string{"r": tables, "S": sequences} {
		var made []string
		err := db.pool.QueryRow(t.Context(), "SELECT array_agg(relname::text ORDER BY relname) FROM pg_class WHERE relkind = $1::char AND relnamespace = 'public'::regnamespace", kind).Scan(&made)
		if want := slices.Sorted(slices.Values(listed)); err != nil || !slices.Equal(made, want) {
			t.Errorf("the migrations create %q, and Check covers %q (%v)", made, want, err)
		}
	}
}
