package testservice

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Instance is one server process of the program. The server chooses its own ports unless its arguments name them.
type Instance struct {
	// URL is the address of the API, and Admin is the address of the admin listener.
	URL, Admin string
	// Key is the key that the server printed at its first start.
	Key string

	Command *exec.Cmd
	Stdout  Printed
	Stderr  *Transcript
	Ended   chan struct{}
}

// Command prepares a process that runs the program as users have it. The process has its own environment.
func Command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	return prepared(Build(t), args)
}

// CommandRaced is like Command, but with the race detector. It is for tests in which goroutines of one process use the same
// data.
func CommandRaced(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	return prepared(BuildRaced(t), args)
}

func prepared(binary string, args []string) *exec.Cmd {
	command := exec.Command(binary, args...)
	command.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PETSTORE_") })
	return command
}

// Run runs a command of the program. It returns the output and the exit status.
func Run(t testing.TB, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	command := Command(t, args...)
	var out, errs bytes.Buffer
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil && command.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), command.ProcessState.ExitCode()
}

// Serve starts a server on a free port. The server uses a new database unless the arguments name one. The server ends with
// the test.
func Serve(t *testing.T, args ...string) *Instance {
	t.Helper()
	return Launch(t, Command(t, ServeArgs(t, args...)...))
}

// ServeRaced is like Serve, but with the race detector.
func ServeRaced(t *testing.T, args ...string) *Instance {
	t.Helper()
	return Launch(t, CommandRaced(t, ServeArgs(t, args...)...))
}

// ServeArgs returns the arguments of a server on a free port with a new database, unless args name a port or a database.
func ServeArgs(t *testing.T, args ...string) []string {
	full := []string{"serve"}
	for _, standard := range [][2]string{
		{"--listen", "127.0.0.1:0"},
		{"--admin-listen", "off"},
		{"--database", NewDatabase(t)},
	} {
		if !slices.Contains(args, standard[0]) {
			full = append(full, standard[0], standard[1])
		}
	}
	return append(full, args...)
}

// NewDatabase returns the URL of an SQLite file that does not exist yet.
func NewDatabase(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "pets.db") }

// PrintedKey matches an API key in the output of a command.
var PrintedKey = regexp.MustCompile(`pets_(live|test)_[0-9A-Za-z]+`)

// Launch starts a prepared server, and waits until the server is ready.
func Launch(t *testing.T, command *exec.Cmd) *Instance {
	t.Helper()
	s := &Instance{Command: command, Stdout: Printed(filepath.Join(t.TempDir(), "stdout")), Stderr: &Transcript{}, Ended: make(chan struct{})}
	stdout, err := os.Create(string(s.Stdout))
	noError(t, err)
	defer stdout.Close()
	type logLine struct{ Msg, Address, Admin string }
	serving := make(chan logLine, 1)
	logs, logWriter := io.Pipe()
	command.Stdout, command.Stderr = stdout, io.MultiWriter(s.Stderr, logWriter)
	noError(t, command.Start())
	go func() {
		command.Wait()
		logWriter.Close()
		close(s.Ended)
	}()
	go func() {
		defer close(serving)
		lines := bufio.NewScanner(logs)
		for lines.Scan() {
			var line logLine
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
				serving <- line
			}
		}
		io.Copy(io.Discard, logs)
	}()
	t.Cleanup(func() {
		s.Kill()
		if strings.Contains(s.Stderr.String(), "WARNING: DATA RACE") {
			t.Errorf("the server has a data race:\n%s", s.Stderr)
		}
	})
	select {
	case line := <-serving:
		s.URL, s.Admin = line.Address, "http://"+line.Admin
	case <-time.After(time.Minute):
	}
	if s.URL == "" {
		s.Kill()
		t.Fatalf("the server did not start:\n%s%s", s.Stdout, s.Stderr)
	}
	s.Key = PrintedKey.FindString(s.Stdout.String())
	return s
}

// Signal sends a signal to the server.
func (s *Instance) Signal(sig os.Signal) { s.Command.Process.Signal(sig) }

// Stop stops the server as an operator does, and returns its exit status.
func (s *Instance) Stop(t *testing.T) int {
	t.Helper()
	s.Signal(syscall.SIGTERM)
	select {
	case <-s.Ended:
	case <-time.After(time.Minute):
		t.Fatalf("the server does not stop:\n%s", s.Stderr)
	}
	return s.Command.ProcessState.ExitCode()
}

// Kill ends the server abruptly, as a crash does.
func (s *Instance) Kill() {
	s.Command.Process.Kill()
	<-s.Ended
}

// Answer is the answer of a server to one request.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Ask sends one request with the server's key.
func (s *Instance) Ask(t *testing.T, method, path, body string) Answer {
	t.Helper()
	got, err := Request(s.URL, s.Key, method, path, body)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", method, path, err, s.Stderr)
	}
	return got
}

// Client is the HTTP client with which tests call their servers.
var Client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 256}}

// Request sends one request. The headers are a list of names, each followed by its value.
func Request(base, key, method, path, body string, headers ...string) (Answer, error) {
	r, err := http.NewRequestWithContext(context.Background(), method, base+path, strings.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := Client.Do(r)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return Answer{response.StatusCode, response.Header, string(text)}, err
}

// Scrape returns the metrics of a server with an admin listener.
func (s *Instance) Scrape(t *testing.T) string {
	t.Helper()
	got, err := Request(s.Admin, "", "GET", "/metrics", "")
	if err != nil || got.Status != http.StatusOK {
		t.Fatalf("the metrics: %d %v\n%s", got.Status, err, got.Body)
	}
	return got.Body
}

// Pet is an animal as a client reads it.
type Pet struct {
	ID         int64
	Name       string
	CategoryID int64
	Status     string
}

// Key is an API key as the command "petstore keys list --json" shows it.
type Key struct {
	ID, Name, Owner, Plan, Access                            string
	PerMinute, PerDay                                        int64
	CreatedAt, ExpiresAt, RevokedAt, BannedUntil, LastUsedAt time.Time
}

// Decode parses a JSON text.
func Decode[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%q is not JSON: %v", text, err)
	}
	return v
}

// NextLink matches the address of the next page in a Link header.
var NextLink = regexp.MustCompile(`<([^>]+)>; rel="next"`)

// EveryPet returns all animals. It reads all pages of the list.
func (s *Instance) EveryPet(t *testing.T) []Pet {
	t.Helper()
	var all []Pet
	for path := "/v1/pets?limit=100"; path != ""; {
		got := s.Ask(t, "GET", path, "")
		if got.Status != http.StatusOK {
			t.Fatalf("GET %s: %d %s", path, got.Status, got.Body)
		}
		all = append(all, Decode[[]Pet](t, got.Body)...)
		path = ""
		if next := NextLink.FindStringSubmatch(got.Header.Get("Link")); next != nil {
			path = next[1]
		}
	}
	return all
}

// Printed is the name of a file that a process prints to. If a test can see something that the process did, the file has
// everything that the process printed before.
type Printed string

func (p Printed) String() string {
	text, err := os.ReadFile(string(p))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Transcript keeps the output of a process. Tests can read a Transcript while the process prints.
type Transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *Transcript) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *Transcript) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Eventually waits until another process has made a condition true. If that takes too long, the test fails.
func Eventually(t *testing.T, what string, within time.Duration, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %s still not: %s", within, what)
		}
	}
}
