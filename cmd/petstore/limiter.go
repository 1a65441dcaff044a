package main

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"petstore/internal/petstore"
	"petstore/internal/ratelimit"
)

// newLimiter makes the limiter: it counts requests in this process, or in Redis for all replicas together.
func newLimiter(redis string, environment petstore.Environment, registry *prometheus.Registry, log *slog.Logger) (limiter petstore.Limiter, stop func(), err error) {
	degraded := func() float64 { return 0 }
	if redis == "" {
		limiter, stop = ratelimit.NewMemory(time.Now), func() {}
	} else {
		fallback, err := ratelimit.NewFallback(redis, environment, log, timeDecisions(registry))
		if err != nil {
			return nil, nil, wrongUsage("--redis: %w", err)
		}
		limiter, stop = fallback, fallback.Close
		degraded = func() float64 {
			if fallback.Degraded() {
				return 1
			}
			return 0
		}
	}
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "petstore_limiter_degraded",
		Help: "1 while Redis is out of reach and this replica counts requests by itself.",
	}, degraded))
	return limiter, stop, nil
}

// timeDecisions measures how long a decision takes, whether Redis or this process makes it.
func timeDecisions(registry *prometheus.Registry) ratelimit.Observe {
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "petstore_limiter_duration_seconds",
		Help:    "Time that a decision of the limiter took, by who decided: redis, or process while Redis does not answer.",
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

func (c *serveCmd) describeLimiter() string {
	if c.Redis == "" {
		return "in this process"
	}
	return "redis"
}

func (c *serveCmd) describeDatabase() string {
	kind, path, _ := c.database()
	if kind == "sqlite" {
		return "sqlite:" + path
	}
	return kind
}
