package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

func TestMigrateMakesNoDatabase(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "typo.db")
	_, stderr, status := invoke(t, "migrate", "--database", "sqlite:"+file)
	if status != 1 || !strings.Contains(stderr, "there is no database "+file) {
		t.Errorf("it ended with %d and said %s", status, stderr)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("it made the file")
	}
}

func TestMigrateSaysWhatItDid(t *testing.T) {
	t.Parallel()
	database := testservice.Postgres(t)
	for _, says := range []string{"The database was empty; now it has this version's schema.\n", "The database already has this version's schema.\n"} {
		if _, stderr, status := invoke(t, "migrate", "--database", database); status != 0 || stderr != says {
			t.Errorf("it ended with %d and said %q, want %q", status, stderr, says)
		}
	}
}
