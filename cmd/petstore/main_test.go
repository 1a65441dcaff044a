package main

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

	"petstore/internal/testservice"
)

// invoke runs a command in this process and returns what it printed and the status it would end with.
func invoke(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	return invokeWith(t, nil, args...)
}

func invokeWith(t *testing.T, env map[string]string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	err := run(t.Context(), args, func(name string) string { return env[name] }, &out, &errs)
	if err != nil {
		errs.WriteString(err.Error())
	}
	return out.String(), errs.String(), exitStatus(err)
}

// testServer is a server in a process of its own.
type testServer struct {
	URL string
	// Key is the key that the first start printed.
	Key string

	command *exec.Cmd
	stdout  printed
	stderr  *transcript
	ended   chan struct{}
}

// program prepares a process of the program as users have it, with an environment of its own.
func program(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	return process(testservice.Build(t), args)
}

// raced is program under the race detector. It is for tests in which goroutines of one process meet.
func raced(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	return process(testservice.BuildRaced(t), args)
}

func process(binary string, args []string) *exec.Cmd {
	command := exec.Command(binary, args...)
	command.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PETSTORE_") })
	return command
}

// startServer serves on a free port, and on a fresh store unless the arguments name one. It ends with the test.
func startServer(t *testing.T, args ...string) *testServer {
	t.Helper()
	return launch(t, program(t, serveArgs(t, args)...))
}

// startRaced is startServer under the race detector.
func startRaced(t *testing.T, args ...string) *testServer {
	t.Helper()
	return launch(t, raced(t, serveArgs(t, args)...))
}

func serveArgs(t *testing.T, args []string) []string {
	full := []string{"serve"}
	for _, standard := range [][2]string{
		{"--listen", "127.0.0.1:0"},
		{"--admin-listen", "off"},
		{"--database", "sqlite:" + filepath.Join(t.TempDir(), "pets.db")},
	} {
		if !slices.Contains(args, standard[0]) {
			full = append(full, standard[0], standard[1])
		}
	}
	return append(full, args...)
}

var printedKey = regexp.MustCompile(`pets_(live|test)_[0-9A-Za-z]+`)

// launch starts a prepared server and waits until it serves.
func launch(t *testing.T, command *exec.Cmd) *testServer {
	t.Helper()
	s := &testServer{command: command, stdout: printed(filepath.Join(t.TempDir(), "stdout")), stderr: &transcript{}, ended: make(chan struct{})}
	stdout, err := os.Create(string(s.stdout))
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	serving := make(chan string, 1)
	logs, logWriter := io.Pipe()
	command.Stdout, command.Stderr = stdout, io.MultiWriter(s.stderr, logWriter)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		command.Wait()
		logWriter.Close()
		close(s.ended)
	}()
	go func() {
		defer close(serving)
		lines := bufio.NewScanner(logs)
		for lines.Scan() {
			var line struct{ Msg, Address string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
				serving <- line.Address
			}
		}
		io.Copy(io.Discard, logs)
	}()
	t.Cleanup(func() {
		s.kill()
		if strings.Contains(s.stderr.String(), "WARNING: DATA RACE") {
			t.Errorf("the server has a data race:\n%s", s.stderr)
		}
	})
	select {
	case s.URL = <-serving:
	case <-time.After(time.Minute):
	}
	if s.URL == "" {
		s.kill()
		t.Fatalf("the server did not start:\n%s%s", s.stdout, s.stderr)
	}
	s.Key = printedKey.FindString(s.stdout.String())
	return s
}

func (s *testServer) signal(sig os.Signal) { s.command.Process.Signal(sig) }

// stop stops the server like an operator does, and returns its exit status.
func (s *testServer) stop(t *testing.T) int {
	t.Helper()
	s.signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(time.Minute):
		t.Fatalf("the server does not stop:\n%s", s.stderr)
	}
	return s.command.ProcessState.ExitCode()
}

// kill ends the server like a crash does.
func (s *testServer) kill() {
	s.command.Process.Kill()
	<-s.ended
}

// answer is what a server said.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask sends one request with the server's key.
func (s *testServer) ask(t *testing.T, method, path, body string) answer {
	t.Helper()
	got, err := request(s.URL, s.Key, method, path, body)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", method, path, err, s.stderr)
	}
	return got
}

var client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 256}}

func request(base, key, method, path, body string, headers ...string) (answer, error) {
	r, err := http.NewRequestWithContext(context.Background(), method, base+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, string(text)}, err
}

// pet is an animal as a client reads it.
type pet struct {
	ID         int64
	Name       string
	CategoryID int64
	Status     string
}

func decode[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%q is not JSON: %v", text, err)
	}
	return v
}

var nextLink = regexp.MustCompile(`<([^>]+)>; rel="next"`)

// everyPet walks all pages.
func (s *testServer) everyPet(t *testing.T) []pet {
	t.Helper()
	var all []pet
	for path := "/v1/pets?limit=100"; path != ""; {
		got := s.ask(t, "GET", path, "")
		if got.status != http.StatusOK {
			t.Fatalf("GET %s: %d %s", path, got.status, got.body)
		}
		all = append(all, decode[[]pet](t, got.body)...)
		path = ""
		if next := nextLink.FindStringSubmatch(got.header.Get("Link")); next != nil {
			path = next[1]
		}
	}
	return all
}

// printed is a file that a process writes to. Text that the process printed before another action is in the file when that
// action can be seen.
type printed string

func (p printed) String() string {
	text, err := os.ReadFile(string(p))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// transcript keeps what a process prints while tests read it.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *transcript) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *transcript) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// eventually waits for a condition that another process brings about.
func eventually(t *testing.T, what string, within time.Duration, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %s still not: %s", within, what)
		}
	}
}
