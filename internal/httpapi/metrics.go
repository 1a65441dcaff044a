package httpapi

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"petstore/internal/petstore"
)

// metrics is what the edge counts. Its labels take a bounded number of values.
type metrics struct {
	requests      *prometheus.CounterVec
	duration      *prometheus.HistogramVec
	inFlight      prometheus.Gauge
	created       prometheus.Counter
	storeErrors   prometheus.Counter
	deprecated    prometheus.Counter
	answersReused prometheus.Counter
	keysCached    prometheus.Counter
	keysLookedUp  prometheus.Counter
	keysGarbage   prometheus.Counter
	decisions     [3]prometheus.Counter
	bans          prometheus.Counter

	mu    sync.RWMutex
	kinds map[kind]kindMetrics
}

func newMetrics(reg prometheus.Registerer) *metrics {
	f := promauto.With(reg)
	keys := f.NewCounterVec(prometheus.CounterOpts{Name: "petstore_key_checks_total", Help: "API keys checked, by how: from the cache, by a look-up, or refused by their form alone."}, []string{"how"})
	decisions := f.NewCounterVec(prometheus.CounterOpts{Name: "petstore_limiter_decisions_total", Help: "Decisions of the rate limiter."}, []string{"outcome"})
	return &metrics{
		requests:      f.NewCounterVec(prometheus.CounterOpts{Name: "petstore_requests_total", Help: "Requests answered, by route and status."}, []string{"route", "status"}),
		duration:      f.NewHistogramVec(prometheus.HistogramOpts{Name: "petstore_request_duration_seconds", Help: "Time from a request's headers to its answer.", Buckets: []float64{.0001, .0003, .001, .003, .01, .03, .1, .3, 1, 3, 10}}, []string{"route"}),
		inFlight:      f.NewGauge(prometheus.GaugeOpts{Name: "petstore_requests_in_flight", Help: "Requests being worked on."}),
		created:       f.NewCounter(prometheus.CounterOpts{Name: "petstore_pets_created_total", Help: "Animals stored."}),
		storeErrors:   f.NewCounter(prometheus.CounterOpts{Name: "petstore_unavailable_total", Help: "Requests refused because the store could not do its work or there was too much of it."}),
		deprecated:    f.NewCounter(prometheus.CounterOpts{Name: "petstore_deprecated_calls_total", Help: "Calls of a deprecated operation; the log names their keys."}),
		answersReused: f.NewCounter(prometheus.CounterOpts{Name: "petstore_answers_reused_total", Help: "Reads answered with bytes encoded before."}),
		keysCached:    keys.WithLabelValues("cached"),
		keysLookedUp:  keys.WithLabelValues("looked_up"),
		keysGarbage:   keys.WithLabelValues("garbage"),
		decisions: [3]prometheus.Counter{
			petstore.Allowed: decisions.WithLabelValues("allowed"),
			petstore.Limited: decisions.WithLabelValues("limited"),
			petstore.Banned:  decisions.WithLabelValues("banned"),
		},
		kinds: make(map[kind]kindMetrics),
		bans:  f.NewCounter(prometheus.CounterOpts{Name: "petstore_bans_total", Help: "Bans given."}),
	}
}

// kind is what answers are counted by.
type kind struct {
	route  string
	status int
}

type kindMetrics struct {
	requests prometheus.Counter
	duration prometheus.Observer
}

// of finds what counts a kind of answers; the vectors would write and hash its labels for every one.
func (m *metrics) of(k kind) kindMetrics {
	m.mu.RLock()
	found, ok := m.kinds[k]
	m.mu.RUnlock()
	if ok {
		return found
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	made := kindMetrics{m.requests.WithLabelValues(k.route, strconv.Itoa(k.status)), m.duration.WithLabelValues(k.route)}
	m.kinds[k] = made
	return made
}

func (m *metrics) answered(x *exchange, elapsed time.Duration) {
	counted := m.of(kind{x.route(), x.status})
	counted.requests.Inc()
	counted.duration.Observe(elapsed.Seconds())
	if x.status == 503 {
		m.storeErrors.Inc()
	}
	if x.operation != nil && x.operation.deprecated {
		m.deprecated.Inc()
	}
}

func (m *metrics) decided(outcome petstore.Outcome) { m.decisions[outcome].Inc() }
