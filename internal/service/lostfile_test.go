package service

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"petstore/internal/testservice"
)

func TestAMissingDatabaseFileMakesTheServerUnready(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "pets.db")
	s := testservice.Serve(t, "--database", "sqlite:"+database)
	create := func() int { return s.Ask(t, "POST", "/v1/pets", `{"name":"Rex","categoryId":1}`).Status }
	ready := func() int { return s.Ask(t, "GET", "/readyz", "").Status }
	if status := create(); status != 201 {
		t.Fatalf("a create gets %d", status)
	}
	noError(t, os.Rename(database, database+".away"))
	for range 3 {
		if status := create(); status != 503 {
			t.Errorf("a create without its database gets %d", status)
		}
	}
	testservice.Eventually(t, "the server is unready", 5*time.Second, func() bool { return ready() == 503 })
	noError(t, os.Rename(database+".away", database))
	testservice.Eventually(t, "the server is ready again", 5*time.Second, func() bool { return ready() == 200 })
	if status := create(); status != 201 {
		t.Errorf("a create with its database back gets %d", status)
	}
	testservice.Eventually(t, "the return of the file is logged", 5*time.Second, func() bool {
		return strings.Contains(s.Stderr.String(), "the database file is back")
	})
	if n := strings.Count(s.Stderr.String(), "the database file is missing"); n != 1 {
		t.Errorf("the loss is logged %d times:\n%s", n, s.Stderr)
	}
}
