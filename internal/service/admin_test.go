package service

import (
	"reflect"
	"testing"

	"petstore/internal/testservice"
)

// Whoever may read profiles must not see the secrets that a command line may contain.
func TestProfilesDoNotShowTheSecretsOfTheCommandLine(t *testing.T) {
	t.Parallel()
	admin := testservice.FreeAddress(t)
	testservice.Serve(t, "--admin-listen", admin, "--api-key", "a-key-that-nobody-guesses")
	got, err := testservice.Request("http://"+admin, "", "GET", "/debug/pprof/cmdline", "")
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != 200 || got.Body != "petstore\n" {
		t.Errorf("the command line is shown as %d %q", got.Status, got.Body)
	}
}

func TestServeAndHealthcheckHaveTheSameDefaultAdminListener(t *testing.T) {
	serve, _ := reflect.TypeFor[Serve]().FieldByName("AdminListen")
	ask, _ := reflect.TypeFor[Healthcheck]().FieldByName("AdminListen")
	if served, asked := serve.Tag.Get("default"), ask.Tag.Get("default"); served == "" || served != asked {
		t.Errorf("serve listens on %q, healthcheck asks %q", served, asked)
	}
}
