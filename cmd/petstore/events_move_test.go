package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

// events returns the sequences and names that a reader gets after a position, and the status of the answer.
func events(t *testing.T, s *testservice.Instance, after string) (names string, status int) {
	t.Helper()
	path := "/v1/events?types=pet.created"
	if after != "" {
		path += "&after=" + after
	}
	got := s.Ask(t, "GET", path, "")
	if got.Status != http.StatusOK {
		return testservice.Decode[struct{ Code string }](t, got.Body).Code, got.Status
	}
	var found []string
	for _, e := range testservice.Decode[[]struct{ Data struct{ Name string } }](t, got.Body) {
		found = append(found, e.Data.Name)
	}
	return strings.Join(found, " "), got.Status
}

// wantEvents fails the test unless a reader gets the events of these animals after a position.
func wantEvents(t *testing.T, s *testservice.Instance, after, want string) {
	t.Helper()
	if got, status := events(t, s, after); status != http.StatusOK || got != want {
		t.Errorf("after %s a reader gets %d %s, want %s", after, status, got, want)
	}
}

// wantGone fails the test unless a reader is told that its position is gone.
func wantGone(t *testing.T, s *testservice.Instance, after string) {
	t.Helper()
	if got, status := events(t, s, after); status != http.StatusGone || got != "events_gone" {
		t.Errorf("after %s a reader gets %d %s, want 410 events_gone", after, status, got)
	}
}

// adopts adds an animal and returns the position behind its event.
func adopts(t *testing.T, s *testservice.Instance, name string) (position string) {
	t.Helper()
	s.Ask(t, "POST", "/v1/pets", `{"name":"`+name+`","categoryId":1}`)
	all := testservice.Decode[[]struct{ ID string }](t, s.Ask(t, "GET", "/v1/events?types=pet.created", "").Body)
	return all[len(all)-1].ID
}

// hook is what the tests look at in a webhook.
type hook struct {
	ID, Status, Reason, Position string
	Enabled                      bool
	Behind                       int64
}

// hooks creates a webhook that no receiver answers.
func hooks(t *testing.T, s *testservice.Instance) hook {
	t.Helper()
	made := s.Ask(t, "POST", "/v1/webhooks", `{"url":"https://hook.invalid/"}`)
	if made.Status != http.StatusCreated {
		t.Fatalf("createWebhook: %d %s", made.Status, made.Body)
	}
	return testservice.Decode[hook](t, made.Body)
}

func onlyHook(t *testing.T, s *testservice.Instance) hook {
	t.Helper()
	all := testservice.Decode[[]hook](t, s.Ask(t, "GET", "/v1/webhooks", "").Body)
	if len(all) != 1 {
		t.Fatalf("there are the webhooks %+v", all)
	}
	return all[0]
}

// wantDisabled fails the test unless the webhook is disabled and stands at the end of the feed.
func wantDisabled(t *testing.T, s *testservice.Instance) {
	t.Helper()
	if h := onlyHook(t, s); h.Enabled || h.Status != "disabled" || h.Reason != "restored" || h.Behind != 0 {
		t.Errorf("the webhook is %+v", h)
	}
}

// serveAgain starts a server on a database that another server has served before.
func serveAgain(t *testing.T, before *testservice.Instance, database string) *testservice.Instance {
	t.Helper()
	s := testservice.Serve(t, "--database", database)
	s.Key = before.Key
	return s
}

func TestReadersNoticeThatABackupWasRestored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	database, backup := "sqlite:"+filepath.Join(dir, "pets.db"), filepath.Join(dir, "backup.db")
	s := testservice.Serve(t, "--database", database)
	early := adopts(t, s, "Ann")
	hooks(t, s)
	mustInvoke(t, "backup", backup, "--database", database)
	late := adopts(t, s, "Bob")
	wantEvents(t, s, early, "Bob")
	s.Stop(t)
	mustInvoke(t, "restore", backup, "--replace", "--database", database)
	again := serveAgain(t, s, database)
	wantGone(t, again, early)
	wantGone(t, again, late)
	wantDisabled(t, again)
	adopts(t, again, "Cleo")
	wantEvents(t, again, "", "Ann Cleo")
}

func TestReadersGoOnInTheCopyOfADatabase(t *testing.T) {
	t.Parallel()
	from, to := testservice.NewDatabase(t), testservice.Postgres(t)
	s := testservice.Serve(t, "--database", from)
	early := adopts(t, s, "Ann")
	hook := hooks(t, s)
	if _, stderr, status := invoke(t, "copy", "--from", from, "--to", to); status != 0 {
		t.Fatal(stderr)
	}
	late := adopts(t, s, "Bob")
	s.Stop(t)
	if _, stderr, status := invoke(t, "copy", "--from", from, "--to", to); status != 0 {
		t.Fatal(stderr)
	}
	copied := serveAgain(t, s, to)
	if moved := onlyHook(t, copied); moved.ID != hook.ID || !moved.Enabled {
		t.Errorf("the webhook %+v was copied as %+v", hook, moved)
	}
	wantEvents(t, copied, early, "Bob")
	wantEvents(t, copied, late, "")
	adopts(t, copied, "Cleo")
	wantEvents(t, copied, late, "Cleo")
	wantEvents(t, copied, "", "Ann Bob Cleo")
}

func TestReadersNoticeThatTheFeedWasReset(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]string{"sqlite": testservice.NewDatabase(t), "postgres": testservice.Postgres(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := testservice.Serve(t, "--database", database)
			position := adopts(t, s, "Ann")
			hooks(t, s)
			if name == "sqlite" { // other replicas may always use a PostgreSQL database
				if _, stderr, status := invoke(t, "events", "reset", "--database", database); status != 1 || !strings.Contains(stderr, "server") {
					t.Errorf("a reset while a server runs: %d %s", status, stderr)
				}
				wantEvents(t, s, position, "")
				s.Stop(t)
			}
			_, stderr, status := invoke(t, "events", "reset", "--database", database)
			if status != 0 || !strings.Contains(stderr, "The feed of events has a new name.") {
				t.Errorf("the reset ended with %d: %s", status, stderr)
			}
			again := s
			if name == "sqlite" {
				again = serveAgain(t, s, database)
			}
			wantGone(t, again, position)
			wantDisabled(t, again)
			wantEvents(t, again, adopts(t, again, "Bob"), "")
			wantEvents(t, again, "", "Ann Bob")
		})
	}
}

func TestAResetNeedsADatabase(t *testing.T) {
	t.Parallel()
	_, stderr, status := invoke(t, "events", "reset", "--database", testservice.NewDatabase(t))
	if status != 1 || !strings.Contains(stderr, "there is no database") {
		t.Errorf("the reset ended with %d: %s", status, stderr)
	}
}
