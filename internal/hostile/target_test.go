package hostile

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// waitTimeout is how long a test waits for the server. Only a broken server needs that long.
const waitTimeout = time.Minute

// key is the API key that all hostile clients use.
const key = "a-key-of-my-own-choice"

// target is a server under attack.
type target struct {
	*testservice.Server
	address string
	tls     *tls.Config // trusts the target; nil without TLS
	own     string      // the key of the well-behaved client
	newKey  func(args ...string) string

	mu    sync.Mutex
	conns []net.Conn
}

// start starts a server for one attack. Rate limits are off, because they would protect the server.
func start(t *testing.T, a attack) *target {
	t.Helper()
	s, binary := &target{}, testservice.Build(t)
	database := "sqlite:" + filepath.Join(t.TempDir(), "pets.db")
	s.newKey = func(args ...string) string { return testservice.NewKey(t, binary, database, args...) }
	s.own = s.newKey()
	args := []string{"--database", database, "--api-key", key, "--rate-limits", "off"}
	if a.tls {
		args = append(args, s.writeCertificate(t)...)
	}
	if a.files > 0 {
		binary = withFiles(t, binary, scaled(a.files))
	}
	s.Server = testservice.NewServer(t, binary, args...)
	_, s.address, _ = strings.Cut(s.URL, "://")
	s.Start(t)
	t.Cleanup(s.hangUp)
	return s
}

// writeCertificate writes a certificate, and returns the arguments that make the server use it.
func (s *target) writeCertificate(t *testing.T) (args []string) {
	t.Helper()
	certFile, keyFile := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	s.tls = &tls.Config{RootCAs: testservice.WriteCertificate(t, certFile, keyFile, 1)}
	return []string{"--tls-cert", certFile, "--tls-key", keyFile}
}

// withFiles writes a script that runs the binary with a limit on open files, and returns the name of the script.
func withFiles(t *testing.T, binary string, files int) string {
	t.Helper()
	script := filepath.Join(t.TempDir(), "limited")
	if err := os.WriteFile(script, fmt.Appendf(nil, "#!/bin/sh\nulimit -n %d && exec %q \"$@\"\n", files, binary), 0o700); err != nil {
		t.Fatal(err)
	}
	return script
}

// dial opens a connection that stays open until the attack is over.
func (s *target) dial(t *testing.T) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetDeadline(time.Now().Add(waitTimeout))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = append(s.conns, conn)
	return conn.(*net.TCPConn)
}

// dialMany opens n connections. On connection i, it sends text(i).
func (s *target) dialMany(t *testing.T, n int, text func(i int) string) (conns []*net.TCPConn) {
	t.Helper()
	for i := range n {
		conns = append(conns, s.dial(t))
		io.WriteString(conns[i], text(i)) // an error is fine: the server may have hung up
	}
	return conns
}

// hangUp closes all connections of the attack.
func (s *target) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.conns {
		conn.Close()
	}
	s.conns = nil
}

// head returns the complete head of a request, with the key and the given header lines.
func (s *target) head(method, path string, lines ...string) string {
	return method + " " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + key + "\r\n" + strings.Join(append(lines, "\r\n"), "\r\n")
}

// exchange opens a connection and sends a text that makes the server close the connection. It returns the statuses of all
// answers, and whether the server closed the connection.
func (s *target) exchange(t *testing.T, text string) (statuses []int, closed bool) {
	t.Helper()
	conn := s.dial(t)
	defer conn.Close()
	go io.WriteString(conn, text)
	reader := bufio.NewReader(conn)
	for {
		response, err := http.ReadResponse(reader, nil)
		if err == nil {
			_, err = io.Copy(io.Discard, response.Body)
		}
		if err != nil {
			return statuses, !errors.Is(err, os.ErrDeadlineExceeded)
		}
		statuses = append(statuses, response.StatusCode)
	}
}
