package httpapi_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"petstore/internal/petstore"
)

func TestRefusalComesBefore100Continue(t *testing.T) {
	s := serve(t)
	conn := dial(t, s.address)
	io.WriteString(conn, request("POST", "/v1/pets", "", "Content-Type: application/json", "Content-Length: 500", "Expect: 100-continue"))
	a, err := readAnswer(conn, "POST")
	noError(t, err)
	a.is(t, 401, "unauthorized")
}

func TestClientThatExpects100ContinueGetsIt(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Enterprise)
	for _, c := range []struct {
		body   string
		status int
		code   string
	}{
		{`{"name":"Rex","categoryId":1}`, 201, ""},
		{petOfSize(10_000_000), 413, "payload_too_large"},
	} {
		conn := dial(t, s.address)
		io.WriteString(conn, request("POST", "/v1/pets", key, "Content-Type: application/json", "Transfer-Encoding: chunked", "Expect: 100-continue"))
		const goOn = "HTTP/1.1 100 Continue\r\n\r\n"
		if got := make([]byte, len(goOn)); !readsFull(conn, got) || string(got) != goOn {
			t.Fatalf("the server does not ask for the body: %q", got)
		}
		if _, err := io.WriteString(conn, chunked(c.body)); err != nil {
			t.Fatalf("the server does not read what it asked for: %v", err)
		}
		a, err := readAnswer(conn, "POST")
		noError(t, err)
		a.is(t, c.status, c.code)
	}
}

func readsFull(r io.Reader, b []byte) bool {
	_, err := io.ReadFull(r, b)
	return err == nil
}

// The server must not mistake the rest of a refused body for the next request.
func TestConnectionCanBeReusedAfterARefusal(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Enterprise)
	hidden := request("DELETE", "/v1/pets", key)
	conn := dial(t, s.address)
	reader := bufio.NewReader(conn)
	for _, c := range []struct {
		raw    string
		status int
	}{
		{withBody(request("POST", "/v1/pets", ""), hidden), 401},
		{withBody(request("POST", "/v1/dogs", key), strings.Repeat(hidden, 5000)), 404},
		{withBody(request("GET", "/v1/pets", key), hidden), 200},
		{withBody(request("PUT", "/v1/pets", key), hidden), 405},
		{withBody(request("POST", "/v1/pets", key, "Content-Type: text/plain"), hidden), 415},
		{withBody(request("POST", "/v1/pets", key), petOfSize(10_000_000)), 413},
		{request("POST", "/v1/pets", key, "Transfer-Encoding: chunked") + chunked(strings.Repeat(hidden, 50_000)), 413},
		{request("GET", "/v1/pets", key), 200},
	} {
		if _, err := io.WriteString(conn, c.raw); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(reader, nil)
		noError(t, err)
		if body, err := io.ReadAll(response.Body); err != nil || response.StatusCode != c.status {
			t.Fatalf("%.60q is answered %d, want %d: %s, %v", c.raw, response.StatusCode, c.status, body, err)
		}
	}
}

// The client sends the first byte of its body and then nothing more.
func TestARefusalDoesNotWaitForABodyThatNeverEnds(t *testing.T) {
	t.Parallel()
	conn := dial(t, serve(t).address)
	conn.SetDeadline(time.Now().Add(15 * time.Second))
	io.WriteString(conn, request("POST", "/v1/pets", "", "Content-Length: 100000")+"{")
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("got %v, %v", answer, err)
	}
}

func TestHTTP2GetsTheSameAnswers(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Free)
	server := httptest.NewUnstartedServer(s.api)
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	client := server.Client()
	client.Transport.(*http.Transport).TLSClientConfig.MinVersion = tls.VersionTLS13
	do := func(method, target, body string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+target, strings.NewReader(body))
		noError(t, err)
		r.Header.Set("Authorization", "Bearer "+key)
		response, err := client.Do(r)
		noError(t, err)
		t.Cleanup(func() { response.Body.Close() })
		return response
	}
	created := do("POST", "/v1/pets", `{"name":"Rex","categoryId":1}`)
	got := do("GET", "/v1/pets/1", "")
	if created.StatusCode != 201 || got.StatusCode != 200 || got.ProtoMajor != 2 {
		t.Fatalf("created %s, got %s over %s", created.Status, got.Status, got.Proto)
	}
	for name, want := range map[string]string{"X-RateLimit-Remaining": "58", "Deprecation": "@1794700800", "Cache-Control": "no-store", "Content-Type": "application/json"} {
		if value := got.Header.Get(name); value != want {
			t.Errorf("%s is %q, want %q", name, value, want)
		}
	}
	if large := do("POST", "/v1/pets", petOfSize(2<<20)); large.StatusCode != 413 {
		t.Errorf("a body of 2 MiB is answered %s", large.Status)
	}
}

func dial(t *testing.T, address string) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	noError(t, err)
	conn.SetDeadline(time.Now().Add(time.Minute))
	t.Cleanup(func() { conn.Close() })
	return conn.(*net.TCPConn)
}
