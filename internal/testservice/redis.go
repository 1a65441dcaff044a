package testservice

import (
	"bufio"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Redis returns the URL of an empty Redis or Valkey database, on a server that all tests of this process share. If
// PETSTORE_TEST_REDIS names a database, Redis returns that database, which need not be empty.
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

// RedisServer is a Redis or Valkey server for one test. The test may stop or pause the server. The server loses its data
// when it stops.
type RedisServer struct {
	// URL leads to the server. Address is the host and port of the server.
	URL     string
	Address string

	program  string
	dir      string
	args     []string
	follows  []string
	process  *process
	replicas int
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
	s.await(t, "is no Cluster yet", "GET key", "$-1")
	return s
}

// masterSet is the name under which a Sentinel knows the server.
const masterSet = "petstore"

// Sentinel starts a Sentinel that watches this server. It returns a URL that finds the server through the Sentinel.
func (s *RedisServer) Sentinel(t testing.TB) string {
	t.Helper()
	host, port, _ := net.SplitHostPort(s.Address)
	sentinel := newRedis(t, "--sentinel")
	config := fmt.Sprintf("sentinel monitor %[1]s %[2]s %[3]s 1\nsentinel down-after-milliseconds %[1]s 500\nsentinel failover-timeout %[1]s 2000\n", masterSet, host, port)
	file := filepath.Join(sentinel.dir, "sentinel.conf")
	noError(t, os.WriteFile(file, []byte(config), 0o600))
	sentinel.args = append([]string{file}, sentinel.args...)
	t.Cleanup(func() { sentinel.discard(t) })
	sentinel.Start(t)
	sentinel.await(t, "does not know what it watches", "SENTINEL REPLICAS "+masterSet, fmt.Sprintf("*%d", s.replicas))
	return sentinel.URL + "?master_set=" + masterSet
}

// Replica starts a second server that follows this server. If a Sentinel watches both servers, the second takes over when
// this server fails.
func (s *RedisServer) Replica(t testing.TB) *RedisServer {
	t.Helper()
	replica := newRedis(t)
	t.Cleanup(func() { replica.discard(t) })
	replica.Follow(s)
	replica.Start(t)
	s.AwaitReplica(t)
	s.replicas++
	return replica
}

// Follow makes this server a replica of another server, from its next start on.
func (s *RedisServer) Follow(primary *RedisServer) {
	host, port, _ := net.SplitHostPort(primary.Address)
	s.follows = []string{"--replicaof", host, port}
}

// AwaitReplica waits until another server follows this server.
func (s *RedisServer) AwaitReplica(t testing.TB) {
	t.Helper()
	s.await(t, "has no replica", "WAIT 1 100", ":1")
}

// AwaitPrimary waits until the Sentinel at the given URL names this server as the primary.
func (s *RedisServer) AwaitPrimary(t testing.TB, sentinel string) {
	t.Helper()
	u, err := url.Parse(sentinel)
	noError(t, err)
	_, port, _ := net.SplitHostPort(s.Address)
	ready := func() error {
		answer, err := askRedis(u.Host, "SENTINEL GET-MASTER-ADDR-BY-NAME "+masterSet, 5)
		if err == nil && answer[4] != port {
			err = fmt.Errorf("the Sentinel names port %s", answer[4])
		}
		return err
	}
	if err := s.process.wait(ready); err != nil {
		t.Fatalf("Redis does not take over: %v", err)
	}
}

func (s *RedisServer) await(t testing.TB, otherwise, command, answer string) {
	t.Helper()
	ready := func() error {
		got, err := s.ask(command)
		if err == nil && got != answer {
			err = fmt.Errorf("to %s it answered %s", command, got)
		}
		return err
	}
	if err := s.process.wait(ready); err != nil {
		t.Fatalf("Redis %s: %v", otherwise, err)
	}
}

func newRedis(t testing.TB, args ...string) *RedisServer {
	t.Helper()
	path := program("redis-server", "valkey-server")
	if path == "" {
		Missing(t, "a Redis or Valkey server", "install one (Debian: apt-get install redis-server) or name one in PETSTORE_TEST_REDIS")
	}
	s := &RedisServer{program: path, dir: folder(t, "redis"), Address: FreeAddress(t)}
	s.URL = "redis://" + s.Address
	_, port, _ := net.SplitHostPort(s.Address)
	s.args = append([]string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--repl-diskless-sync-delay", "0"}, args...)
	return s
}

// Start starts the server, also after Stop. It returns when the server answers.
func (s *RedisServer) Start(t testing.TB) {
	t.Helper()
	p, err := start(exec.Command(s.program, slices.Concat(s.args, s.follows)...), s.dir)
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

// ask sends a command and returns the first line of the answer.
func (s *RedisServer) ask(command string) (string, error) {
	lines, err := askRedis(s.Address, command, 1)
	return strings.Join(lines, ""), err
}

// askRedis sends a command and returns the given number of lines of the answer.
func askRedis(address, command string, lines int) (answer []string, err error) {
	conn, err := net.DialTimeout("tcp", address, serviceTimeout)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(serviceTimeout))
	if _, err := conn.Write([]byte(command + "\r\n")); err != nil {
		return nil, err
	}
	for from := bufio.NewReader(conn); len(answer) < lines; {
		line, err := from.ReadString('\n')
		if err != nil {
			return nil, err
		}
		answer = append(answer, strings.TrimSpace(line))
	}
	return answer, nil
}

// Stop ends the server: its connections break, it refuses new connections, and its data is lost.
func (s *RedisServer) Stop(t testing.TB) {
	t.Helper()
	noError(t, s.process.end(syscall.SIGKILL))
}

// Pause makes the server hang: the operating system still accepts connections and bytes, but the server does not answer.
func (s *RedisServer) Pause(t testing.TB) {
	t.Helper()
	s.signal(t, suspend)
}

// Resume ends the effect of Pause.
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
