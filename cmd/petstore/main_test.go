package main

import (
	"bytes"
	"testing"
)

// invoke runs a command in this process. It returns what the command printed and the status it would exit with.
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
