package clienttest

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"petstore/client"
	"petstore/internal/testservice"
)

const page = "../../docs/clients.md"

var block = regexp.MustCompile("(?s)```(\\w+)\n(.*?)```")

// The test runs the programs in docs/clients.md exactly as the page shows them.
func TestTheProgramsInDocsClientsSurviveMishaps(t *testing.T) {
	shown := blocksOf(t, page)
	how := "scripts/test-services.sh installs what the tests need"
	run := map[string]struct {
		file    string
		command func(t *testing.T) *exec.Cmd
	}{
		"go":     {"main.go", func(t *testing.T) *exec.Cmd { return inNewModule(t, shown["sh"]) }},
		"python": {"main.py", func(t *testing.T) *exec.Cmd { return exec.Command(testservice.Program(t, "python3", how), "main.py") }},
		"js":     {"main.mjs", func(t *testing.T) *exec.Cmd { return exec.Command(testservice.Program(t, "node", how), "main.mjs") }},
	}
	if len(shown) != len(run)+1 {
		t.Fatalf("%s has %d programs and commands, want %d", page, len(shown), len(run)+1)
	}
	for language, program := range run {
		t.Run(language, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "shop")
			noError(t, errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, program.file), []byte(shown[language]), 0o600)))
			command := program.command(t)
			command.Dir = folder
			runAgainstMishaps(t, command)
		})
	}
}

// inNewModule returns a command that makes a module as the page says and runs the program in it. The module is in a folder
// beside a copy of the repository. The command cannot download modules, so it fails if the client needs any.
func inNewModule(t *testing.T, commands string) *exec.Cmd {
	t.Helper()
	root, err := filepath.Abs("../..")
	noError(t, err)
	command := exec.Command("sh", "-ec", `ln -s "$REPOSITORY" ../petstore; `+commands)
	command.Env = append(os.Environ(), "REPOSITORY="+root, "GOFLAGS=", "GOPROXY=off", "GOMODCACHE="+filepath.Join(t.TempDir(), "none"))
	return command
}

// runAgainstMishaps runs a program against a service that sometimes fails, and checks what the program prints.
func runAgainstMishaps(t *testing.T, program *exec.Cmd) {
	s := testService(t)
	key := s.generousKey(t)
	store := through(t, s, key)
	var want []string
	for i := range 105 {
		pet := must(store.CreatePet(t.Context(), client.NewPet{Name: fmt.Sprint("animal ", i), CategoryID: 1}))(t)
		want = append(want, fmt.Sprintln(pet.ID, pet.Name))
	}
	server := httptest.NewServer(&mishaps{Handler: s})
	t.Cleanup(server.Close)

	program.Env = append(program.Environ(), "PETSTORE_SERVER="+server.URL, "PETSTORE_API_KEY="+key)
	out, err := program.Output()
	if failed, ok := err.(*exec.ExitError); ok {
		t.Fatalf("%v\n%s", err, failed.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	want = append(want, "106 Biscuit\n")
	slices.Reverse(want)
	if string(out) != strings.Join(want, "") {
		t.Errorf("the program printed\n%s", out)
	}
}

// mishaps is a handler that causes failures. It performs the first create but cuts off the answer. It refuses the second try
// of that create. It refuses the second page once.
type mishaps struct {
	http.Handler
	posts, gets atomic.Int64
}

func (m *mishaps) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost && m.posts.Add(1) == 1:
		m.Handler.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	case r.Method == http.MethodPost && m.posts.Load() == 2:
		refuse(w, http.StatusServiceUnavailable, client.ErrOutcomeUnknown)
	case r.Method == http.MethodGet && m.gets.Add(1) == 2:
		refuse(w, http.StatusTooManyRequests, client.ErrRateLimited)
	default:
		m.Handler.ServeHTTP(w, r)
	}
}

func refuse(w http.ResponseWriter, status int, code client.Code) {
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"code":%q,"message":"Ask again in 1 second.","status":%d}`, code, status)
}
