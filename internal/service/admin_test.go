package service

import (
	"bytes"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"petstore/internal/testservice"
)

// Operators who may read profiles must not see the secrets on the command line.
func TestProfilesDoNotShowTheSecretsOfTheCommandLine(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, "--admin-listen", "127.0.0.1:0", "--api-key", "a-key-that-nobody-guesses")
	got, err := testservice.Request(s.Admin, "", "GET", "/debug/pprof/cmdline", "")
	noError(t, err)
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

func TestTheEndOfTheAdminListenerIsLogged(t *testing.T) {
	t.Parallel()
	listener, err := listen("127.0.0.1:0", "--admin-listen")
	noError(t, err)
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, nil))
	listener.Close() // as if the system had taken the port away
	serveUntilClosed(&http.Server{}, listener, log)
	if !strings.Contains(logged.String(), "level=ERROR") || !strings.Contains(logged.String(), "the admin listener has ended") {
		t.Errorf("the log has %s", logged.String())
	}
	logged.Reset()
	closed := &http.Server{}
	closed.Close()
	serveUntilClosed(closed, listener, log)
	if logged.Len() > 0 {
		t.Errorf("the server closed it, and the log has %s", logged.String())
	}
}

func TestAPortThatCannotBeOpenedSaysWhatToDo(t *testing.T) {
	t.Parallel()
	taken, err := listen("127.0.0.1:0", "--listen")
	noError(t, err)
	defer taken.Close()
	for address, says := range map[string]string{
		taken.Addr().String(): "address already in use; choose another --listen, or stop the program that uses this one",
		"192.0.2.1:80":        "choose another --listen; this machine has no such address",
		"nonsense":            `--listen is "nonsense"; it must be a port such as :8080`,
	} {
		if _, err := listen(address, "--listen"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if advice := listenAdvice(syscall.EACCES, "--listen"); strings.Contains(advice, "program") || !strings.Contains(advice, "a port below 1024 needs a right") {
		t.Errorf("without the right it says %s", advice)
	}
}
