package clienttest

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"petstore/client"
	"petstore/internal/httpapi"
	"petstore/internal/petstore"
	"petstore/internal/ratelimit"
	"petstore/internal/sqlite"
)

// service is the real API with a real SQLite file.
type service struct {
	*httpapi.API
	storage petstore.Storage
	folder  string
}

func newService(ctx context.Context, settings ...func(*httpapi.Config)) (*service, error) {
	folder, err := os.MkdirTemp("", "petstore-client-")
	if err != nil {
		return nil, err
	}
	storage, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(folder, "pets.db"), Environment: petstore.Production, Create: true, Serve: true})
	if err != nil {
		return nil, err
	}
	config := httpapi.Config{
		Environment: petstore.Production,
		Storage:     storage,
		Versioned:   storage,
		Limiter:     ratelimit.NewMemory(time.Now),
		Log:         slog.New(slog.DiscardHandler),
		Metrics:     prometheus.NewRegistry(),
		Now:         time.Now,
	}
	for _, set := range settings {
		set(&config)
	}
	return &service{httpapi.New(config), storage, folder}, nil
}

func (s *service) close() {
	s.storage.Close()
	os.RemoveAll(s.folder)
}

// key makes a key and returns the secret of the key. Only the enterprise plan uses the two numbers.
func (s *service) key(ctx context.Context, plan petstore.Plan, access petstore.Access, perMinute, perDay int64) (string, error) {
	limits, err := plan.Limits(perMinute, perDay)
	if err != nil {
		return "", err
	}
	secret, key := petstore.NewSecret(petstore.Production), petstore.NewKey("test", plan, limits, time.Now(), petstore.Forever)
	key.Access = access
	return secret, s.storage.CreateKey(ctx, key, petstore.HashSecret(secret), petstore.KeyRequest{})
}

// testService returns a service that ends with the test.
func testService(t *testing.T, settings ...func(*httpapi.Config)) *service {
	t.Helper()
	s, err := newService(t.Context(), settings...)
	noError(t, err)
	t.Cleanup(s.close)
	return s
}

// generousKey returns a key whose limits no test reaches.
func (s *service) generousKey(t *testing.T) string {
	t.Helper()
	return s.keyOf(t, petstore.Enterprise, 1_000_000, 100_000_000)
}

func (s *service) keyOf(t *testing.T, plan petstore.Plan, perMinute, perDay int64) string {
	t.Helper()
	secret, err := s.key(t.Context(), plan, petstore.ReadWrite, perMinute, perDay)
	noError(t, err)
	return secret
}

// through makes a client that calls the handler on a real HTTP server. The connections are in memory, so that the client and
// the server can run in a bubble of package synctest.
func through(t *testing.T, handler http.Handler, key string, options ...client.Option) *client.Client {
	t.Helper()
	listener := &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
	server := &http.Server{Handler: handler, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	served := make(chan struct{})
	go func() {
		defer close(served)
		server.Serve(listener)
	}()
	transport := &http.Transport{DialContext: listener.dial, MaxIdleConnsPerHost: 1000}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
		<-served
	})
	return newClient(t, "http://petstore.test", key, append([]client.Option{client.WithHTTPClient(&http.Client{Transport: transport})}, options...)...)
}

func newClient(t *testing.T, server, key string, options ...client.Option) *client.Client {
	t.Helper()
	c, err := client.New(server, key, options...)
	noError(t, err)
	return c
}

// pipeListener is a listener whose connections are in-memory pipes.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (m *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case m.conns <- far:
		return near, nil
	case <-m.done:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: io.ErrClosedPipe}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.done:
		return nil, net.ErrClosed
	}
}

func (m *pipeListener) Close() error {
	m.once.Do(func() { close(m.done) })
	return nil
}

func (m *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }
