package service

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"petstore/internal/testservice"
)

func checkRefusal(t *testing.T, raw string, status int) {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(strings.NewReader(raw)), nil)
	if err != nil {
		t.Fatalf("%v in %q", err, raw)
	}
	var refusal struct {
		Code, Message string
		Status        int
	}
	body, _ := io.ReadAll(response.Body)
	if err := json.Unmarshal(body, &refusal); err != nil {
		t.Fatalf("%v in %q", err, raw)
	}
	if response.StatusCode != status || refusal.Status != status || refusal.Code != "bad_request" || refusal.Message == "" || !response.Close {
		t.Errorf("want %d, got\n%s", status, raw)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Cache-Control": "no-store", "X-RateLimit-Limit": "1000", "X-RateLimit-Remaining": "1000", "Access-Control-Allow-Origin": "*",
	} {
		if got := response.Header.Get(name); got != want || strings.Count(raw, "\r\n"+name+": ") != 1 {
			t.Errorf("%s is %q, want %q in\n%s", name, got, want, raw)
		}
	}
	for _, name := range []string{"X-RateLimit-Reset", "X-Request-Id", "Date"} {
		if response.Header.Get(name) == "" {
			t.Errorf("%s is missing in\n%s", name, raw)
		}
	}
}

func TestInvalidHTTPGetsTheUsualErrorBody(t *testing.T) {
	t.Parallel()
	s := testservice.Serve(t)
	for _, c := range testservice.NotHTTP {
		t.Run(c.Name, func(t *testing.T) {
			checkRefusal(t, testservice.SendRaw(t, strings.TrimPrefix(s.URL, "http://"), c.Sends), c.Status)
		})
	}
	for _, status := range []string{`"status":431`, `"status":501`} {
		testservice.Eventually(t, "the refusals are logged", time.Minute, func() bool { return strings.Contains(s.Stderr.String(), status) })
	}
	if strings.Contains(s.Stderr.String(), `"ERROR"`) {
		t.Errorf("a client's mistake is logged as an error of the server:\n%s", s.Stderr)
	}
}

func TestPlainHTTPOnTheTLSPortGetsTheUsualErrorBody(t *testing.T) {
	t.Parallel()
	certFile, keyFile := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	testservice.WriteCertificate(t, certFile, keyFile, 1)
	s := testservice.Serve(t, "--tls-cert", certFile, "--tls-key", keyFile)
	raw := testservice.SendRaw(t, strings.TrimPrefix(s.URL, "https://"), "GET /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n")
	checkRefusal(t, raw, http.StatusBadRequest)
	if !strings.Contains(raw, "https://") {
		t.Errorf("it does not say what to do:\n%s", raw)
	}
}

func TestHeadersBeyondTheLimitAreRefused(t *testing.T) {
	t.Parallel()
	const limit = 128 << 10
	s := testservice.Serve(t)
	get := func(size int) (testservice.Answer, error) {
		return testservice.Request(s.URL, strings.Repeat("k", size), "GET", "/v1/pets", "")
	}
	if got, err := get(limit - 1024); err != nil || got.Status != http.StatusUnauthorized {
		t.Errorf("an oversized key gets %d, %v", got.Status, err)
	}
	if got, err := get(limit + 16<<10); err == nil && got.Status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("headers beyond the limit get %d", got.Status)
	}
}
