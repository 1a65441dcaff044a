package testservice

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// EtcdMember is one of the three members of an etcd. A test may kill the member.
type EtcdMember struct {
	// Address is the host and port for clients.
	Address string

	program string
	dir     string
	process *process
}

// StartEtcd starts an etcd of three members, from the file deploy/patroni/etcd.yml with other addresses.
func StartEtcd(t testing.TB, config string) []*EtcdMember {
	t.Helper()
	program := Program(t, "etcd", "install the package etcd-server")
	text, err := os.ReadFile(config)
	noError(t, err)
	var members []*EtcdMember
	var peers []string // pairs for a strings.Replacer
	for i := range 3 {
		m := &EtcdMember{Address: FreeAddress(t), program: program, dir: folder(t, "etcd")}
		members = append(members, m)
		peers = append(peers, fmt.Sprintf("etcd-%d:2380", i+1), FreeAddress(t))
		t.Cleanup(func() {
			m.Kill(t)
			os.RemoveAll(m.dir)
		})
	}
	for i, m := range members {
		adapted := strings.NewReplacer(append([]string{
			"name: etcd-1", fmt.Sprintf("name: etcd-%d", i+1), "/var/lib/etcd/petstore", filepath.Join(m.dir, "data"),
			"0.0.0.0:2379", m.Address, "etcd-1:2379", m.Address,
			"0.0.0.0:2380", peers[2*i+1], "advertise-peer-urls: http://etcd-1:2380", "advertise-peer-urls: http://" + peers[2*i+1],
		}, peers...)...).Replace(string(text))
		noError(t, os.WriteFile(m.config(), []byte(adapted), 0o600))
	}
	startAll(t, members)
	return members
}

// startAll starts several parts at the same time.
func startAll[T interface{ Start(testing.TB) }](t testing.TB, parts []T) {
	t.Helper()
	var all sync.WaitGroup
	for _, part := range parts {
		all.Go(func() { part.Start(t) })
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

func (m *EtcdMember) config() string { return filepath.Join(m.dir, "etcd.yml") }

// Start starts the member, also after Kill. It returns when the member sees a leader.
func (m *EtcdMember) Start(t testing.TB) {
	t.Helper()
	p, err := start(exec.Command(m.program, "--config-file", m.config()), m.dir)
	if err == nil {
		m.process = p
		err = p.wait(m.healthy)
	}
	if err != nil {
		t.Fatalf("etcd does not start: %v", err)
	}
}

func (m *EtcdMember) healthy() error {
	answer, err := http.Get("http://" + m.Address + "/health")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("/health answers %d", answer.StatusCode)
	}
	return nil
}

// Kill ends the member abruptly, as a crash does.
func (m *EtcdMember) Kill(t testing.TB) {
	t.Helper()
	if m.process != nil {
		noError(t, m.process.end(syscall.SIGKILL))
	}
}
