package service

import (
	"log/slog"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"petstore/internal/server"
)

// newRegistry makes a registry with the metrics of the process. The parts of the program add their own.
func newRegistry(version string) *prometheus.Registry {
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "petstore_build_info",
		Help:        "The version that runs; always 1.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()},
	})
	build.Set(1)
	registry := prometheus.NewRegistry()
	registry.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}

// countSharedReads shows how many lists and inventories were answered by the query of another request, if the storage shares
// queries.
func countSharedReads(registry *prometheus.Registry, shared func() int64) {
	if shared == nil {
		shared = func() int64 { return 0 }
	}
	registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "petstore_shared_reads_total",
		Help: "Lists and inventories that shared the query of another one.",
	}, func() float64 { return float64(shared()) }))
}

// countDroppedLines shows how many lines the log lost because nobody read it.
func countDroppedLines(registry *prometheus.Registry, queue *logQueue) {
	registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "petstore_log_lines_dropped_total",
		Help: "Lines of the log that were dropped because nobody read it.",
	}, func() float64 { return float64(queue.Dropped()) }))
}

// showCertificate shows until when the certificate is valid, if there is one.
func showCertificate(registry *prometheus.Registry, cert *server.Certificate, log *slog.Logger) {
	if cert == nil {
		return
	}
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "petstore_certificate_expiry_timestamp_seconds",
		Help: "When the certificate in use expires, in seconds since 1970.",
	}, func() float64 { return float64(cert.Expires(log).Unix()) }))
}
