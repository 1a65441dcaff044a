package service

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"petstore/internal/ratelimit"
)

// registerDegraded registers the metric that says whether Redis is out of reach.
func registerDegraded(registry *prometheus.Registry, degraded func() bool) {
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "petstore_limiter_degraded",
		Help: "1 while Redis is out of reach and this replica counts requests by itself.",
	}, func() float64 {
		if degraded() {
			return 1
		}
		return 0
	}))
}

// observeDecisions registers the metric for the duration of the limiter's decisions. It returns the function that records
// one decision.
func observeDecisions(registry *prometheus.Registry) ratelimit.Observe {
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "petstore_limiter_duration_seconds",
		Help:    "Time that a decision of the limiter took, by what decided: redis, or process while Redis does not answer.",
		Buckets: prometheus.ExponentialBuckets(0.0001, 2, 13),
	}, []string{"by"})
	registry.MustRegister(durations)
	redis, process := durations.WithLabelValues("redis"), durations.WithLabelValues("process")
	return func(byRedis bool, took time.Duration) {
		if byRedis {
			redis.Observe(took.Seconds())
		} else {
			process.Observe(took.Seconds())
		}
	}
}
