package testservice

import (
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Server is a server process of the program, as users run it. A test may stop, pause or kill the server.
type Server struct {
	// URL is the address of the API. Admin is the address of the metrics and profiles.
	URL, Admin string

	binary  string
	dir     string
	args    []string
	env     []string
	process *process
}

// Build builds the program once for all tests of this process, and returns the path of the binary.
func Build(t testing.TB) string { return builtPath(t, plain) }

// BuildRaced is like Build, but with the race detector. PETSTORE_TEST_RACE may hold other build flags to use instead of
// -race, separated by spaces.
func BuildRaced(t testing.TB) string { return builtPath(t, raced) }

var (
	plain = buildOnce("petstore")
	raced = buildOnce("petstore-raced", strings.Fields(cmp.Or(os.Getenv("PETSTORE_TEST_RACE"), "-race"))...)
)

func builtPath(t testing.TB, program func() (string, error)) string {
	t.Helper()
	path, err := program()
	noError(t, err)
	return path
}

// buildOnce returns a function that builds the program at its first call.
func buildOnce(name string, flags ...string) func() (path string, err error) {
	return sync.OnceValues(func() (string, error) {
		dir, err := scratch()
		if err != nil {
			return "", err
		}
		path := filepath.Join(dir, name)
		return path, build(path, flags...)
	})
}

// packageDir is the folder of the test's package. The variable is set when the process starts, because a test may change
// its working directory.
var packageDir, _ = os.Getwd()

// build writes the program to path. It uses go run because, unlike go build, go run caches the linked binary.
func build(path string, flags ...string) error {
	command := exec.Command("go", slices.Concat([]string{"run", "-ldflags=-s -w", "-exec=cp"}, flags, []string{"petstore/cmd/petstore", path})...)
	command.Dir = packageDir
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("petstore cannot be built: %w\n%s", err, out)
	}
	return nil
}

// BuildOverlaid builds the program with changed source files. The map files has the new content of each file, by absolute
// path. A file that does not exist is added.
func BuildOverlaid(files map[string]string) (path string, err error) {
	parent, err := scratch()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(parent, "overlaid-")
	if err != nil {
		return "", err
	}
	overlay := struct{ Replace map[string]string }{make(map[string]string)}
	for name, text := range files {
		replacement := filepath.Join(dir, fmt.Sprintf("%d-%s", len(overlay.Replace), filepath.Base(name)))
		overlay.Replace[name] = replacement
		err = errors.Join(err, os.WriteFile(replacement, []byte(text), 0o600))
	}
	text, failed := json.Marshal(overlay)
	list := filepath.Join(dir, "overlay.json")
	if err := errors.Join(err, failed, os.WriteFile(list, text, 0o600)); err != nil {
		return "", err
	}
	path = filepath.Join(dir, "petstore")
	return path, build(path, "-overlay", list)
}

// NewServer prepares a server that runs the given binary. The server has its own ports, which stay the same each time it
// starts. The arguments are those of "petstore serve". If --tls-cert is among them, the URL begins with https.
func NewServer(t testing.TB, binary string, args ...string) *Server {
	t.Helper()
	listen, admin := FreeAddress(t), FreeAddress(t)
	scheme := "http://"
	if slices.Contains(args, "--tls-cert") {
		scheme = "https://"
	}
	s := &Server{URL: scheme + listen, Admin: "http://" + admin, binary: binary, dir: folder(t, "server")}
	s.args = append([]string{"serve", "--listen", listen, "--admin-listen", admin}, args...)
	s.env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PETSTORE_") })
	t.Cleanup(func() { s.discard(t) })
	return s
}

// Set sets variables in the server's environment, such as "GOGC=50". They take effect at the next start.
func (s *Server) Set(variables ...string) { s.env = append(s.env, variables...) }

// Start starts the server, also after it has ended. It returns when the server is ready.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	if err := s.TryStart(); err != nil {
		t.Fatalf("petstore does not start: %v", err)
	}
}

// TryStart is like Start, but returns an error if the server cannot start.
func (s *Server) TryStart() error {
	cmd := exec.Command(s.binary, s.args...)
	cmd.Env = s.env
	p, err := start(cmd, s.dir)
	if err != nil {
		return err
	}
	s.process = p
	return p.wait(s.ready)
}

// The HTTP client trusting accepts any certificate, because it calls only the test's own server.
var trusting = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}

func (s *Server) ready() error { return ready(s.URL) }

// ready returns an error if the server or the balancer at url is not ready.
func ready(url string) error {
	answer, err := trusting.Get(url + "/readyz")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("/readyz answers %d", answer.StatusCode)
	}
	return nil
}

// Stop ends the server as an operator does.
func (s *Server) Stop(t testing.TB) { s.end(t, syscall.SIGTERM) }

// Kill ends the server abruptly, as a crash does.
func (s *Server) Kill(t testing.TB) { s.end(t, syscall.SIGKILL) }

func (s *Server) end(t testing.TB, sig os.Signal) {
	t.Helper()
	noError(t, s.process.end(sig))
}

// Pause makes the server hang: the operating system still accepts connections and bytes, but the server does not answer.
func (s *Server) Pause(t testing.TB) { s.signal(t, suspend) }

// Resume ends the effect of Pause.
func (s *Server) Resume(t testing.TB) { s.signal(t, resume) }

func (s *Server) signal(t testing.TB, sig os.Signal) {
	t.Helper()
	if err := s.process.Signal(sig); err != nil {
		t.Fatalf("signal %v to petstore: %v", sig, err)
	}
}

// PID returns the id of the running process.
func (s *Server) PID() int { return s.process.Pid }

// Log returns everything that the server has logged since its first start.
func (s *Server) Log(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "log"))
	noError(t, err)
	return string(text)
}

func (s *Server) discard(t testing.TB) {
	if s.process != nil {
		if err := s.process.end(syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	os.RemoveAll(s.dir)
}

// NewKey runs the program to create a key in a database, and returns the key's secret. The arguments are those of "petstore
// keys create".
func NewKey(t testing.TB, binary, database string, args ...string) string {
	t.Helper()
	out, err := exec.Command(binary, append([]string{"keys", "create", "--name", "test", "--database", database}, args...)...).CombinedOutput()
	found := PrintedKey.FindString(string(out))
	if err != nil || found == "" {
		t.Fatalf("a key cannot be made: %v\n%s", err, out)
	}
	return found
}
