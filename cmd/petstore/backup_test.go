package main

import (
	"path/filepath"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

func TestBackupWorksWhileAServerRunsAndRestoreDoesNot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	database, backup := "sqlite:"+filepath.Join(dir, "pets.db"), filepath.Join(dir, "backup.db")
	s := testservice.Serve(t, "--database", database)
	s.Ask(t, "POST", "/v1/pets", `{"name":"Before","categoryId":1}`)
	mustInvoke(t, "backup", backup, "--database", database)
	s.Ask(t, "POST", "/v1/pets", `{"name":"After","categoryId":1}`)
	if _, stderr, status := invoke(t, "restore", backup, "--replace", "--database", database); status != 1 || !strings.Contains(stderr, "server") {
		t.Errorf("a restore while a server runs: %d %s", status, stderr)
	}
	s.Stop(t)
	if _, stderr, status := invoke(t, "restore", backup, "--database", database); status != 1 || !strings.Contains(stderr, "--replace") {
		t.Errorf("a restore without --replace: %d %s", status, stderr)
	}
	if _, stderr, status := invoke(t, "restore", backup, "--replace", "--database", database); status != 0 || !strings.Contains(stderr, "before-restore") {
		t.Errorf("a restore: %d %s", status, stderr)
	}
	again := testservice.Serve(t, "--database", database)
	again.Key = s.Key
	if out := again.Stdout.String(); out != "" {
		t.Errorf("a later start printed %q", out)
	}
	if pets := again.EveryPet(t); len(pets) != 1 || pets[0].Name != "Before" {
		t.Errorf("restored: %v", pets)
	}
	if _, stderr, status := invoke(t, "backup", backup, "--database", "postgres://localhost/pets"); status != 2 || !strings.Contains(stderr, "pg_dump") {
		t.Errorf("a backup of PostgreSQL: %d %s", status, stderr)
	}
}

func TestCopyCopiesAnimalsAndKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := "sqlite:"+filepath.Join(dir, "from.db"), "sqlite:"+filepath.Join(dir, "to.db")
	s := testservice.Serve(t, "--database", from)
	s.Ask(t, "POST", "/v1/pets", `{"name":"Rex","categoryId":1}`)
	copies := func(status int, says ...string) {
		t.Helper()
		_, stderr, got := invoke(t, "copy", "--from", from, "--to", to)
		for _, text := range says {
			if got != status || !strings.Contains(stderr, text) {
				t.Errorf("copy ended with %d, want %d and %q:\n%s", got, status, text, stderr)
			}
		}
	}
	copies(0, "animals: 1 added, 0 changed, 0 removed", "keys: 1 added, 0 changed")
	mustInvoke(t, "keys", "create", "--name", "made there", "--database", to)
	copies(0, "animals: 0 added, 0 changed, 0 removed", "keys: 0 added, 0 changed, 0 removed, 1 kept that only the target has")
	if _, stderr, status := invoke(t, "copy", "--from", to, "--to", from); status != 1 || !strings.Contains(stderr, "server") {
		t.Errorf("a copy into a database that a server uses: %d %s", status, stderr)
	}
	copied := testservice.Serve(t, "--database", to)
	copied.Key = s.Key
	if pets := copied.EveryPet(t); len(pets) != 1 || pets[0].Name != "Rex" {
		t.Errorf("copied: %v", pets)
	}
	copied.Stop(t)
	copies(1, "a server has served from the database to copy into")
}
