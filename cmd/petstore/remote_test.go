package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"petstore/internal/terminal"
	"petstore/internal/testservice"
)

// remoteUser is a person with a key for a server, but without profiles.
type remoteUser struct {
	*testservice.Instance
	env map[string]string
}

func newRemoteUser(t *testing.T) remoteUser {
	t.Helper()
	s := testservice.Serve(t)
	return remoteUser{s, map[string]string{"PETSTORE_SERVER": s.URL, "PETSTORE_API_KEY": s.Key, "XDG_CONFIG_HOME": t.TempDir()}}
}

// does runs a command that must succeed, and returns what it printed.
func (u remoteUser) does(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, status := invokeWith(t, u.env, args...)
	if status != 0 {
		t.Fatalf("petstore %s ended with %d: %s", strings.Join(args, " "), status, stderr)
	}
	return stdout
}

func TestAnimalsAreManagedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	user := newRemoteUser(t)
	for _, step := range []struct{ typed, want string }{
		{"pets list", ""},
		{"pets list --json", "[]\n"},
		{"categories name 5 Dogs", "5\tDogs\n"},
		{"pets add Rex --category 5", "1\tRex\t5\tavailable\n"},
		{"pets create Tom --category dogs --status sold", "2\tTom\t5\tsold\n"},
		{"pets show 2", "2\tTom\t5\tsold\n"},
		{"pets edit 2 --name Kit --status available", "2\tKit\t5\tavailable\n"},
		{"pets edit 2 --category -7", ""},
		{"pets edit 2 --category=-7", "2\tKit\t-7\tavailable\n"},
		{"pets list", "2\tKit\t-7\tavailable\n1\tRex\t5\tavailable\n"},
		{"pets list --limit 1", "2\tKit\t-7\tavailable\n"},
		{"pets list --status sold", ""},
		{"pets show 1 --json", "{\n  \"id\": 1,\n  \"name\": \"Rex\",\n  \"categoryId\": 5,\n  \"status\": \"available\",\n  \"profile\": {\n    \"photos\": []\n  }\n}\n"},
		{"inventory", "available\t2\npending\t0\nsold\t0\n"},
		{"inventory --json", "{\n  \"available\": 2,\n  \"pending\": 0,\n  \"sold\": 0\n}\n"},
		{"pets delete 1 --yes", ""},
		{"pets ls", "2\tKit\t-7\tavailable\n"},
	} {
		got, stderr, _ := invokeWith(t, user.env, strings.Fields(step.typed)...)
		if got != step.want {
			t.Errorf("petstore %s printed %q, want %q\n%s", step.typed, got, step.want, stderr)
		}
	}
}

func TestOrdersAndCategoriesAreManagedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	user := newRemoteUser(t)
	for range 3 {
		user.does(t, "pets", "add", "Rex", "--category", "1")
	}
	type order struct {
		ID, PetID                      int64
		Status, Reference              string
		CreatedAt, ExpiresAt, ClosedAt string
	}
	placed := user.does(t, "orders", "place", "2", "--reference", "shop 7", "--hold", "1d", "--json")
	if fromAPI := user.Ask(t, "GET", "/v1/orders/1", "").Body; testservice.Decode[order](t, placed) != testservice.Decode[order](t, fromAPI) {
		t.Errorf("orders place --json printed\n%s\nthe API says\n%s", placed, fromAPI)
	}
	if row := strings.Split(user.does(t, "orders", "show", "1"), "\t"); len(row) != 7 || !slices.Equal(row[:4], []string{"1", "2", "open", "shop 7"}) {
		t.Errorf("orders show printed %q", row)
	}
	edited := testservice.Decode[order](t, user.does(t, "orders", "edit", "1", "--reference", "", "--hold", "2d", "--json"))
	if before := testservice.Decode[order](t, placed); edited.Reference != "" || edited.ExpiresAt <= before.ExpiresAt || edited.CreatedAt != before.CreatedAt {
		t.Errorf("orders edit changed %+v to %+v", before, edited)
	}
	user.does(t, "orders", "place", "3")
	if got := testservice.Decode[order](t, user.does(t, "orders", "complete", "1", "--json")); got.Status != "completed" || got.ClosedAt == "" {
		t.Errorf("orders complete: %+v", got)
	}
	if got := testservice.Decode[order](t, user.does(t, "orders", "cancel", "2", "--json")); got.Status != "cancelled" {
		t.Errorf("orders cancel: %+v", got)
	}
	for typed, want := range map[string]int{"": 2, "--status completed": 1, "--status open": 0, "--pet 3": 1, "--limit 1": 1} {
		args := append([]string{"orders", "list", "--json"}, strings.Fields(typed)...)
		if got := testservice.Decode[[]order](t, user.does(t, args...)); len(got) != want {
			t.Errorf("orders list %s listed %d, want %d", typed, len(got), want)
		}
	}
	if got := user.does(t, "categories", "add", "Cats"); got != "2\tCats\n" {
		t.Errorf("categories add printed %q", got)
	}
	if got := user.does(t, "categories", "list", "--json"); got != "[\n  {\n    \"id\": 2,\n    \"name\": \"Cats\"\n  }\n]\n" {
		t.Errorf("categories list printed %q", got)
	}
	user.does(t, "categories", "delete", "2")
	if got := user.does(t, "categories", "list"); got != "" {
		t.Errorf("after delete categories list printed %q", got)
	}
}

func TestAListWithoutATerminalHasAllPages(t *testing.T) {
	t.Parallel()
	user := newRemoteUser(t)
	for i := range 205 {
		user.Ask(t, "POST", "/v1/pets", `{"name":"`+strconv.Itoa(i)+`","categoryId":1}`)
	}
	for typed, want := range map[string]int{"": 205, "--all": 205, "--limit 3": 3, "--limit 100": 100, "--limit 150": 150, "--limit 999": 205} {
		if got := user.does(t, append([]string{"pets", "list"}, strings.Fields(typed)...)...); strings.Count(got, "\n") != want {
			t.Errorf("pets list %s printed %d lines, want %d", typed, strings.Count(got, "\n"), want)
		}
		if got := testservice.Decode[[]testservice.Pet](t, user.does(t, append([]string{"pets", "list", "--json"}, strings.Fields(typed)...)...)); len(got) != want {
			t.Errorf("pets list --json %s has %d animals, want %d", typed, len(got), want)
		}
	}
}

func TestTheNameOfAnAnimalCannotControlTheTerminal(t *testing.T) {
	t.Parallel()
	user := newRemoteUser(t)
	const hostile = "a\x1b]0;owned\x07\x1b[2J\tb\nc\u009b31m\u202ed\r\x7f"
	printed := user.does(t, "pets", "add", hostile, "--category", "1")
	if want := "1\ta\\x1b]0;owned\\a\\x1b[2J\\tb\\nc\\u009b31m\\u202ed\\r\\x7f\t1\tavailable\n"; printed != want {
		t.Errorf("printed %q, want %q", printed, want)
	}
	object := user.does(t, "pets", "show", "1", "--json")
	if got := testservice.Decode[testservice.Pet](t, object); got.Name != hostile {
		t.Errorf("--json shows the name as %q", got.Name)
	}
	if object != terminal.EscapeJSON(object) {
		t.Errorf("--json prints %q", object)
	}
	if _, stderr, _ := invokeWith(t, user.env, "pets", "add", "x", "--category", "\x1b[2J"); stderr != terminal.Escape(stderr) {
		t.Errorf("an error says %q", stderr)
	}
}

func TestFailedCallsAreExplainedAndHaveTheirExitStatus(t *testing.T) {
	t.Parallel()
	user := newRemoteUser(t)
	user.does(t, "pets", "add", "Rex", "--category", "1")
	user.does(t, "orders", "place", "1")
	nowhere := "http://" + testservice.FreeAddress(t)
	for _, c := range []struct {
		typed, variable, value string
		status                 int
		says                   []string
	}{
		{"pets show 9", "", "", 1, []string{"There is no animal with the id 9.", "(404 not_found, request "}},
		{"orders place 1", "", "", 1, []string{"(409 pet_unavailable, request "}},
		{"pets delete 1 --yes", "", "", 1, []string{"Order 1", "(409 pet_reserved, request "}},
		{"pets delete 1", "", "", 2, []string{"--yes is missing"}},
		{"pets add Tom --category Fish", "", "", 1, []string{`no category is named "Fish"`, "petstore categories list"}},
		{"pets list --category Fish", "", "", 1, []string{`no category is named "Fish"`, "petstore categories list"}},
		{"pets list", "PETSTORE_API_KEY", "wrong", 4, []string{"(401 unauthorized, request "}},
		{"pets list", "PETSTORE_API_KEY", "", 4, []string{"there is no key for " + user.URL, "petstore login"}},
		{"pets list --profile moon", "", "", 4, []string{"there is no profile moon", "run petstore login with the same --profile to create it"}},
		{"pets list", "PETSTORE_PROFILE", "moon", 4, []string{"there is no profile moon", "run petstore login with the same PETSTORE_PROFILE to create it"}},
		{"pets list", "PETSTORE_SERVER", nowhere, 1, []string{"no server answers at " + nowhere + ": connection refused;", "choose another with PETSTORE_SERVER"}},
		{"pets list", "PETSTORE_SERVER", strings.Replace(user.URL, "http:", "https:", 1), 1, []string{"the program at https:", "check PETSTORE_SERVER"}},
		{"pets list", "PETSTORE_SERVER", "nowhere", 2, []string{`PETSTORE_SERVER is "nowhere"`}},
	} {
		env := map[string]string{"PETSTORE_SERVER": user.URL, "PETSTORE_API_KEY": user.Key, "XDG_CONFIG_HOME": filepath.Join(t.TempDir(), "none")}
		if c.variable != "" {
			env[c.variable] = c.value
		}
		stdout, stderr, status := invokeWith(t, env, strings.Fields(c.typed)...)
		if status != c.status || stdout != "" || strings.Contains(stderr, "\n") {
			t.Errorf("petstore %s ended with %d, want %d, and said %q %q", c.typed, status, c.status, stdout, stderr)
		}
		for _, part := range c.says {
			if !strings.Contains(stderr, part) {
				t.Errorf("petstore %s said %q, which lacks %q", c.typed, stderr, part)
			}
		}
	}
}

func TestAChangeWhoseResultCannotBeShownIsReportedAsMade(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		testservice.Missing(t, "/dev/full", "run the tests on Linux")
	}
	defer full.Close()
	command := testservice.Command(t, "pets", "add", "Rex", "--category", "1")
	command.Env = append(command.Env, "PETSTORE_SERVER="+s.URL, "PETSTORE_API_KEY="+s.Key)
	var said strings.Builder
	command.Stdout, command.Stderr = full, &said
	command.Run()
	if command.ProcessState.ExitCode() != 1 || !strings.Contains(said.String(), "the change was made, so do not repeat the command, but the result could not be shown") {
		t.Errorf("%v %s", command.ProcessState, said.String())
	}
	if pets := s.EveryPet(t); len(pets) != 1 {
		t.Errorf("there are %d animals", len(pets))
	}
}
