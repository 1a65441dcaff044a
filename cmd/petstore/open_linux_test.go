package main

import (
	"os"
	"strings"
	"testing"

	"petstore/internal/testservice"
)

const secretKey = "hush-4711-hush-4711"

func TestOpenPrintsTheAddressWithoutTheKeyIfThereIsNoBrowser(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]map[string]string{
		"no screen":          {},
		"a browser is named": {"BROWSER": "no-such-browser", "DISPLAY": ":0"},
	} {
		env["PETSTORE_API_KEY"] = secretKey
		stdout, stderr, status := invokeWith(t, env, "open", "--server", "https://shop.example.com/v1")
		if status != 0 || stdout != "https://shop.example.com/\n" || !strings.Contains(stderr, "sign in with your key") || strings.Contains(stderr, secretKey) {
			t.Errorf("%s: petstore open ended with %d and printed %q %q", name, status, stdout, stderr)
		}
	}
	if _, stderr, status := invokeWith(t, map[string]string{"XDG_CONFIG_HOME": t.TempDir()}, "open"); status != 4 {
		t.Errorf("without a key, petstore open ended with %d: %s", status, stderr)
	}
}

func TestOpenSaysWhereTheDeskIsIfTheBrowserFails(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	command := testservice.Command(t, "open")
	command.Env = append(command.Env, "BROWSER=false", "HOME="+home, "PETSTORE_API_KEY="+secretKey)
	said, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(said), "false cannot be started: exit status 1; open http://localhost:8080/ and sign in") || strings.Contains(string(said), secretKey) {
		t.Errorf("petstore open: %v, %s", err, said)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("petstore open left %v, %v", left, err)
	}
}
