package server

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"petstore/internal/testservice"
)

func listen(t *testing.T) *net.TCPListener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	t.Cleanup(func() { listener.Close() })
	return listener.(*net.TCPListener)
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	noError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// start runs a Server until the test calls the function stop, which returns the result of Serve. For fields that the test
// leaves out, start uses values that do not limit anything.
func start(t *testing.T, s *Server) (address string, stop func() error) {
	t.Helper()
	s.Draining = new(atomic.Bool)
	s.MaxConns = cmp.Or(s.MaxConns, maxConns)
	s.ShutdownTimeout = cmp.Or(s.ShutdownTimeout, time.Minute)
	s.Log = slog.New(slog.DiscardHandler)
	listener := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { stop() })
	return listener.Addr().String(), stop
}

// testCertificate makes a certificate for the test.
func testCertificate(t *testing.T) *Certificate {
	t.Helper()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	testservice.WriteCertificate(t, certFile, keyFile, 1)
	cert, err := NewCertificate(certFile, keyFile)
	noError(t, err)
	return cert
}

// newSecure returns the same server as NewHTTP, but with a certificate.
func newSecure(t *testing.T, handler http.Handler) *http.Server {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	server := NewHTTP(handler, log)
	enableTLS(server, testCertificate(t), log)
	return server
}

// serveWithShortTimers serves on the same kind of connections as Serve, but their timers run for a hundredth of the time.
// The caller has to shorten the timeouts of the server as well.
func serveWithShortTimers(t *testing.T, server *http.Server) (address string) {
	t.Helper()
	listener := listen(t)
	short := deadlineListener{listener, headerTimeout / 100}
	if server.TLSConfig != nil {
		go server.ServeTLS(short, "", "")
	} else {
		go server.Serve(short)
	}
	t.Cleanup(func() { server.Close() })
	return listener.Addr().String()
}

// The timeouts are a hundredth of the real timeouts. Without a timeout, its connection would stay open forever.
func TestASilentClientIsDisconnected(t *testing.T) {
	t.Parallel()
	server := NewHTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
	}), slog.New(slog.DiscardHandler))
	server.ReadHeaderTimeout /= 100
	server.ReadTimeout /= 100
	server.IdleTimeout /= 100
	address := serveWithShortTimers(t, server)
	for _, c := range []struct{ when, sends, gets string }{
		{"before its first byte", "", ""},
		{"within its headers", "GET / HTTP/1.1\r\nHost: x\r\n", ""},
		{"within its body", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{", "HTTP/1.1 400 "},
		{"after an answer", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 "},
	} {
		t.Run(c.when, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, address)
			conn.SetDeadline(time.Now().Add(time.Minute))
			fmt.Fprint(conn, c.sends)
			if got, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(got), c.gets) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// endless returns a handler that sends an answer without end. The channel gets the error that breaks the answer off.
func endless() (handler http.HandlerFunc, broken <-chan error) {
	ended := make(chan error, 1)
	return func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				ended <- err
				return
			}
		}
	}, ended
}

// The answer never ends, so only the server's timeout ends the connection.
func TestAClientThatReadsNothingIsDisconnected(t *testing.T) {
	t.Parallel()
	handler, broken := endless()
	server := NewHTTP(handler, slog.New(slog.DiscardHandler))
	server.WriteTimeout /= 100
	fmt.Fprint(dial(t, serveWithShortTimers(t, server)), "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if err := <-broken; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

// If the client reads nothing, the server cannot tell the client that a stream has ended. The flow-control windows are as
// large as possible, so that only the connection delays the answer.
func TestAnHTTP2ClientThatReadsNothingIsDisconnected(t *testing.T) {
	t.Parallel()
	handler, broken := endless()
	server := newSecure(t, handler)
	server.WriteTimeout /= 100
	server.HTTP2.WriteByteTimeout /= 100
	conn, err := tls.Dial("tcp", serveWithShortTimers(t, server), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	noError(t, err)
	defer conn.Close()
	var block bytes.Buffer
	header := hpack.NewEncoder(&block)
	for _, field := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "x"}, {":path", "/"}} {
		header.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
	}
	io.WriteString(conn, http2.ClientPreface)
	framer := http2.NewFramer(conn, nil)
	framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: math.MaxInt32})
	framer.WriteWindowUpdate(0, math.MaxInt32-65535)
	noError(t, framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true}))
	select {
	case <-broken:
	case <-time.After(time.Minute):
		t.Error("the answer was not cut off within a minute")
	}
}

// unfinishedRequest is a request without its body. Its connection counts as in use as soon as the server asks for the body.
const unfinishedRequest = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n"

// answers reports whether the server sends anything within the given time.
func answers(conn net.Conn, within time.Duration) bool {
	conn.SetReadDeadline(time.Now().Add(within))
	n, _ := conn.Read(make([]byte, 1))
	return n == 1
}

func readBody(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }

// Connections beyond the bound wait while all other connections are in use. When a connection closes, a waiting connection
// takes its place.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	const bound = 3
	address, stop := start(t, &Server{Handler: http.HandlerFunc(readBody), MaxConns: bound})
	open := func() net.Conn {
		conn := dial(t, address)
		io.WriteString(conn, unfinishedRequest)
		return conn
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
		t.Error("the connection beyond the bound gets no answer after another has closed")
	}
	for _, conn := range append(within, beyond) {
		conn.Close()
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func (s *Server) awaitDraining(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !s.Draining.Load(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the server did not set Draining")
		}
	}
}

func TestShutdownCutsOffRequestsAfterTheTimeout(t *testing.T) {
	t.Parallel()
	address, stop := start(t, &Server{Handler: http.HandlerFunc(readBody), ShutdownTimeout: time.Millisecond})
	conn := dial(t, address)
	io.WriteString(conn, unfinishedRequest)
	if !answers(conn, time.Minute) {
		t.Fatal("the server does not ask for the body")
	}
	if err := stop(); !errors.Is(err, ErrCutOff) {
		t.Errorf("the server stopped with %v", err)
	}
}

func TestALostListenerIsReported(t *testing.T) {
	t.Parallel()
	listener := listen(t)
	listener.Close()
	s := &Server{Handler: http.NotFoundHandler(), MaxConns: 1, Draining: new(atomic.Bool), Log: slog.New(slog.DiscardHandler)}
	if err := s.Serve(t.Context(), listener); !errors.Is(err, net.ErrClosed) || s.Draining.Load() {
		t.Errorf("the server stopped with %v", err)
	}
}

// An idle HTTP/2 connection from a trusted proxy takes the only place, so the next connection waits for room.
func TestShutdownDoesNotWaitForAnIdleProxyConnection(t *testing.T) {
	t.Parallel()
	address, stop := start(t, &Server{
		Handler: http.HandlerFunc(readBody), MaxConns: 1, Certificate: testCertificate(t), TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
	proxy := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	answer, err := proxy.Get("https://" + address)
	if err != nil || answer.ProtoMajor != 2 {
		t.Fatalf("%+v, %v", answer, err)
	}
	answer.Body.Close()
	dial(t, address)
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
