package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"petstore/internal/petstore"
	"petstore/internal/server"
)

// serveAdmin serves the metrics, the health and the profiles of the program to operators, on the admin listener.
func serveAdmin(listener net.Listener, registry *prometheus.Registry, health *health, log *slog.Logger) (stop func()) {
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/healthz", health.alive)
	mux.HandleFunc("/readyz", health.ready)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "petstore") }) // hides the arguments, which may contain secrets
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	admin := server.NewHTTP(mux, log)
	admin.WriteTimeout = 0 // no limit, because a profile takes as long as the request asks
	go serveUntilClosed(admin, listener, log)
	return func() { admin.Close() }
}

// serveUntilClosed serves until the listener ends. It logs why the listener ended, unless the server closed it.
func serveUntilClosed(admin *http.Server, listener net.Listener, log *slog.Logger) {
	if err := admin.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		log.Error("the admin listener has ended; metrics, health and profiles cannot be reached until the server restarts", "cause", err.Error())
	}
}

// health answers the probes of load balancers and orchestrators.
type health struct {
	storage  petstore.Storage
	log      *slog.Logger
	draining atomic.Bool
	unready  atomic.Bool // whether the log last reported the storage as unready

	mu   sync.Mutex
	last *storageCheck
}

const (
	readyCached  = time.Second // how long the result of a check is reused
	readyTimeout = 2 * time.Second
)

func (h *health) alive(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "alive") }

func (h *health) ready(w http.ResponseWriter, _ *http.Request) {
	if h.draining.Load() || !h.storageAnswers() {
		writeText(w, http.StatusServiceUnavailable, "not ready")
		return
	}
	writeText(w, http.StatusOK, "ready")
}

// storageAnswers returns the result of the current check. If the result differs from the previous result, storageAnswers
// logs it.
func (h *health) storageAnswers() bool {
	err := h.currentCheck().wait()
	unready := err != nil
	switch {
	case h.unready.Swap(unready) == unready:
	case unready:
		h.log.Warn("not ready: the database cannot be read", "cause", err.Error())
	default:
		h.log.Info("ready again: the database answers")
	}
	return !unready
}

// currentCheck returns a check that is running or started within the last second. If there is no such check, currentCheck
// starts one.
func (h *health) currentCheck() *storageCheck {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last == nil || h.last.isDone() && time.Since(h.last.start) >= readyCached {
		h.last = startCheck(h.storage)
	}
	return h.last
}

// storageCheck is one ping of the storage. All probes that arrive while it runs share its result.
type storageCheck struct {
	start time.Time
	done  chan struct{}
	err   error // the result; read it only after done is closed
}

func startCheck(storage petstore.Storage) *storageCheck {
	c := &storageCheck{start: time.Now(), done: make(chan struct{})}
	go func() {
		defer close(c.done)
		ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
		defer cancel()
		c.err = storage.Ping(ctx)
	}()
	return c
}

func (c *storageCheck) isDone() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// wait returns the result, or an error if the storage does not answer in time.
func (c *storageCheck) wait() error {
	select {
	case <-c.done:
		return c.err
	case <-time.After(time.Until(c.start.Add(readyTimeout))):
		return fmt.Errorf("no answer within %s", readyTimeout)
	}
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write([]byte(text + "\n"))
}
