package service

import (
	"log/slog"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"petstore/internal/server"
)

// newRegistry returns a registry with the metrics of the process. Other parts of the server add their own metrics.
func newRegistry(version string) *prometheus.Registry {
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "petstore_build_info",
		Help:        "Always 1, with the running version as a label.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()},
	})
	build.Set(1)
	registry := prometheus.NewRegistry()
	registry.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}

// registerSharedReads registers the number of lists and inventories that the query of another request answered. The number
// stays 0 if the storage does not share queries.
func registerSharedReads(registry *prometheus.Registry, shared func() int64) {
	if shared == nil {
		shared = func() int64 { return 0 }
	}
	registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "petstore_shared_reads_total",
		Help: "Lists and inventories that were answered by the query of another request.",
	}, func() float64 { return float64(shared()) }))
}

// registerDroppedLines registers the number of log lines that were dropped because nobody read the log.
func registerDroppedLines(registry *prometheus.Registry, queue *logQueue) {
	registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "petstore_log_lines_dropped_total",
		Help: "Log lines that were dropped because nobody read the log.",
	}, func() float64 { return float64(queue.Dropped()) }))
}

// registerCertificate registers the metric for the expiry of the certificate, if there is a certificate.
func registerCertificate(registry *prometheus.Registry, cert *server.Certificate, log *slog.Logger) {
	if cert == nil {
		return
	}
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "petstore_certificate_expiry_timestamp_seconds",
		Help: "When the certificate in use expires, in seconds since 1970.",
	}, func() float64 { return float64(cert.Expires(log).Unix()) }))
}
