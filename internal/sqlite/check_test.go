package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"petstore/internal/petstore"
)

func TestCheckReturnsTheSchemaAndChangesNothing(t *testing.T) {
	known := knownSchema(t)
	check := func(what, path string, want int) {
		t.Helper()
		before := describeFolder(t, filepath.Dir(path))
		schema, needed, err := Check(t.Context(), production(path))
		if err != nil || schema != want || needed != knownSchema(t) {
			t.Errorf("%s: schema %d of %d, %v; want %d", what, schema, needed, err, want)
		}
		if after := describeFolder(t, filepath.Dir(path)); after != before {
			t.Errorf("%s: the check changed the folder:\nbefore\n%safter\n%s", what, before, after)
		}
	}
	check("a new database", filepath.Join(t.TempDir(), "pets.db"), 0)
	empty := filepath.Join(t.TempDir(), "empty.db")
	noError(t, os.WriteFile(empty, nil, 0o600))
	check("an empty file", empty, 0)

	database := filepath.Join(t.TempDir(), "what? 100%.db")
	server := open(t, Config{Path: database, Create: true, Serve: true})
	fillPets(t, server, 10)
	if schema, _, err := Check(t.Context(), production(database)); err != nil || schema != known {
		t.Errorf("a database that is served: schema %d, %v", schema, err)
	}
	noError(t, server.Close())
	check("a database at rest", database, known)
	link := filepath.Join(t.TempDir(), "link.db")
	noError(t, os.Symlink(database, link))
	check("a link", link, known)
	addMigration(t)
	check("an older database", database, known)
}

func TestCheckRefusesWhatServeRefuses(t *testing.T) {
	database, _ := newWithBackup(t, 5)
	notes := filepath.Join(t.TempDir(), "notes.db")
	noError(t, os.WriteFile(notes, []byte(strings.Repeat("Dear diary. ", 1000)), 0o600))
	walOnly := filepath.Join(t.TempDir(), "pets.db")
	noError(t, os.WriteFile(walOnly+"-wal", []byte("animals"), 0o600))
	for says, cfg := range map[string]Config{
		"belongs to an older database":                              production(walOnly),
		"belongs to the production environment and this is staging": {Path: database, Environment: petstore.Staging},
		"is not a SQLite database":                                  production(notes),
		"does not exist; create it":                                 production(filepath.Join(t.TempDir(), "none", "pets.db")),
		"is a folder":                                               production(t.TempDir()),
	} {
		if _, _, err := Check(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want an error that contains %q", err, says)
		}
	}
}

func TestCheckReadsTheWALOfAKilledServer(t *testing.T) {
	source := filepath.Join(t.TempDir(), "pets.db")
	server := open(t, Config{Path: source, Create: true, Serve: true})
	fillPets(t, server, 10)
	killed := filepath.Join(t.TempDir(), "pets.db")
	for _, suffix := range []string{"", "-wal"} { // only the WAL has the schema so far
		content, err := os.ReadFile(source + suffix)
		noError(t, err)
		noError(t, os.WriteFile(killed+suffix, content, 0o600))
	}
	if schema, known, err := Check(t.Context(), production(killed)); err != nil || schema != known {
		t.Errorf("schema %d of %d, %v", schema, known, err)
	}
	if n := countPets(t, killed); n != 10 {
		t.Errorf("after the check there are %d animals of 10", n)
	}
}
