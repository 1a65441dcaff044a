package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// stateFolder is the environment variable that names the folder for the journals of imports.
const stateFolder = "XDG_STATE_HOME"

// TestMain gives the tests, and the commands that they start, one folder for journals instead of the user's own.
func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "petstore-state-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Setenv(stateFolder, folder)
	status := m.Run()
	os.RemoveAll(folder)
	os.Exit(status)
}

// journalsOf returns the journals of all imported files with that name.
func journalsOf(t *testing.T, file string) []string {
	t.Helper()
	journals, err := filepath.Glob(filepath.Join(os.Getenv(stateFolder), "petstore", "imports", filepath.Base(file)+"-*"))
	noError(t, err)
	return journals
}

// invoke runs a command in this process. It returns what the command printed and the exit status.
func invoke(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	return invokeWith(t, nil, args...)
}

func invokeWith(t *testing.T, env map[string]string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	getenv := func(name string) string {
		if value, set := env[name]; set || name != stateFolder {
			return value
		}
		return os.Getenv(name)
	}
	err := run(t.Context(), args, getenv, &out, &errs)
	if err != nil {
		errs.WriteString(err.Error())
	}
	return out.String(), errs.String(), exitStatus(err)
}

// mustInvoke is like invoke for a command that must succeed. It returns what the command printed.
func mustInvoke(t *testing.T, args ...string) (stdout string) {
	t.Helper()
	stdout, stderr, status := invoke(t, args...)
	if status != 0 {
		t.Fatalf("petstore %q ended with %d: %s", args, status, stderr)
	}
	return stdout
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
