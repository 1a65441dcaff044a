package testservice

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Balancer is an HAProxy in front of the replicas of a test.
type Balancer struct {
	// URL is the address of the balancer.
	URL string

	program string
	dir     string
	process *process
}

// StartBalancer starts HAProxy in front of three replicas, given by host and port. The argument config is the path of
// deploy/haproxy.cfg. HAProxy gets a copy of that file with other addresses, more frequent checks and longer timeouts.
func StartBalancer(t testing.TB, config string, replicas []string) *Balancer {
	t.Helper()
	b := &Balancer{program: Program(t, "haproxy", "install the package haproxy"), dir: folder(t, "haproxy")}
	text, err := os.ReadFile(config)
	noError(t, err)
	public := FreeAddress(t)
	b.URL = "http://" + public
	adapted := strings.NewReplacer(
		"bind :8080", "bind "+public, "bind :8081", "bind "+FreeAddress(t), "inter 1s", "inter 200ms",
		"timeout connect 2s", "timeout connect 10s\n    timeout check 2s", // a busy machine is slow
		"petstore-1:8080", replicas[0], "petstore-2:8080", replicas[1], "petstore-3:8080", replicas[2],
		"staging:8080", FreeAddress(t),
	).Replace(string(text))
	noError(t, os.WriteFile(b.config(), []byte(adapted), 0o600))
	t.Cleanup(func() {
		b.Kill(t)
		os.RemoveAll(b.dir)
	})
	b.Start(t)
	return b
}

func (b *Balancer) config() string { return filepath.Join(b.dir, "haproxy.cfg") }

// Start starts the balancer, also after Kill. It returns when a replica behind the balancer is ready.
func (b *Balancer) Start(t testing.TB) {
	t.Helper()
	p, err := start(exec.Command(b.program, "-f", b.config()), b.dir)
	if err == nil {
		b.process = p
		err = p.wait(b.ready)
	}
	if err != nil {
		t.Fatalf("HAProxy does not start: %v", err)
	}
}

func (b *Balancer) ready() error { return ready(b.URL) }

// Kill ends the balancer abruptly, as a crash does.
func (b *Balancer) Kill(t testing.TB) {
	t.Helper()
	noError(t, b.process.end(syscall.SIGKILL))
}
