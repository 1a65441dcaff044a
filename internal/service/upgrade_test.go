package service

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

func TestUpgrade(t *testing.T) {
	t.Parallel()
	next := buildNextVersion(t)
	t.Run("commands do not migrate a database that a server uses, on SQLite", func(t *testing.T) {
		t.Parallel()
		database := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
		s := testservice.Serve(t, "--database", database)
		next.leavesAlone(t, s, database)
		next.does(t, 1, "another petstore server", "migrate", "--database", database)
		s.Stop(t)
		next.takesOver(t, database)
	})
	t.Run("commands do not migrate a database that a server uses, on PostgreSQL", func(t *testing.T) {
		t.Parallel()
		database, other := testservice.Postgres(t), "sqlite:"+filepath.Join(t.TempDir(), "other.db")
		next.leavesAlone(t, testservice.Serve(t, "--database", database), database)
		next.does(t, 0, "Created key", "keys", "create", "--name", "shop", "--database", other)
		next.does(t, 1, "petstore migrate", "copy", "--from", other, "--to", database)
		next.takesOver(t, database)
	})
	t.Run("backup and restore keep the schema", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		backup, restored := filepath.Join(folder, "backup.db"), "sqlite:"+filepath.Join(folder, "restored.db")
		database := "sqlite:" + filepath.Join(folder, "pets.db")
		s := testservice.Serve(t, "--database", database)
		s.Ask(t, "POST", "/v1/pets", `{"name":"Rex","categoryId":1}`)
		next.does(t, 0, "Backed up", "backup", backup, "--database", database)
		next.does(t, 0, "Restored", "restore", backup, "--database", restored)
		if _, stderr, status := testservice.Run(t, "keys", "list", "--database", restored); status != 0 {
			t.Errorf("this version cannot use the database that the next one backed up and restored: %d %s", status, stderr)
		}
		upgraded := testservice.Launch(t, next.program(t, testservice.ServeArgs(t, "--database", restored)...))
		upgraded.Key = s.Key
		if pets := upgraded.EveryPet(t); len(pets) != 1 || pets[0].Name != "Rex" {
			t.Errorf("the next version serves %v", pets)
		}
	})
}

// nextVersion is the path of a program with one more migration than this version, like a later release.
type nextVersion string

func buildNextVersion(t *testing.T) nextVersion {
	t.Helper()
	added := make(map[string]string)
	for _, store := range []string{"sqlite", "postgres"} {
		path, err := filepath.Abs(filepath.Join("../../internal", store, "migrations/9999_next.sql"))
		noError(t, err)
		added[path] = "CREATE TABLE next_version (id INTEGER)"
	}
	binary, err := testservice.BuildOverlaid(added)
	noError(t, err)
	return nextVersion(binary)
}

func (v nextVersion) program(t testing.TB, args ...string) *exec.Cmd {
	command := testservice.Command(t, args...)
	command.Path = string(v)
	return command
}

// does fails the test unless a command of the next version exits with the given status and prints the given text.
func (v nextVersion) does(t *testing.T, status int, says string, args ...string) {
	t.Helper()
	command := v.program(t, args...)
	out, _ := command.CombinedOutput()
	if got := command.ProcessState.ExitCode(); got != status || !strings.Contains(string(out), says) {
		t.Errorf("%s of the next version ended with %d, want %d and %q:\n%s", strings.Join(args, " "), got, status, says, out)
	}
}

// leavesAlone fails the test unless the next version refuses the database, and the server of this version keeps using the
// database.
func (v nextVersion) leavesAlone(t *testing.T, s *testservice.Instance, database string) {
	t.Helper()
	v.does(t, 1, "petstore migrate", "keys", "list", "--database", database)
	v.does(t, 1, "petstore migrate", "keys", "create", "--name", "shop", "--database", database)
	v.does(t, 1, "petstore migrate", "copy", "--from", database, "--to", "sqlite:"+filepath.Join(t.TempDir(), "copy.db"))
	if got := s.Ask(t, "POST", "/v1/pets", `{"name":"Rex","categoryId":1}`); got.Status != 201 {
		t.Errorf("the server answers %d %s", got.Status, got.Body)
	}
	if _, stderr, status := testservice.Run(t, "keys", "list", "--database", database); status != 0 {
		t.Errorf("this version's keys list: %d %s", status, stderr)
	}
}

// takesOver fails the test unless the next version migrates the database, and this version then refuses the database.
func (v nextVersion) takesOver(t *testing.T, database string) {
	t.Helper()
	v.does(t, 0, "this version's schema", "migrate", "--database", database)
	v.does(t, 0, "first key", "keys", "list", "--database", database)
	if _, stderr, status := testservice.Run(t, "keys", "list", "--database", database); status != 1 || !strings.Contains(stderr, "newer petstore") {
		t.Errorf("this version's keys list afterwards: %d %s", status, stderr)
	}
}
