package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestTheStoreIsBackedUpWhileItServesAndRestoredWhenItDoesNot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	database, backup := "sqlite:"+filepath.Join(dir, "pets.db"), filepath.Join(dir, "backup.db")
	s := startServer(t, "--database", database)
	s.ask(t, "POST", "/v1/pets", `{"name":"Before","categoryId":1}`)
	if _, stderr, status := invoke(t, "backup", backup, "--database", database); status != 0 {
		t.Fatal(stderr)
	}
	s.ask(t, "POST", "/v1/pets", `{"name":"After","categoryId":1}`)
	if _, stderr, status := invoke(t, "restore", backup, "--replace", "--database", database); status != 1 || !strings.Contains(stderr, "server") {
		t.Errorf("a restore under a running server: %d %s", status, stderr)
	}
	s.stop(t)
	if _, stderr, status := invoke(t, "restore", backup, "--database", database); status != 1 || !strings.Contains(stderr, "--replace") {
		t.Errorf("a restore without being told to replace: %d %s", status, stderr)
	}
	if _, stderr, status := invoke(t, "restore", backup, "--replace", "--database", database); status != 0 || !strings.Contains(stderr, "before-restore") {
		t.Errorf("a restore: %d %s", status, stderr)
	}
	again := startServer(t, "--database", database)
	again.Key = s.Key
	if pets := again.everyPet(t); len(pets) != 1 || pets[0].Name != "Before" {
		t.Errorf("restored: %v", pets)
	}
	if _, stderr, status := invoke(t, "backup", backup, "--database", "postgres://localhost/pets"); status != 2 || !strings.Contains(stderr, "pg_dump") {
		t.Errorf("a backup of PostgreSQL: %d %s", status, stderr)
	}
}

func TestAStoreIsCopiedWithItsKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := "sqlite:"+filepath.Join(dir, "from.db"), "sqlite:"+filepath.Join(dir, "to.db")
	s := startServer(t, "--database", from)
	s.ask(t, "POST", "/v1/pets", `{"name":"Rex","categoryId":1}`)
	for range 2 {
		if _, stderr, status := invoke(t, "copy", "--from", from, "--to", to); status != 0 || !strings.Contains(stderr, "Copied 1 animals") {
			t.Fatalf("copy: %d %s", status, stderr)
		}
	}
	if _, stderr, status := invoke(t, "copy", "--from", to, "--to", from); status != 1 || !strings.Contains(stderr, "server") {
		t.Errorf("a copy into a store that serves: %d %s", status, stderr)
	}
	copied := startServer(t, "--database", to)
	copied.Key = s.Key
	if pets := copied.everyPet(t); len(pets) != 1 || pets[0].Name != "Rex" {
		t.Errorf("copied: %v", pets)
	}
}
