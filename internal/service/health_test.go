package service

import (
	"bytes"
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
)

// hangingStorage does not answer a Ping until the test releases it, even if the context of the Ping ends.
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

func TestProbesShareACheckTimeOutAndLogEachChangeOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		storage := &hangingStorage{released: make(chan struct{})}
		var logged bytes.Buffer
		h := &health{storage: storage, log: slog.New(slog.NewTextHandler(&logged, nil))}
		probe := func() int {
			w := httptest.NewRecorder()
			h.ready(w, httptest.NewRequest("GET", "/readyz", nil))
			return w.Code
		}
		var probes sync.WaitGroup
		for i := range 20 {
			probes.Go(func() {
				time.Sleep(time.Duration(i) * readyTimeout / 10) // makes some probes arrive while others wait, and some later
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
		if log := logged.String(); strings.Count(log, "level=WARN msg=\"not ready") != 1 || strings.Count(log, "level=INFO msg=\"ready again") != 1 || strings.Count(log, "\n") != 2 {
			t.Errorf("the log says\n%s", log)
		}
	})
}
