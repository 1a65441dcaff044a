package service

import (
	"strings"
	"testing"

	"petstore/internal/testservice"
)

func TestTheNameOfTheStoreIsASetting(t *testing.T) {
	t.Parallel()
	sixty := strings.Repeat("ü", 60)
	for name, problem := range map[string]string{
		"":              "must not be empty",
		" ":             "must not be only white space",
		"M\xfcller":     "is not valid UTF-8",
		sixty + "x":     "must be at most 60 characters long",
		"Paws\nInc":     "must not contain control characters",
		"Paws\u202eInc": "characters that reverse the direction of text",
	} {
		if _, stderr, status := testservice.Run(t, "serve", "--store-name", name); status != 2 || !strings.Contains(stderr, problem) || !strings.Contains(stderr, "--store-name") {
			t.Errorf("--store-name %q ends with %d: %s", name, status, stderr)
		}
	}
	command := testservice.CommandRaced(t, "serve", "--listen", "127.0.0.1:0")
	command.Env = append(command.Env, "PETSTORE_STORE_NAME="+sixty)
	for s, want := range map[*testservice.Instance]string{testservice.Launch(t, command): sixty, testservice.Serve(t): "Petstore"} {
		if page := s.Ask(t, "GET", "/", "").Body; !strings.Contains(page, "<title>Animals · "+want+"</title>") {
			t.Errorf("the page of the store %s is %s", want, page[:300])
		}
	}
}
