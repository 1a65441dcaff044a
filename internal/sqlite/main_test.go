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

// roleVariable is the environment variable that makes the test binary play a role: the second process of a test.
const roleVariable = "PETSTORE_TEST_ROLE"

// roles has what another process can do with the database at path.
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

// otherProcess returns a process that will play a role. It runs this process's own file, so that even a user who may not
// enter the file's folder can start it.
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
