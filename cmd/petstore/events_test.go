package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"petstore/client/webhook"
	"petstore/internal/testservice"
)

func TestEventsAreListedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	user := newRemoteUser(t)
	user.does(t, "pets", "add", "Rex & <co>", "--category", "1")
	user.does(t, "pets", "edit", "1", "--status", "sold")
	user.does(t, "pets", "edit", "1", "--breed", "Pug")
	user.does(t, "pets", "edit", "1", "--breed", "Beagle")
	user.does(t, "pets", "edit", "1", "--status", "available")
	user.does(t, "orders", "place", "1")
	user.does(t, "categories", "name", "7", "Dogs")

	type event struct {
		ID, Type string
		Sequence int64
	}
	events := testservice.Decode[[]event](t, user.does(t, "events", "--json"))
	var rows []string
	for line := range strings.Lines(user.does(t, "events")) {
		values := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if values[0] != events[len(rows)].ID || len(values) != 6 {
			t.Errorf("event %d is shown as %q", len(rows)+1, line)
		}
		rows = append(rows, strings.Join(values[2:], "|"))
	}
	if got, want := strings.Join(rows, "\n"), strings.Join([]string{
		"pet.created|1|Rex & <co>, available|",
		"pet.updated|1|Rex & <co>, sold|status available",
		"profile.updated|1||",
		"profile.updated|1||breed Pug",
		"pet.updated|1|Rex & <co>, available|status sold",
		"order.placed|1|pet 1, open|",
		"pet.updated|1|Rex & <co>, pending|status available",
		"category.created|7|Dogs|",
	}, "\n"); got != want {
		t.Errorf("petstore events shows\n%s\nwant\n%s", got, want)
	}
	for want, args := range map[string][]string{
		"order.placed":                    {"--types", "order.*"},
		"pet.created pet.updated":         {"--limit", "2"},
		"pet.updated category.created":    {"--after", events[5].ID},
		"":                                {"--after", "now"},
		"profile.updated profile.updated": {"--pet", "1", "--types", "profile.updated,category.*"},
		"pet.created pet.updated profile.updated":   {"--follow", "--limit", "3", "--after", "oldest"},
		"order.placed pet.updated category.created": {"-f", "--limit", "3", "--after", events[4].ID},
	} {
		var types []string
		for line := range strings.Lines(user.does(t, append([]string{"events"}, args...)...)) {
			types = append(types, strings.Split(line, "\t")[2])
		}
		if got := strings.Join(types, " "); got != want {
			t.Errorf("petstore events %q shows %s, want %s", args, got, want)
		}
	}
	sent := testservice.Decode[[]json.RawMessage](t, user.Ask(t, "GET", "/v1/events", "").Body)
	followed := strings.Split(strings.TrimSpace(user.does(t, "events", "list", "--follow", "--json", "--after", "oldest", "--limit", "8")), "\n")
	for i := range sent {
		if followed[i] != string(sent[i]) {
			t.Errorf("--follow --json prints\n%s\nthe API sends\n%s", followed[i], sent[i])
		}
	}
	if _, stderr, status := invokeWith(t, user.env, "events", "--types", "pet"); status != 1 || !strings.Contains(stderr, "400 invalid_parameter") {
		t.Errorf("--types pet ended with %d: %s", status, stderr)
	}
}

// restartable is a server that keeps its address and its key.
type restartable struct {
	*testservice.Server
	env []string // of commands that call the server
}

func newRestartable(t *testing.T) restartable {
	t.Helper()
	const key = "a-key-for-the-tests-of-restarts"
	s := testservice.NewServer(t, testservice.Build(t), "--database", "sqlite:"+filepath.Join(t.TempDir(), "pets.db"))
	s.Set("PETSTORE_API_KEY=" + key)
	s.Start(t)
	return restartable{s, []string{"PETSTORE_SERVER=" + s.URL, "PETSTORE_API_KEY=" + key, "XDG_CONFIG_HOME=" + t.TempDir()}}
}

// adds adds an animal.
func (s restartable) adds(t *testing.T, name string) {
	t.Helper()
	command := testservice.Command(t, "pets", "add", name, "--category", "1")
	command.Env = append(command.Env, s.env...)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// background is a command that runs until the test ends it.
type background struct {
	command *exec.Cmd
	stdout  *bufio.Reader
	stderr  *testservice.Transcript
}

func (s restartable) starts(t *testing.T, args ...string) *background {
	t.Helper()
	b := &background{command: testservice.Command(t, args...), stderr: &testservice.Transcript{}}
	b.command.Env = append(b.command.Env, s.env...)
	b.command.Stderr = b.stderr
	stdout, err := b.command.StdoutPipe()
	noError(t, err)
	b.stdout = bufio.NewReader(stdout)
	noError(t, b.command.Start())
	t.Cleanup(func() { b.command.Process.Kill() })
	return b
}

// prints returns the next line of the command.
func (b *background) prints(t *testing.T) string {
	t.Helper()
	line, err := b.stdout.ReadString('\n')
	if err != nil {
		t.Fatalf("the command printed %q and ended with %v\n%s", line, err, b.stderr)
	}
	return line
}

func (b *background) says(t *testing.T, text string) {
	t.Helper()
	testservice.Eventually(t, "the command says "+text, time.Minute, func() bool { return strings.Contains(b.stderr.String(), text) })
}

// stops sends the command what Ctrl-C sends, and checks that it ends as if it were done.
func (b *background) stops(t *testing.T) {
	t.Helper()
	noError(t, b.command.Process.Signal(os.Interrupt))
	rest, _ := io.ReadAll(b.stdout)
	if err := b.command.Wait(); err != nil || len(rest) > 0 {
		t.Errorf("Ctrl-C ended the command with %v, after %q\n%s", err, rest, b.stderr)
	}
}

func TestEventsAreFollowedAcrossARestart(t *testing.T) {
	t.Parallel()
	s := newRestartable(t)
	s.adds(t, "Ann")
	follow := s.starts(t, "events", "--follow", "--after", "oldest")
	wantName := func(name string) {
		t.Helper()
		if line := follow.prints(t); !strings.Contains(line, "\tpet.created\t") || !strings.Contains(line, "\t"+name+", available\t") {
			t.Errorf("the event of %s is shown as %q", name, line)
		}
	}
	wantName("Ann")
	s.adds(t, "Bob")
	wantName("Bob")
	s.Stop(t)
	follow.says(t, "The connection is lost: the service ended the stream of events. Trying again in ")
	s.Start(t)
	s.adds(t, "Cleo")
	wantName("Cleo")
	follow.says(t, "The connection is back. The events go on where they stopped.\n")
	if said := follow.stderr.String(); strings.Count(said, "\n") != 2 {
		t.Errorf("the command said\n%s", said)
	}
	follow.stops(t)
}

func TestListenForwardsSignedEvents(t *testing.T) {
	t.Parallel()
	s := newRestartable(t)
	const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	bodies := make(chan string, 10)
	answer := http.StatusOK
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := webhook.Read(r, secret)
		if err != nil || r.Method != http.MethodPost || r.URL.String() != "/hook?shop=7" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("the receiver got %s %s %v: %v", r.Method, r.URL, r.Header, err)
		}
		bodies <- string(body)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(answer)
	}))
	t.Cleanup(receiver.Close)
	listen := s.starts(t, "listen", "--forward-to", receiver.URL+"/hook?shop=7", "--secret", secret, "--types", "pet.*")
	listen.says(t, "Ready. Events are forwarded to "+receiver.URL+"/hook?shop=7.\n")
	wantForwarded := func(status string) {
		t.Helper()
		values := strings.Split(listen.prints(t), "\t")
		if len(values) != 4 || values[1] != "pet.created" || values[2] != status || !strings.HasSuffix(values[3], " ms\n") {
			t.Errorf("the event is shown as %q, want %s", values, status)
		}
	}
	s.adds(t, "Ann & <Bo>")
	wantForwarded("200 OK")
	answer = http.StatusFound
	s.Kill(t)
	listen.says(t, "The connection is lost: ")
	s.Start(t)
	s.adds(t, "Cleo")
	wantForwarded("302 Found")
	listen.says(t, "The connection is back.")
	receiver.Close()
	s.adds(t, "Dan")
	wantForwarded("connection refused")
	listen.stops(t)

	close(bodies)
	var got []string
	for body := range bodies {
		got = append(got, body)
	}
	command := testservice.Command(t, "api", "GET", "/events")
	command.Env = append(command.Env, s.env...)
	sent, err := command.Output()
	noError(t, err)
	if want := testservice.Decode[[]json.RawMessage](t, string(sent)); len(got) != 2 || got[0] != string(want[0]) || got[1] != string(want[1]) {
		t.Errorf("the receiver got\n%s\nthe feed has\n%s", strings.Join(got, "\n"), sent)
	}
}

func TestListenMakesASecretAndPrintsIt(t *testing.T) {
	t.Parallel()
	s := newRestartable(t)
	s.adds(t, "Ann")
	got := make(chan error, 1)
	var listen *background
	started := make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-started
		_, said, _ := strings.Cut(listen.stderr.String(), "The secret that signs the events is ")
		printed, _, _ := strings.Cut(said, "\n")
		_, err := webhook.Read(r, printed)
		got <- err
	}))
	t.Cleanup(receiver.Close)
	listen = s.starts(t, "listen", "--forward-to", receiver.URL, "--after", "oldest")
	close(started)
	noError(t, <-got)
	listen.prints(t)
	listen.stops(t)
}

func TestListenRefusesWhatItCannotUse(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		`--forward-to is "localhost:3000"; it must be an address such as http://localhost:3000/hook`:     {"--forward-to", "localhost:3000"},
		`--forward-to is "http://…@localhost"; it must be an address such as http://localhost:3000/hook`: {"--forward-to", "http://me:hush@localhost"},
		`--secret must be whsec_ and a key in base64, as petstore webhooks create prints it`:             {"--forward-to", "http://localhost", "--secret", "hush"},
	} {
		_, stderr, status := invokeWith(t, map[string]string{"PETSTORE_API_KEY": "k"}, append([]string{"listen"}, args...)...)
		if status != 2 || !strings.HasPrefix(stderr, want) || strings.Contains(stderr, "hush") {
			t.Errorf("petstore listen %q ended with %d: %s", args, status, stderr)
		}
	}
}

// The process of a follower must end at once, whatever it waits for.
func TestFollowingEndsDuringAnOutage(t *testing.T) {
	t.Parallel()
	s := newRestartable(t)
	s.adds(t, "Ann")
	follow := s.starts(t, "events", "--follow", "--after", "oldest")
	follow.prints(t)
	s.Kill(t)
	follow.says(t, "The connection is lost")
	noError(t, follow.command.Process.Signal(syscall.SIGTERM))
	if err := follow.command.Wait(); err != nil {
		t.Errorf("SIGTERM ended the command with %v\n%s", err, follow.stderr)
	}
}
