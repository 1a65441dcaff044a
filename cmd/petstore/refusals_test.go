package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// notHTTP lists texts that net/http refuses by itself, with the status of each refusal.
var notHTTP = []struct {
	name, sends string
	status      int
}{
	{"a path that is wrongly encoded", "GET /v1/pets/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"something else", "HELO example.com\r\n\r\n", 400},
	{"no host", "GET /v1/pets HTTP/1.1\r\n\r\n", 400},
	{"two hosts", "GET /v1/pets HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400},
	{"a control character in a header", "GET /v1/pets HTTP/1.1\r\nHost: x\r\nX-A: \x01\r\n\r\n", 400},
	{"an unknown expectation", "GET /v1/pets HTTP/1.1\r\nHost: x\r\nExpect: foo\r\n\r\n", 417},
	{"an unknown expectation over HTTP/1.0", "GET /v1/pets HTTP/1.0\r\nHost: x\r\nExpect: foo\r\n\r\n", 417},
	{"headers without end", "GET /v1/pets HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("a", 1_200_000) + "\r\n\r\n", 431},
	{"an unknown transfer coding", "POST /v1/pets HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
	{"an unknown version", "GET /v1/pets HTTP/3.0\r\nHost: x\r\n\r\n", 505},
}

// sendRaw writes as much of a request as the server accepts, and returns everything that comes back until the server hangs
// up.
func sendRaw(t *testing.T, address, text string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	go io.WriteString(conn, text)
	got, err := io.ReadAll(conn)
	if err != nil && len(got) == 0 {
		t.Fatal(err)
	}
	return string(got)
}

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
		"Content-Type": "application/json", "X-RateLimit-Limit": "1000", "X-RateLimit-Remaining": "1000", "Access-Control-Allow-Origin": "*",
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

func TestWhatIsNotHTTPIsRefusedLikeEverythingElse(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	for _, c := range notHTTP {
		t.Run(c.name, func(t *testing.T) {
			checkRefusal(t, sendRaw(t, strings.TrimPrefix(s.URL, "http://"), c.sends), c.status)
		})
	}
	for _, status := range []string{`"status":431`, `"status":501`} {
		eventually(t, "the refusals are logged", time.Minute, func() bool { return strings.Contains(s.stderr.String(), status) })
	}
	if strings.Contains(s.stderr.String(), `"ERROR"`) {
		t.Errorf("a client's mistake is logged as a fault of the server:\n%s", s.stderr)
	}
}

func TestPlainHTTPOnTheTLSPortIsRefusedLikeEverythingElse(t *testing.T) {
	t.Parallel()
	certFile, keyFile := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	testservice.WriteCertificate(t, certFile, keyFile, 1)
	s := startServer(t, "--tls-cert", certFile, "--tls-key", keyFile)
	raw := sendRaw(t, strings.TrimPrefix(s.URL, "https://"), "GET /v1/pets HTTP/1.1\r\nHost: x\r\n\r\n")
	checkRefusal(t, raw, http.StatusBadRequest)
	if !strings.Contains(raw, "https://") {
		t.Errorf("it does not say what to do:\n%s", raw)
	}
}

func TestHeadersBeyondTheLimitAreRefused(t *testing.T) {
	t.Parallel()
	const most = 128 << 10
	s := startServer(t)
	get := func(size int) (answer, error) {
		return request(s.URL, strings.Repeat("k", size), "GET", "/v1/pets", "")
	}
	if got, err := get(most - 1024); err != nil || got.status != http.StatusUnauthorized {
		t.Errorf("an oversized key gets %d, %v", got.status, err)
	}
	if got, err := get(most + 16<<10); err == nil && got.status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("headers beyond the limit get %d", got.status)
	}
}
