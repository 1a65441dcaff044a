package server

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"petstore/internal/testservice"
)

// recorder is a listener that records each Write of its connections.
type recorder struct {
	net.Listener
	mu     *sync.Mutex
	writes *[]string
}

type recordedConn struct {
	net.Conn
	of recorder
}

func (l recorder) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return recordedConn{conn, l}, err
}

func (c recordedConn) Write(b []byte) (int, error) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	*c.of.writes = append(*c.of.writes, string(b))
	return c.Conn.Write(b)
}

func record(t *testing.T) recorder {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return recorder{listener, new(sync.Mutex), new([]string)}
}

// If a new version of net/http words its refusals differently, this test fails and refusedByServer has to learn the words.
func TestRefusalsOfNetHTTPAreRecognized(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusBadRequest) })
	plain, secure := record(t), record(t)
	server := NewHTTP(handler, slog.New(slog.DiscardHandler))
	defer server.Close()
	go server.Serve(plain)
	refused := func(l recorder, sends string) (status int, writes []string) {
		*l.writes = nil
		testservice.SendRaw(t, l.Addr().String(), sends)
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, written := range *l.writes {
			status, _ = refusedByServer([]byte(written))
		}
		return status, *l.writes
	}
	for _, c := range testservice.NotHTTP {
		if status, writes := refused(plain, c.Sends); status != c.Status || len(writes) != 1 {
			t.Errorf("%s: net/http writes %q, which is recognized as %d", c.Name, writes, status)
		}
	}
	if status, writes := refused(plain, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); status != 0 || len(writes) != 1 {
		t.Errorf("a handler's answer %q is mistaken for a refusal with %d", writes, status)
	}

	secureServer := newSecure(t, handler)
	defer secureServer.Close()
	go secureServer.ServeTLS(secure, "", "")
	if status, writes := refused(secure, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); status != http.StatusBadRequest || len(writes) != 1 {
		t.Errorf("over TLS net/http writes %q, which is recognized as %d", writes, status)
	}
}

func TestRequestsThatNetHTTPRefusesAreAnsweredByRefusal(t *testing.T) {
	t.Parallel()
	refusal := func(peer string, status int, message string) []byte {
		if _, err := netip.ParseAddrPort(peer); err != nil || message == "" {
			t.Errorf("the refusal is for the peer %q and says %q", peer, message)
		}
		return fmt.Appendf(nil, "refused with %d", status)
	}
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s is handled", r.URL) })
	plain, _ := start(t, &Server{Handler: handler, Refusal: refusal})
	secure, _ := start(t, &Server{Handler: handler, Refusal: refusal, Certificate: testCertificate(t)})
	expect := func(address, sends string, status int) {
		t.Helper()
		if got, want := testservice.SendRaw(t, address, sends), fmt.Sprintf("refused with %d", status); got != want {
			t.Errorf("%.100q gets %q, want %q", sends, got, want)
		}
	}
	for _, c := range testservice.NotHTTP {
		expect(plain, c.Sends, c.Status)
	}
	expect(secure, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", http.StatusBadRequest)
}

// The answers are so long that net/http writes them in several pieces. Each piece begins at another place of the text.
func TestAnswersAreNeverMistakenForRefusals(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"HTTP/1.1 417", "HTTP/1.1 417 Expectation Failed", "HTTP/1.0 400 Bad Request", "HTTP/1.1 431 x" + strings.ReplaceAll(refusalHeaders, "\r\n", `\r\n`)} {
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, r.URL.Path+strings.Repeat(text, 10_000/len(text)))
		})
		plain := record(t)
		server := NewHTTP(handler, slog.New(slog.DiscardHandler))
		defer server.Close()
		go server.Serve(plain)
		for i := range text {
			testservice.SendRaw(t, plain.Addr().String(), "GET /"+strings.Repeat("a", i)+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		}
		for _, written := range *plain.writes {
			if status, _ := refusedByServer([]byte(written)); status != 0 {
				t.Errorf("%.50q… is mistaken for a refusal with %d", written, status)
			}
		}
	}
}
