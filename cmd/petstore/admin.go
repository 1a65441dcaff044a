package main

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"petstore/internal/petstore"
)

// serveAdmin serves what operators look at, on a listener of its own.
func (c *serveCmd) serveAdmin(registry *prometheus.Registry, health *health, log *slog.Logger) (stop func(), err error) {
	if c.AdminListen == "" || c.AdminListen == "off" {
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
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	server := newServer(mux, nil, log)
	server.WriteTimeout = 0 // a profile takes as long as it is asked to
	go server.Serve(listener)
	return func() { server.Close() }, nil
}

// health answers the probes of load balancers and orchestrators.
type health struct {
	storage  petstore.Storage
	draining atomic.Bool

	mu      sync.Mutex
	asked   time.Time
	reached bool
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

// storageReached asks the storage at most once a second, however many ask.
func (h *health) storageReached() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := time.Now(); now.Sub(h.asked) >= readyKept {
		ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
		defer cancel()
		h.reached, h.asked = h.storage.Ping(ctx) == nil, now
	}
	return h.reached
}

func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write([]byte(text + "\n"))
}
