package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// The test restarts replicas one by one behind the load balancer of deploy/, with faster checks and a shorter delay.
func TestARollingRestartFailsNoRequest(t *testing.T) {
	t.Parallel()
	database, redis := testservice.Postgres(t), testservice.Redis(t)
	addresses := []string{stableAddress(t), stableAddress(t), stableAddress(t)}
	serve := func(address string) *testServer {
		return startServer(t, "--listen", address, "--database", database, "--redis", redis, "--drain-delay", "2s")
	}
	key := newKey(t, database, "--plan", "enterprise", "--per-minute", "1000000000", "--per-day", "1000000000")
	replicas := make([]*testServer, len(addresses))
	for i, address := range addresses {
		replicas[i] = serve(address)
	}
	balancer := &testServer{URL: startBalancer(t, addresses), Key: key}

	var working sync.WaitGroup
	var stop atomic.Bool
	var answered, created atomic.Int64
	for worker := range 8 {
		working.Go(func() {
			for i := 0; !stop.Load(); i++ {
				method, path, body, want := "GET", "/v1/pets?limit=5", "", http.StatusOK
				if (worker+i)%2 == 0 {
					method, path, body, want = "POST", "/v1/pets", `{"name":"Rex","categoryId":1}`, http.StatusCreated
					created.Add(1)
				}
				got, err := request(balancer.URL, key, method, path, body)
				if err != nil || got.status != want {
					t.Errorf("%s in a rolling restart: %d %s %v", method, got.status, got.body, err)
					return
				}
				answered.Add(1)
			}
		})
	}
	more := func() {
		t.Helper()
		goal := answered.Load() + 100
		eventually(t, "the load goes on", time.Minute, func() bool { return answered.Load() >= goal || t.Failed() })
	}
	for i, address := range addresses {
		more()
		if status := replicas[i].stop(t); status != 0 {
			t.Errorf("replica %d ended with %d:\n%s", i, status, replicas[i].stderr)
		}
		replicas[i] = serve(address)
		eventually(t, "the new replica is ready", time.Minute, func() bool { return replicas[i].ask(t, "GET", "/readyz", "").status == 200 })
	}
	more()
	stop.Store(true)
	working.Wait()
	if pets := balancer.everyPet(t); int64(len(pets)) != created.Load() {
		t.Errorf("%d animals were created, %d are there", created.Load(), len(pets))
	}
	t.Logf("%d requests, none failed", answered.Load())
}

// startBalancer runs HAProxy as deploy/ configures it, on other addresses.
func startBalancer(t *testing.T, replicas []string) (url string) {
	t.Helper()
	haproxy := testservice.Program(t, "haproxy", "install the package haproxy")
	text, err := os.ReadFile(filepath.Join(deployDir, "haproxy.cfg"))
	if err != nil {
		t.Fatal(err)
	}
	public, staging := stableAddress(t), stableAddress(t)
	config := strings.NewReplacer(
		"bind :8080", "bind "+public, "bind :8081", "bind "+staging, "inter 1s", "inter 200ms",
		"petstore-1:8080", replicas[0], "petstore-2:8080", replicas[1], "petstore-3:8080", replicas[2],
		"staging:8080", stableAddress(t),
	).Replace(string(text))
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	command, output := exec.Command(haproxy, "-f", file), &transcript{}
	command.Stdout, command.Stderr = output, output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		command.Process.Kill()
		command.Wait()
		if t.Failed() {
			t.Logf("HAProxy said:\n%s", output)
		}
	})
	eventually(t, "the load balancer serves", time.Minute, func() bool {
		got, err := request("http://"+public, "", "GET", "/readyz", "")
		return err == nil && got.status == 200
	})
	return "http://" + public
}

// stableAddress returns an address that stays free while nothing listens there. Outgoing connections use higher ports, and
// the test holds the UDP port of the same number, so that no other test gets the address.
func stableAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 10000+rand.IntN(10000))
		twin, err := net.ListenPacket("udp", address)
		if err != nil {
			continue
		}
		t.Cleanup(func() { twin.Close() })
		if listener, err := net.Listen("tcp", address); err == nil {
			listener.Close()
			return address
		}
	}
	t.Fatal("no free port was found between 10000 and 19999")
	return ""
}
