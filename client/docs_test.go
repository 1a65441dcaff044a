package client_test

import (
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

const page = "../docs/clients.md"

// The test runs the programs in docs/clients.md exactly as the page shows them.
func TestTheProgramsInDocsClientsSurviveMishaps(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	programs := regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	how := "scripts/test-services.sh installs what the tests need"
	run := map[string]func(t *testing.T, file string) *exec.Cmd{
		"go": func(t *testing.T, file string) *exec.Cmd { return exec.Command("go", "run", file) },
		"python": func(t *testing.T, file string) *exec.Cmd {
			return exec.Command(testservice.Program(t, "python3", how), file)
		},
		"js": func(t *testing.T, file string) *exec.Cmd {
			return exec.Command(testservice.Program(t, "node", how), file)
		},
	}
	names := map[string]string{"go": "main.go", "python": "main.py", "js": "main.mjs"}
	if len(programs) != len(run) {
		t.Fatalf("%s has %d programs, want %d", page, len(programs), len(run))
	}
	for _, program := range programs {
		language, source := program[1], program[2]
		t.Run(language, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), names[language])
			if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			runAgainstMishaps(t, run[language](t, file))
		})
	}
}

// runAgainstMishaps runs a program against a service that fails now and then, and checks what the program prints.
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

	program.Env = append(os.Environ(), "PETSTORE_SERVER="+server.URL, "PETSTORE_API_KEY="+key)
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

// mishaps is a handler that does the first create but cuts off its answer, refuses the second try of that create, and
// refuses the second page once.
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
