package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"petstore/internal/testservice"
)

func TestHealthcheckReportsWhetherTheServerIsReady(t *testing.T) {
	t.Parallel()
	admin := testservice.FreeAddress(t)
	check := func(status int, says string) {
		t.Helper()
		env := map[string]string{"PETSTORE_ADMIN_LISTEN": admin}
		if stdout, stderr, got := invokeWith(t, env, "healthcheck"); got != status || !strings.Contains(stderr, says) || stdout != "" {
			t.Errorf("healthcheck ended with %d and said %s%s, want %d and %q", got, stdout, stderr, status, says)
		}
	}
	check(1, "no server answers at "+admin+": connection refused; give the PETSTORE_ADMIN_LISTEN of the server")
	s := testservice.Serve(t, "--admin-listen", admin, "--drain-delay", "10m")
	check(0, "is ready")
	_, port, _ := net.SplitHostPort(admin)
	if _, stderr, status := invoke(t, "healthcheck", "--admin-listen", ":"+port); status != 0 {
		t.Errorf("with a port alone: %d %s", status, stderr)
	}
	s.Signal(syscall.SIGTERM)
	testservice.Eventually(t, "the server is unready", 10*time.Second, func() bool { return s.Ask(t, "GET", "/readyz", "").Status == 503 })
	check(1, "the server at "+admin+" is not ready")
}

func TestHealthcheckTimesOut(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-gone }))
	defer silent.Close()
	defer close(gone)
	address := strings.TrimPrefix(silent.URL, "http://")
	if _, stderr, status := invoke(t, "healthcheck", "--admin-listen", address, "--timeout", "50ms"); status != 1 || !strings.Contains(stderr, "did not answer within 50ms") {
		t.Errorf("healthcheck of a server that does not answer: %d %s", status, stderr)
	}
	for _, wrong := range []string{"", "off", "nobody"} {
		if _, stderr, status := invoke(t, "healthcheck", "--admin-listen", wrong); status != 2 || !strings.HasPrefix(stderr, "--admin-listen is ") {
			t.Errorf("healthcheck of %s: %d %s", wrong, status, stderr)
		}
	}
}
