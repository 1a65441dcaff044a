package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

func TestHeadersBeyondTheLimitAreRefused(t *testing.T) {
	t.Parallel()
	s := startRaced(t)
	get := func(size int) (answer, error) {
		return request(s.URL, strings.Repeat("k", size), "GET", "/v1/pets", "")
	}
	if got, err := get(maxHeader - 1024); err != nil || got.status != http.StatusUnauthorized {
		t.Errorf("an oversized key gets %d, %v", got.status, err)
	}
	if got, err := get(maxHeader + 16<<10); err == nil && got.status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("headers beyond the limit get %d", got.status)
	}
}

// serveHastily serves like serve does, but with a hundredth of its timeouts.
func serveHastily(t *testing.T, server *http.Server) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(thriftyListener{listener.(*net.TCPListener), headerTimeout / 100})
	t.Cleanup(func() { server.Close() })
	return listener.Addr().String()
}

// The timeouts are a hundredth of the real ones. If one were not set, the connection would stay open forever.
func TestAClientThatFallsSilentIsSentAway(t *testing.T) {
	t.Parallel()
	server := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	}), nil, slog.New(slog.DiscardHandler))
	server.ReadHeaderTimeout /= 100
	server.ReadTimeout /= 100
	server.IdleTimeout /= 100
	address := serveHastily(t, server)
	for _, c := range []struct{ when, sends, gets string }{
		{"before its first byte", "", ""},
		{"within its headers", "GET / HTTP/1.1\r\nHost: x\r\n", ""},
		{"within its body", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{", "HTTP/1.1 400 "},
		{"after an answer", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 "},
	} {
		t.Run(c.when, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(time.Minute))
			fmt.Fprint(conn, c.sends)
			if got, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(got), c.gets) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// The answer never ends, so only the server's timeout ends the connection.
func TestAClientThatTakesNothingIsSentAway(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	server := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				ended <- err
				return
			}
		}
	}), nil, slog.New(slog.DiscardHandler))
	server.WriteTimeout /= 100
	conn, err := net.Dial("tcp", serveHastily(t, server))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

// Connections beyond the bound wait while all others are in use. When one closes, the next gets its place.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	const bound = 3
	var commands cli
	parser, err := kong.New(&commands)
	if err != nil {
		t.Fatal(err)
	}
	listen := freeAddress(t)
	if _, err := parser.Parse(serveArgs(t, []string{"--listen", listen, "--api-key", "the-key-of-this-test"})); err != nil {
		t.Fatal(err)
	}
	commands.Serve.conns = bound
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- commands.Serve.Run(ctx, &console{func(string) string { return "" }, io.Discard, io.Discard})
	}()

	// A client that waits for permission to send its body counts as in use once it has that permission.
	open := func() net.Conn {
		var conn net.Conn
		eventually(t, "the server listens", time.Minute, func() (listens bool) {
			conn, err = net.Dial("tcp", listen)
			return err == nil
		})
		t.Cleanup(func() { conn.Close() })
		io.WriteString(conn, "POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer the-key-of-this-test\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n")
		return conn
	}
	answers := func(conn net.Conn, within time.Duration) bool {
		conn.SetReadDeadline(time.Now().Add(within))
		n, _ := conn.Read(make([]byte, 1))
		return n == 1
	}
	var within []net.Conn
	for i := range bound {
		if within = append(within, open()); !answers(within[i], time.Minute) {
			t.Fatal("a connection within the bound gets no answer")
		}
	}
	beyond := open()
	if answers(beyond, 200*time.Millisecond) {
		t.Error("a connection beyond the bound gets an answer")
	}
	within[0].Close()
	if !answers(beyond, time.Minute) {
		t.Error("the connection beyond the bound gets no answer when another goes")
	}
	for _, conn := range append(within, beyond) {
		conn.Close()
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
