package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestADatabaseThatIsDeletedUnderTheServerIsNoticed(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "pets.db")
	s := startServer(t, "--database", "sqlite:"+database)
	create := func() int { return s.ask(t, "POST", "/v1/pets", `{"name":"Rex","categoryId":1}`).status }
	ready := func() int { return s.ask(t, "GET", "/readyz", "").status }
	if status := create(); status != 201 {
		t.Fatalf("a create gets %d", status)
	}
	if err := os.Rename(database, database+".away"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if status := create(); status != 503 {
			t.Errorf("a create without its database gets %d", status)
		}
	}
	eventually(t, "the server is unready", 5*time.Second, func() bool { return ready() == 503 })
	if err := os.Rename(database+".away", database); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server is ready again", 5*time.Second, func() bool { return ready() == 200 })
	if status := create(); status != 201 {
		t.Errorf("a create with its database back gets %d", status)
	}
	eventually(t, "its return is logged", 5*time.Second, func() bool {
		return strings.Contains(s.stderr.String(), "the database is in its place again")
	})
	if n := strings.Count(s.stderr.String(), "the database is lost"); n != 1 {
		t.Errorf("the loss is logged %d times:\n%s", n, s.stderr)
	}
}
