package sqlite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"petstore/internal/petstore"
)

// roleVariable is an environment variable. If it is set, the test binary does not run tests: it plays the named role, as
// the second process of a test.
const roleVariable = "PETSTORE_TEST_ROLE"

// roles maps the name of each role to the function that a process in that role calls with the path of the database.
var roles = map[string]func(path string) error{
	"open":       openOnce,
	"open new":   openOrCreate,
	"serve":      serveOnce,
	"check":      checkOnce,
	"use keys":   useKeys,
	"keep busy":  keepCreating,
	"restore":    keepRestoring,
	"write once": writeOnce,
	"index":      keepIndexingAndChanging,
	"follow":     followWAL,
}

func TestMain(m *testing.M) {
	role, path, found := strings.Cut(os.Getenv(roleVariable), ":")
	if !found {
		os.Exit(m.Run())
	}
	if err := roles[role](path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// otherProcess returns a command that runs the test binary in a role. The command runs /proc/self/exe, if there is one, so
// that even a user without access to the binary's folder can start the command.
func otherProcess(t *testing.T, role, path string) *exec.Cmd {
	t.Helper()
	self := "/proc/self/exe"
	if _, err := os.Stat(self); err != nil {
		if self, err = os.Executable(); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), roleVariable+"="+role+":"+path)
	return cmd
}

func openOnce(path string) error {
	db, err := Open(context.Background(), Config{Path: path, Environment: petstore.Production})
	if err != nil {
		return err
	}
	return db.Close()
}

func serveOnce(path string) error {
	db, err := Open(context.Background(), Config{Path: path, Environment: petstore.Production, Serve: true})
	if err != nil {
		return err
	}
	return db.Close()
}

func openOrCreate(path string) error {
	db, err := Open(context.Background(), Config{Path: path, Environment: petstore.Production, Create: true})
	if err != nil {
		return err
	}
	return db.Close()
}
