package service

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// While the server drains, every answer closes its connection. No client then sends a request on a connection that the
// server is about to close. The drain delay is longer than the test.
func TestDrainingClosesConnectionsWithoutBreakingRequests(t *testing.T) {
	t.Parallel()
	certFile, keyFile := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	pool := testservice.WriteCertificate(t, certFile, keyFile, 1)
	secure := []string{"--tls-cert", certFile, "--tls-key", keyFile}
	for _, c := range []struct {
		name  string
		args  []string
		major int
	}{
		{"HTTP/1.1", nil, 1},
		{"HTTP/1.1 over TLS", secure, 1},
		{"HTTP/2", secure, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := testservice.ServeRaced(t, append(c.args, "--drain-delay", "1h")...)
			var opened atomic.Int64
			dial := func(ctx context.Context, network, address string) (net.Conn, error) {
				opened.Add(1)
				return new(net.Dialer).DialContext(ctx, network, address)
			}
			newClient := func() *http.Client {
				transport := &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: c.major == 2}
				t.Cleanup(transport.CloseIdleConnections)
				return &http.Client{Transport: transport, Timeout: time.Minute}
			}
			idle := openConnection(t, s.URL, &tls.Config{RootCAs: pool})
			if idle.ask(t) {
				t.Error("before draining, an answer closes its connection")
			}
			var working sync.WaitGroup
			var enough atomic.Bool
			var answered atomic.Int64
			for range 8 {
				working.Go(func() {
					for client := newClient(); !enough.Load(); answered.Add(1) {
						if err := createOne(client, s, c.major); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			more := func() {
				goal := answered.Load() + 50
				testservice.Eventually(t, "the load goes on", time.Minute, func() bool { return answered.Load() >= goal || t.Failed() })
			}
			more()
			s.Signal(syscall.SIGTERM)
			testservice.Eventually(t, "the server drains", time.Minute, func() bool { return strings.Contains(s.Stderr.String(), `"stopping"`) })
			before := opened.Load()
			more()
			enough.Store(true)
			working.Wait()
			if opened.Load() == before {
				t.Error("while draining, answers do not close their connections")
			}
			if !idle.ask(t) {
				t.Error("while draining, the first answer on an idle connection does not close it")
			}
			t.Logf("%d requests, none broken", answered.Load())
		})
	}
}

func createOne(client *http.Client, s *testservice.Instance, major int) error {
	r, err := http.NewRequestWithContext(context.Background(), "POST", s.URL+"/v1/pets", strings.NewReader(`{"name":"Rex","categoryId":1}`))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+s.Key)
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusCreated || response.ProtoMajor != major {
		return fmt.Errorf("answered %s over %s", response.Status, response.Proto)
	}
	return nil
}

// oneConnection is a client that never opens a second connection.
type oneConnection struct {
	url    string
	client http.Client
}

func openConnection(t *testing.T, url string, config *tls.Config) *oneConnection {
	t.Helper()
	scheme, address, _ := strings.Cut(url, "://")
	conn, err := net.Dial("tcp", address)
	noError(t, err)
	if scheme == "https" {
		config.ServerName, _, _ = net.SplitHostPort(address)
		conn = tls.Client(conn, config)
	}
	opened := make(chan net.Conn, 1)
	opened <- conn
	dial := func(context.Context, string, string) (net.Conn, error) {
		select {
		case conn := <-opened:
			return conn, nil
		default:
			return nil, errors.New("the connection was closed")
		}
	}
	o := &oneConnection{url, http.Client{Transport: &http.Transport{DialContext: dial, DialTLSContext: dial}, Timeout: time.Minute}}
	t.Cleanup(o.client.CloseIdleConnections)
	return o
}

// ask sends a request. It returns whether the answer closes the connection.
func (o *oneConnection) ask(t *testing.T) (last bool) {
	t.Helper()
	response, err := o.client.Get(o.url + "/healthz")
	noError(t, err)
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("answered %s, %v", response.Status, err)
	}
	return response.Close
}
