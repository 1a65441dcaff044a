package testservice

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Redis returns the URL of an empty Redis or Valkey database on a server that all tests of this process share. If
// PETSTORE_TEST_REDIS names a database, it returns that one, whatever it holds.
func Redis(t testing.TB) string {
	t.Helper()
	if url := os.Getenv("PETSTORE_TEST_REDIS"); url != "" {
		return url
	}
	sharedRedis.Lock()
	defer sharedRedis.Unlock()
	if sharedRedis.server == nil {
		s := newRedis(t, "--databases", "10000")
		s.Start(t)
		sharedRedis.server = s
	}
	sharedRedis.databases++
	return fmt.Sprintf("%s/%d", sharedRedis.server.URL, sharedRedis.databases)
}

var sharedRedis struct {
	sync.Mutex
	server    *RedisServer
	databases int
}

// RedisServer is the Redis or Valkey of one test, which may stop or pause it. It forgets everything when it stops.
type RedisServer struct {
	// URL leads to the server, Address is its host and port.
	URL     string
	Address string

	program string
	dir     string
	args    []string
	process *process
}

// StartRedis starts a server for one test, with arguments such as "--maxmemory", "1mb".
func StartRedis(t testing.TB, args ...string) *RedisServer {
	t.Helper()
	s := newRedis(t, args...)
	t.Cleanup(func() { s.discard(t) })
	s.Start(t)
	return s
}

// StartRedisCluster starts a Redis Cluster of one node.
func StartRedisCluster(t testing.TB) *RedisServer {
	t.Helper()
	s := StartRedis(t, "--cluster-enabled", "yes", "--cluster-port", fmt.Sprint(freePort(t)))
	if answer, err := s.ask("CLUSTER ADDSLOTSRANGE 0 16383"); err != nil || answer != "+OK" {
		t.Fatalf("the Redis Cluster cannot be made: %s %v", answer, err)
	}
	ready := func() error {
		if answer, err := s.ask("GET key"); err != nil || answer != "$-1" {
			return fmt.Errorf("%s %w", answer, err)
		}
		return nil
	}
	if err := s.process.wait(ready); err != nil {
		t.Fatalf("the Redis Cluster does not start: %v", err)
	}
	return s
}

// Sentinel starts a Sentinel that watches this server, and returns a URL that finds the server through it.
func (s *RedisServer) Sentinel(t testing.TB) string {
	t.Helper()
	const masterSet = "petstore"
	host, port, _ := net.SplitHostPort(s.Address)
	sentinel := newRedis(t, "--sentinel")
	config := fmt.Sprintf("sentinel monitor %s %s %s 1\n", masterSet, host, port)
	file := filepath.Join(sentinel.dir, "sentinel.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	sentinel.args = append([]string{file}, sentinel.args...)
	t.Cleanup(func() { sentinel.discard(t) })
	sentinel.Start(t)
	return sentinel.URL + "?master_set=" + masterSet
}

func newRedis(t testing.TB, args ...string) *RedisServer {
	t.Helper()
	path := program("redis-server", "valkey-server")
	if path == "" {
		Missing(t, "a Redis or Valkey server", "install one (Debian: apt-get install redis-server) or name one in PETSTORE_TEST_REDIS")
	}
	s := &RedisServer{program: path, dir: folder(t, "redis"), Address: fmt.Sprintf("127.0.0.1:%d", freePort(t))}
	s.URL = "redis://" + s.Address
	_, port, _ := net.SplitHostPort(s.Address)
	s.args = append([]string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"}, args...)
	return s
}

// Start starts the server, also after Stop, and returns when it answers.
func (s *RedisServer) Start(t testing.TB) {
	t.Helper()
	p, err := start(exec.Command(s.program, s.args...), s.dir)
	if err == nil {
		s.process = p
		err = p.wait(s.answers)
	}
	if err != nil {
		t.Fatalf("Redis does not start: %v", err)
	}
}

func (s *RedisServer) answers() error {
	answer, err := s.ask("PING")
	if err == nil && answer != "+PONG" {
		err = fmt.Errorf("it answered %s", answer)
	}
	return err
}

// ask sends a command and returns the first line of its answer.
func (s *RedisServer) ask(command string) (string, error) {
	conn, err := net.DialTimeout("tcp", s.Address, patience)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	if _, err := conn.Write([]byte(command + "\r\n")); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(line), err
}

// Stop ends the server: its connections break, and new ones are refused.
func (s *RedisServer) Stop(t testing.TB) {
	t.Helper()
	if err := s.process.end(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// Pause makes the server hang: the machine still accepts connections and bytes, but nothing answers.
func (s *RedisServer) Pause(t testing.TB) {
	t.Helper()
	s.signal(t, suspend)
}

// Resume ends a Pause.
func (s *RedisServer) Resume(t testing.TB) {
	t.Helper()
	s.signal(t, resume)
}

func (s *RedisServer) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := s.process.Signal(sig); err != nil {
		t.Fatalf("signal %v to Redis: %v", sig, err)
	}
}

func (s *RedisServer) discard(t testing.TB) {
	if err := s.process.end(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	os.RemoveAll(s.dir)
}
