package service

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// The test restarts replicas one by one behind the load balancer from the folder deploy. Health checks are more frequent
// than there, and the drain delay is shorter.
func TestARollingRestartFailsNoRequest(t *testing.T) {
	t.Parallel()
	database, redis := testservice.Postgres(t), testservice.Redis(t)
	addresses := []string{testservice.FreeAddress(t), testservice.FreeAddress(t), testservice.FreeAddress(t)}
	serve := func(address string) *testservice.Instance {
		return testservice.Serve(t, "--listen", address, "--database", database, "--redis", redis, "--drain-delay", "2s")
	}
	key := newKey(t, database, "--plan", "enterprise", "--per-minute", "1000000000", "--per-day", "1000000000")
	replicas := make([]*testservice.Instance, len(addresses))
	for i, address := range addresses {
		replicas[i] = serve(address)
	}
	balancer := &testservice.Instance{URL: testservice.StartBalancer(t, filepath.Join("../../deploy", "haproxy.cfg"), addresses).URL, Key: key}

	var working sync.WaitGroup
	var stop atomic.Bool
	var answered, created atomic.Int64
	for worker := range 8 {
		working.Go(func() {
			pace := time.NewTicker(40 * time.Millisecond) // leaves CPU time for the restarts
			defer pace.Stop()
			for i := 0; !stop.Load(); i++ {
				<-pace.C
				method, path, body, want := "GET", "/v1/pets?limit=5", "", http.StatusOK
				if (worker+i)%2 == 0 {
					method, path, body, want = "POST", "/v1/pets", `{"name":"Rex","categoryId":1}`, http.StatusCreated
					created.Add(1)
				}
				got, err := testservice.Request(balancer.URL, key, method, path, body)
				if err != nil || got.Status != want {
					t.Errorf("%s in a rolling restart: %d %s %v", method, got.Status, got.Body, err)
					return
				}
				answered.Add(1)
			}
		})
	}
	more := func() {
		t.Helper()
		goal := answered.Load() + 100
		testservice.Eventually(t, "the load goes on", time.Minute, func() bool { return answered.Load() >= goal || t.Failed() })
	}
	for i, address := range addresses {
		more()
		if status := replicas[i].Stop(t); status != 0 {
			t.Errorf("replica %d ended with %d:\n%s", i, status, replicas[i].Stderr)
		}
		replicas[i] = serve(address)
		testservice.Eventually(t, "the new replica is ready", time.Minute, func() bool { return replicas[i].Ask(t, "GET", "/readyz", "").Status == 200 })
	}
	more()
	stop.Store(true)
	working.Wait()
	if pets := balancer.EveryPet(t); int64(len(pets)) != created.Load() {
		t.Errorf("%d animals were created, %d are there", created.Load(), len(pets))
	}
	t.Logf("%d requests, none failed", answered.Load())
}

// A replica that dies during a write may have stored the write, so the balancer must not say that nothing was stored.
func TestTheBalancerSaysThatTheOutcomeOfAnInterruptedWriteIsUnknown(t *testing.T) {
	t.Parallel()
	replica := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(replica.Close)
	address := strings.TrimPrefix(replica.URL, "http://")
	balancer := testservice.StartBalancer(t, filepath.Join("../../deploy", "haproxy.cfg"), []string{address, address, address})
	got, err := testservice.Request(balancer.URL, "", "POST", "/v1/pets", `{"name":"Rex","categoryId":1}`)
	if err != nil || got.Status != 503 || !strings.Contains(got.Body, `"code":"outcome_unknown"`) {
		t.Errorf("an interrupted write gets %d %s %v", got.Status, got.Body, err)
	}
	replica.Close()
	testservice.Eventually(t, "the balancer has noticed that there is no replica", time.Minute, func() bool {
		got, err = testservice.Request(balancer.URL, "", "POST", "/v1/pets", `{"name":"Rex","categoryId":1}`)
		return err == nil && got.Status == 503 && strings.Contains(got.Body, `"code":"unavailable"`)
	})
}
