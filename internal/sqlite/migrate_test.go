package sqlite

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
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
	more := fstest.MapFS{"migrations/9999_next.sql": {Data: []byte("CREATE TABLE next_version (id INTEGER) STRICT")}}
	for _, name := range files {
		sql, err := fs.ReadFile(embedded, name)
		noError(t, err)
		more[name] = &fstest.MapFile{Data: sql}
	}
	migrations = more
	t.Cleanup(func() { migrations = embedded })
}

// schemaOf reads the schema version of a database file.
func schemaOf(t *testing.T, path string) (schema int) {
	t.Helper()
	conn, err := sqlite3.OpenConn(path, sqlite3.OpenReadOnly)
	noError(t, err)
	defer conn.Close()
	schema, err = checkSchema(conn, path)
	noError(t, err)
	return schema
}

func TestAnOlderSchemaIsRefusedUnlessItMayBeMigrated(t *testing.T) {
	database, _ := newWithBackup(t, 5)
	older := knownSchema(t)
	addMigration(t)
	want := fmt.Sprintf("the database %s has the schema of an older petstore (%d, this one needs %d); stop its server and run petstore migrate, or use the petstore that serves it",
		database, older, older+1)
	for _, cfg := range []Config{{}, {Create: true}, {Create: true, Serve: true}} {
		before := describeFolder(t, filepath.Dir(database))
		cfg.Path, cfg.Environment = database, petstore.Production
		if db, err := Open(t.Context(), cfg); err == nil {
			db.Close()
			t.Errorf("%+v: it was opened", cfg)
		} else if err.Error() != want {
			t.Errorf("%+v:\ngot  %v\nwant %v", cfg, err, want)
		}
		if after := describeFolder(t, filepath.Dir(database)); after != before {
			t.Errorf("%+v changed the folder:\nbefore\n%safter\n%s", cfg, before, after)
		}
	}
	migrated := open(t, Config{Path: database, Migrate: true})
	if n := countPetsIn(t, migrated); n != 5 {
		t.Errorf("%d animals of 5", n)
	}
	if schema := schemaOf(t, database); schema != older+1 {
		t.Errorf("it has schema %d after the migration to %d", schema, older+1)
	}
}

func TestAnEmptyDatabaseGetsTheWholeSchema(t *testing.T) {
	addMigration(t)
	path := filepath.Join(t.TempDir(), "petstore.db")
	open(t, Config{Path: path, Create: true})
	if schema := schemaOf(t, path); schema != knownSchema(t) {
		t.Errorf("it has schema %d of %d", schema, knownSchema(t))
	}
}

func TestABackupAndARestoreKeepAnOlderSchema(t *testing.T) {
	database, _ := newWithBackup(t, 5)
	older := knownSchema(t)
	addMigration(t)
	backup, restored := filepath.Join(t.TempDir(), "backup.db"), filepath.Join(t.TempDir(), "restored.db")
	noError(t, Backup(t.Context(), production(database), backup, noProgress))
	_, err := Restore(t.Context(), production(restored), backup, false, noProgress)
	noError(t, err)
	_, err = Restore(t.Context(), production(database), backup, true, noProgress)
	noError(t, err)
	for _, path := range []string{database, backup, restored} {
		if schema := schemaOf(t, path); schema != older {
			t.Errorf("%s has schema %d, not %d any more", path, schema, older)
		}
	}
	served := open(t, Config{Path: restored, Create: true, Migrate: true, Serve: true})
	if n := countPetsIn(t, served); n != 5 {
		t.Errorf("restored %d animals of 5", n)
	}
}
