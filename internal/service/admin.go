package service

import (
	"context"
	"fmt"
	"log/slog"
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

// serveAdmin serves metrics, health and profiles to operators, on a listener of its own.
func (c *Serve) serveAdmin(registry *prometheus.Registry, health *health, log *slog.Logger) (stop func(), err error) {
	if !c.servesAdmin() {
		return func() {}, nil
	}
	listener, err := listen(c.AdminListen, "--admin-listen")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/healthz", health.alive)
	mux.HandleFunc("/readyz", health.ready)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "petstore") }) // the arguments can hold secrets
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	admin := server.NewHTTP(mux, log)
	admin.WriteTimeout = 0 // a profile takes as long as it is asked to
	go admin.Serve(listener)
	return func() { admin.Close() }, nil
}

// health answers the probes of load balancers and orchestrators.
type health struct {
	storage  petstore.Storage
	log      *slog.Logger
	draining atomic.Bool
	unready  atomic.Bool // what the log said last

	mu   sync.Mutex
	last *check
}

const (
	readyKept    = time.Second
	readyTimeout = 2 * time.Second
)

func (h *health) alive(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "alive") }

func (h *health) ready(w http.ResponseWriter, _ *http.Request) {
	if h.draining.Load() || !h.storageReached() {
		plain(w, http.StatusServiceUnavailable, "not ready")
		return
	}
	plain(w, http.StatusOK, "ready")
}

// storageReached returns the result of the current check, and logs when it changes.
func (h *health) storageReached() bool {
	err := h.check().wait()
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

// check returns a check that is running or began within the last second. If there is none, it begins one.
func (h *health) check() *check {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last == nil || h.last.isDone() && time.Since(h.last.began) >= readyKept {
		h.last = beginCheck(h.storage)
	}
	return h.last
}

// check is one question to the storage. All probes that come meanwhile share its answer.
type check struct {
	began time.Time
	done  chan struct{}
	err   error // the storage's answer, once it is done
}

func beginCheck(storage petstore.Storage) *check {
	c := &check{began: time.Now(), done: make(chan struct{})}
	go func() {
		defer close(c.done)
		ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
		defer cancel()
		c.err = storage.Ping(ctx)
	}()
	return c
}

func (c *check) isDone() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// wait returns the answer, or an error if the storage does not answer in time.
func (c *check) wait() error {
	select {
	case <-c.done:
		return c.err
	case <-time.After(time.Until(c.began.Add(readyTimeout))):
		return fmt.Errorf("there was no answer within %s", readyTimeout)
	}
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write([]byte(text + "\n"))
}
