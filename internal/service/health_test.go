package service

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// hangingStorage answers no Ping until it is released, even if the context of the Ping ends.
type hangingStorage struct {
	petstore.Storage
	pings    atomic.Int64
	released chan struct{}
}

func (s *hangingStorage) Ping(context.Context) error {
	s.pings.Add(1)
	<-s.released
	return nil
}

func TestProbesShareACheckAndTimeOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		storage := &hangingStorage{released: make(chan struct{})}
		h := &health{storage: storage, log: slog.New(slog.DiscardHandler)}
		probe := func() int {
			w := httptest.NewRecorder()
			h.ready(w, httptest.NewRequest("GET", "/readyz", nil))
			return w.Code
		}
		var probes sync.WaitGroup
		for i := range 20 {
			probes.Go(func() {
				time.Sleep(time.Duration(i) * readyTimeout / 10) // some probes arrive while others wait, some later
				start := time.Now()
				if status := probe(); status != 503 || time.Since(start) > readyTimeout {
					t.Errorf("probe %d gets %d after %s", i, status, time.Since(start))
				}
			})
		}
		probes.Wait()
		if n := storage.pings.Load(); n != 1 {
			t.Errorf("20 probes started %d checks", n)
		}
		close(storage.released)
		synctest.Wait()
		if status := probe(); status != 200 {
			t.Errorf("when the storage answers again, a probe gets %d", status)
		}
	})
}

func TestAHungDatabaseAndItsRecoveryAreEachLoggedOnce(t *testing.T) {
	t.Parallel()
	postgres := testservice.StartPostgres(t)
	s := testservice.ServeRaced(t, "--database", postgres.URL)
	postgres.Pause(t)
	var probes sync.WaitGroup
	start := time.Now()
	for range 20 {
		probes.Go(func() {
			if got, err := testservice.Request(s.URL, "", "GET", "/readyz", ""); err != nil || got.Status != 503 {
				t.Errorf("a probe gets %d, %v", got.Status, err)
			}
		})
	}
	probes.Wait()
	if took := time.Since(start); took > 10*readyTimeout {
		t.Errorf("20 probes at once took %s", took)
	}
	postgres.Resume(t)
	testservice.Eventually(t, "the server is ready", time.Minute, func() bool { return s.Ask(t, "GET", "/readyz", "").Status == 200 })
	s.Stop(t)
	log := s.Stderr.String()
	if strings.Contains(log, `"path":"/readyz"`) {
		t.Errorf("probes are in the log:\n%s", log)
	}
	for _, line := range []string{`"level":"WARN","msg":"not ready`, `"level":"INFO","msg":"ready again`} {
		if n := strings.Count(log, line); n != 1 {
			t.Errorf("the log has %s %d times:\n%s", line, n, log)
		}
	}
}
