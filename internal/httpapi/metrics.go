package httpapi

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"petstore/internal/petstore"
)

// metrics are the metrics of the HTTP edge. Their labels take a bounded number of values.
type metrics struct {
	requests      *prometheus.CounterVec
	duration      *prometheus.HistogramVec
	inFlight      prometheus.Gauge
	created       prometheus.Counter
	unavailable   prometheus.Counter
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
	m := &metrics{
		requests:      f.NewCounterVec(prometheus.CounterOpts{Name: "petstore_requests_total", Help: "Requests answered, by route and status."}, []string{"route", "status"}),
		duration:      f.NewHistogramVec(prometheus.HistogramOpts{Name: "petstore_request_duration_seconds", Help: "Time from a request's headers to its answer.", Buckets: []float64{.0001, .0003, .001, .003, .01, .03, .1, .3, 1, 3, 10}}, []string{"route"}),
		inFlight:      f.NewGauge(prometheus.GaugeOpts{Name: "petstore_requests_in_flight", Help: "Requests that have arrived and are not answered yet, slow clients' too."}),
		created:       f.NewCounter(prometheus.CounterOpts{Name: "petstore_pets_created_total", Help: "Animals stored."}),
		unavailable:   f.NewCounter(prometheus.CounterOpts{Name: "petstore_unavailable_total", Help: "Requests refused because the store could not do its work or there was too much of it."}),
		deprecated:    f.NewCounter(prometheus.CounterOpts{Name: "petstore_deprecated_calls_total", Help: "Calls of a deprecated operation; the log names their keys."}),
		answersReused: f.NewCounter(prometheus.CounterOpts{Name: "petstore_answers_reused_total", Help: "Pages answered with bytes encoded before."}),
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
	routes := []string{pageRoute, options.name, otherMethod, unknownPath}
	for _, op := range operations {
		routes = append(routes, op.name)
	}
	for _, route := range routes {
		m.requests.WithLabelValues(route, "500") // from 0 on: an alert does not see the increase of a counter that begins with 1
	}
	return m
}

// showLoad adds the metrics that show how close the API is to refusing work because there is too much of it.
func (a *API) showLoad() {
	for _, g := range []struct {
		name, help string
		value      func() float64
	}{
		{"petstore_working_slots", "Requests that work is being done for.", func() float64 { return float64(a.working.Load()) }},
		{"petstore_working_slots_limit", "Requests that work may be done for at once; more are refused.", func() float64 { return float64(a.MaxWorking) }},
		{"petstore_body_bytes", "What bodies take of their budget.", a.bodies.inUse},
		{"petstore_body_bytes_limit", "The budget of bodies; an owner may take an eighth of it.", func() float64 { return float64(a.BodyBudget) }},
		{"petstore_unread_answer_bytes", "Long answers that are being sent, in bytes.", a.outbox.budget.inUse},
	} {
		promauto.With(a.Metrics).NewGaugeFunc(prometheus.GaugeOpts{Name: g.name, Help: g.help}, g.value)
	}
}

// kind is a route and a status, by which answers are counted.
type kind struct {
	route  string
	status int
}

type kindMetrics struct {
	requests prometheus.Counter
	duration prometheus.Observer
}

// of returns the metrics of a kind of answers. It remembers them, because the vectors would write and hash the labels
// each time.
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
	if x.status == 503 && (x.operation == nil || !x.operation.probe) {
		m.unavailable.Inc()
	}
	if x.operation != nil && x.operation.deprecated {
		m.deprecated.Inc()
	}
}

func (m *metrics) decided(outcome petstore.Outcome) { m.decisions[outcome].Inc() }
