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
