package service

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"petstore/internal/testservice"
)

func TestHealthAndMetricsNeedNoKey(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, "--admin-listen", "127.0.0.1:0")
	s.Ask(t, "GET", "/v1/pets", "")
	for _, base := range []string{s.URL, s.Admin} {
		for path, says := range map[string]string{"/healthz": "alive\n", "/readyz": "ready\n"} {
			if got, err := testservice.Request(base, "", "GET", path, ""); err != nil || got.Status != 200 || got.Body != says {
				t.Errorf("%s%s: %d %q %v", base, path, got.Status, got.Body, err)
			}
		}
	}
	metrics, err := testservice.Request(s.Admin, "", "GET", "/metrics", "")
	noError(t, err)
	for _, line := range []string{`petstore_requests_total{route="listPets",status="200"} 1`, `petstore_requests_total{route="placeOrder",status="500"} 0`, `petstore_limiter_degraded 0`, "petstore_build_info{", "go_goroutines"} {
		if !strings.Contains(metrics.Body, line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
	for _, path := range []string{"/metrics", "/debug/pprof/"} {
		if got := s.Ask(t, "GET", path, ""); got.Status != http.StatusNotFound {
			t.Errorf("the public listener answers %s with %d", path, got.Status)
		}
	}
	if got, err := testservice.Request(s.Admin, "", "GET", "/debug/pprof/", ""); err != nil || got.Status != 200 {
		t.Errorf("pprof: %d %v", got.Status, err)
	}
}

// A load balancer must see that the server is unready while the server still serves. The balancer then sends no client to a
// closed port.
func TestAStoppingServerIsUnreadyBeforeItCloses(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, "--drain-delay", "2s", "--admin-listen", "127.0.0.1:0")
	s.Signal(syscall.SIGTERM)
	testservice.Eventually(t, "the server is unready", 2*time.Second, func() bool { return s.Ask(t, "GET", "/readyz", "").Status == 503 })
	if !strings.Contains(s.Scrape(t), "\npetstore_unavailable_total 0\n") {
		t.Error("a probe counts as a refused request")
	}
	if got := s.Ask(t, "GET", "/v1/pets", ""); got.Status != 200 {
		t.Errorf("while draining, a list gets %d", got.Status)
	}
	<-s.Ended
	if status := s.Command.ProcessState.ExitCode(); status != 0 {
		t.Errorf("ended with %d", status)
	}
}

func TestASecondSignalEndsTheServerAtOnce(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, "--drain-delay", "10m")
	s.Signal(syscall.SIGTERM)
	testservice.Eventually(t, "the server is unready", 10*time.Second, func() bool { return s.Ask(t, "GET", "/readyz", "").Status == 503 })
	s.Signal(syscall.SIGTERM)
	<-s.Ended
}

func TestAStoppingServerCutsOffLongRequests(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t, "--shutdown-timeout", "100ms")
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	noError(t, err)
	defer conn.Close()
	io.WriteString(conn, "POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+s.Key+"\r\nContent-Length: 100\r\n\r\n{")
	testservice.Eventually(t, "the server waits for the body", 10*time.Second, func() bool { return s.Ask(t, "GET", "/v1/pets", "").Status == 200 })
	if status := s.Stop(t); status != 1 || !strings.Contains(s.Stderr.String(), "--shutdown-timeout") {
		t.Errorf("ended with %d:\n%s", status, s.Stderr)
	}
}

func TestTLSServesHTTP2AndReloadsARenewedCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pool := testservice.WriteCertificate(t, certFile, keyFile, 1)
	s := testservice.ServeRaced(t, "--tls-cert", certFile, "--tls-key", keyFile)
	if !strings.HasPrefix(s.URL, "https://") || !strings.Contains(s.Stdout.String(), "--cacert "+certFile) {
		t.Errorf("the first start printed\n%s", s.Stdout)
	}
	get := func(config *tls.Config) (*http.Response, error) {
		transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
		defer transport.CloseIdleConnections()
		response, err := (&http.Client{Transport: transport}).Get(s.URL + "/healthz")
		if err == nil {
			response.Body.Close()
		}
		return response, err
	}
	response, err := get(&tls.Config{RootCAs: pool})
	if err != nil || response.ProtoMajor != 2 || response.TLS.PeerCertificates[0].SerialNumber.Int64() != 1 {
		t.Fatalf("over TLS: %+v, %v", response, err)
	}
	if _, err := get(&tls.Config{RootCAs: pool, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}); err == nil {
		t.Error("TLS 1.1 is accepted")
	}

	noError(t, os.WriteFile(certFile, []byte("half written"), 0o600))
	testservice.Eventually(t, "the log says that the new certificate is incomplete", 10*time.Second, func() bool {
		if _, err := get(&tls.Config{RootCAs: pool}); err != nil {
			t.Fatalf("while the new certificate is incomplete: %v", err)
		}
		return strings.Contains(s.Stderr.String(), "the old one stays in use")
	})
	renewed := testservice.WriteCertificate(t, certFile, keyFile, 2)
	testservice.Eventually(t, "the renewed certificate is used", 10*time.Second, func() bool {
		response, err := get(&tls.Config{RootCAs: renewed})
		return err == nil && response.TLS.PeerCertificates[0].SerialNumber.Int64() == 2
	})
}

func TestSIGHUPReloadsTheCertificateAndEndsNothing(t *testing.T) {
	t.Parallel()
	certFile, keyFile := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	testservice.WriteCertificate(t, certFile, keyFile, 1)
	secure, plain := testservice.Serve(t, "--tls-cert", certFile, "--tls-key", keyFile), testservice.Serve(t)
	hangUp := func(s *testservice.Instance, says string) {
		t.Helper()
		s.Signal(syscall.SIGHUP)
		testservice.Eventually(t, "the log says "+says, time.Minute, func() bool { return strings.Contains(s.Stderr.String(), says) })
	}
	hangUp(plain, "SIGHUP")
	plain.Ask(t, "GET", "/v1/pets", "")

	testservice.WriteCertificate(t, certFile, keyFile, 2)
	hangUp(secure, `"a newly read certificate is in use"`)
	if !strings.Contains(secure.Stderr.String(), `"expires":"`) {
		t.Errorf("the log does not say when it expires:\n%s", secure.Stderr)
	}
	noError(t, os.Remove(keyFile))
	hangUp(secure, "the old one stays in use")
	for _, s := range []*testservice.Instance{secure, plain} {
		if status := s.Stop(t); status != 0 {
			t.Errorf("the server ended with %d:\n%s", status, s.Stderr)
		}
	}
}

func TestRequestsAreTracedWhenAnEndpointIsSet(t *testing.T) {
	t.Parallel()
	sent := &testservice.Transcript{}
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/traces" {
			io.Copy(sent, r.Body)
		}
	}))
	defer collector.Close()
	command := testservice.Command(t, testservice.ServeArgs(t)...)
	command.Env = append(command.Env, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "OTEL_EXPORTER_OTLP_COMPRESSION=none",
		"OTEL_SERVICE_NAME=shop-window", "OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=rehearsal,team=animals")
	s := testservice.Launch(t, command)
	s.Ask(t, "GET", "/v1/pets", "")
	if status := s.Stop(t); status != 0 {
		t.Errorf("ended with %d:\n%s", status, s.Stderr)
	}
	for _, part := range []string{"GET /v1/pets", "listPets", "shop-window", "rehearsal", "animals", "service.version"} {
		if !strings.Contains(sent.String(), part) {
			t.Errorf("the traces lack %q", part)
		}
	}
	if strings.Contains(sent.String(), "production") {
		t.Error("OTEL_RESOURCE_ATTRIBUTES does not override the environment of the server")
	}
	if !strings.Contains(s.Stderr.String(), `"trace_id":"`) {
		t.Errorf("the log does not name the trace:\n%s", s.Stderr)
	}
}

func TestInvalidTraceAttributesAreRefused(t *testing.T) {
	t.Parallel()
	command := testservice.Command(t, testservice.ServeArgs(t)...)
	command.Env = append(command.Env, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318", "OTEL_RESOURCE_ATTRIBUTES=team")
	defer time.AfterFunc(time.Minute, func() { command.Process.Kill() }).Stop()
	if out, err := command.CombinedOutput(); err == nil || command.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "OTEL_RESOURCE_ATTRIBUTES") {
		t.Errorf("%v: %s", err, out)
	}
}
