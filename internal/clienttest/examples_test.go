package clienttest

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"petstore/internal/petstore"
)

func TestTheExamplesHoldOnTheRealService(t *testing.T) {
	program := filepath.Join(t.TempDir(), "examples.test")
	output(t, exec.Command("go", "test", "-c", "-o", program, "petstore/client"))
	names := strings.Fields(output(t, exec.Command(program, "-test.list=^Example")))
	if len(names) < 7 {
		t.Errorf("there are only the examples %q", names)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			s := testService(t)
			server := httptest.NewServer(s)
			defer server.Close()
			run := exec.Command(program, "-test.v", "-test.run=^"+name+"$")
			run.Env = append(os.Environ(), "EXAMPLE_SERVER="+server.URL, "EXAMPLE_KEY="+s.keyOf(t, petstore.Business, 0, 0))
			if out := output(t, run); !strings.Contains(out, "--- PASS: "+name) {
				t.Error(out)
			}
		})
	}
}

// output runs a program that has to succeed, and returns what it prints.
func output(t *testing.T, program *exec.Cmd) string {
	t.Helper()
	out, err := program.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
