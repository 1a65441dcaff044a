package main

import (
	"net"
	"reflect"
	"strings"
	"testing"
)

// A person who may look at profiles must not see the secrets that a command line can hold.
func TestProfilesDoNotShowTheSecretsOfTheCommandLine(t *testing.T) {
	t.Parallel()
	admin := freeAddress(t)
	startServer(t, "--admin-listen", admin, "--api-key", "a-key-that-nobody-guesses")
	got, err := request("http://"+admin, "", "GET", "/debug/pprof/cmdline", "")
	if err != nil {
		t.Fatal(err)
	}
	if got.status != 200 || got.body != "petstore\n" {
		t.Errorf("the command line is told as %d %q", got.status, got.body)
	}
}

// Prometheus itself listens on 9090, usually on the same machine.
func TestDeployedFilesReachTheAdminListener(t *testing.T) {
	t.Parallel()
	field, _ := reflect.TypeFor[serveCmd]().FieldByName("AdminListen")
	host, port, err := net.SplitHostPort(field.Tag.Get("default"))
	if err != nil || host != "127.0.0.1" || port != "8081" {
		t.Errorf("the admin listener is at %s:%s: %v", host, port, err)
	}
	files := deployed(t)
	for path, text := range map[string]string{
		"compose.yaml":               `PETSTORE_ADMIN_LISTEN: ":` + port + `"`,
		"kubernetes/config.yaml":     `PETSTORE_ADMIN_LISTEN: ":` + port + `"`,
		"kubernetes/deployment.yaml": "containerPort: " + port,
		"Dockerfile":                 "EXPOSE 8080 " + port,
		"prometheus.yml":             "127.0.0.1:" + port,
	} {
		if !strings.Contains(files[path], text) {
			t.Errorf("%s does not have %s", path, text)
		}
	}
}
