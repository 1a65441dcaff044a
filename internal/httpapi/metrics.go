package httpapi

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"petstore/internal/petstore"
)

// metrics holds the metrics of this package. Their labels have a bounded number of values.
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

	mu      sync.RWMutex
	byRoute map[routeStatus]answerMetrics
}

func newMetrics(reg prometheus.Registerer) *metrics {
	f := promauto.With(reg)
	keys := f.NewCounterVec(prometheus.CounterOpts{Name: "petstore_key_checks_total", Help: "API keys checked, by how: in the cache, by a look-up, or by their form alone."}, []string{"how"})
	decisions := f.NewCounterVec(prometheus.CounterOpts{Name: "petstore_limiter_decisions_total", Help: "Decisions of the rate limiter."}, []string{"outcome"})
	m := &metrics{
		requests:      f.NewCounterVec(prometheus.CounterOpts{Name: "petstore_requests_total", Help: "Requests answered, by route and status."}, []string{"route", "status"}),
		duration:      f.NewHistogramVec(prometheus.HistogramOpts{Name: "petstore_request_duration_seconds", Help: "Time from a request's headers to its answer.", Buckets: []float64{.0001, .0003, .001, .003, .01, .03, .1, .3, 1, 3, 10}}, []string{"route"}),
		inFlight:      f.NewGauge(prometheus.GaugeOpts{Name: "petstore_requests_in_flight", Help: "Requests that have arrived but are not answered yet, including those of slow clients."}),
		created:       f.NewCounter(prometheus.CounterOpts{Name: "petstore_pets_created_total", Help: "Animals stored."}),
		unavailable:   f.NewCounter(prometheus.CounterOpts{Name: "petstore_unavailable_total", Help: "Requests refused because the service could not do its work or had too much to do."}),
		deprecated:    f.NewCounter(prometheus.CounterOpts{Name: "petstore_deprecated_calls_total", Help: "Calls to a deprecated operation; the log has their keys."}),
		answersReused: f.NewCounter(prometheus.CounterOpts{Name: "petstore_answers_reused_total", Help: "Pages answered with bytes that were already encoded."}),
		keysCached:    keys.WithLabelValues("cached"),
		keysLookedUp:  keys.WithLabelValues("looked_up"),
		keysGarbage:   keys.WithLabelValues("garbage"),
		decisions: [3]prometheus.Counter{
			petstore.Allowed: decisions.WithLabelValues("allowed"),
			petstore.Limited: decisions.WithLabelValues("limited"),
			petstore.Banned:  decisions.WithLabelValues("banned"),
		},
		byRoute: make(map[routeStatus]answerMetrics),
		bans:    f.NewCounter(prometheus.CounterOpts{Name: "petstore_bans_total", Help: "Bans given."}),
	}
	routes := []string{pageRoute, photoRoute, options.name, otherMethod, unknownPath}
	for _, op := range operations {
		routes = append(routes, op.name)
	}
	for _, route := range routes {
		m.requests.WithLabelValues(route, "500") // begins at 0, because an alert misses an increase from nothing to 1
	}
	return m
}

// registerLoad registers the metrics that show how near the API is to refusing work.
func (a *API) registerLoad() {
	for _, g := range []struct {
		name, help string
		value      func() float64
	}{
		{"petstore_working_slots", "Requests that the server is working on.", func() float64 { return float64(a.working.Load()) }},
		{"petstore_working_slots_limit", "Requests that the server may work on at once; it refuses more.", func() float64 { return float64(a.MaxWorking) }},
		{"petstore_body_bytes", "Bytes of the body budget in use.", a.bodies.inUse},
		{"petstore_body_bytes_limit", "The body budget, in bytes; one owner may take an eighth of it.", func() float64 { return float64(a.BodyBudget) }},
		{"petstore_event_streams", "Streams of events that are open.", a.streams.count},
		{"petstore_event_streams_limit", "Streams of events that may be open at once.", func() float64 { return float64(a.MaxStreams) }},
		{"petstore_unread_answer_bytes", "Bytes of long answers that are being sent.", a.unread.budget.inUse},
	} {
		promauto.With(a.Metrics).NewGaugeFunc(prometheus.GaugeOpts{Name: g.name, Help: g.help}, g.value)
	}
}

// routeStatus is the pair of labels by which the metrics count answers.
type routeStatus struct {
	route  string
	status int
}

type answerMetrics struct {
	requests prometheus.Counter
	duration prometheus.Observer
}

// answersOf returns the metrics for a route and a status. It caches the metrics, because Prometheus would format and hash
// the labels for each look-up.
func (m *metrics) answersOf(k routeStatus) answerMetrics {
	m.mu.RLock()
	found, ok := m.byRoute[k]
	m.mu.RUnlock()
	if ok {
		return found
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	made := answerMetrics{m.requests.WithLabelValues(k.route, strconv.Itoa(k.status)), m.duration.WithLabelValues(k.route)}
	m.byRoute[k] = made
	return made
}

func (m *metrics) countAnswer(x *exchange, elapsed time.Duration) {
	if x.stream != nil {
		elapsed = x.stream.began
	}
	counted := m.answersOf(routeStatus{x.route(), x.status})
	counted.requests.Inc()
	counted.duration.Observe(elapsed.Seconds())
	if x.status == 503 && (x.operation == nil || !x.operation.probe) {
		m.unavailable.Inc()
	}
	if x.operation != nil && x.operation.deprecated {
		m.deprecated.Inc()
	}
}

func (m *metrics) countDecision(outcome petstore.Outcome) { m.decisions[outcome].Inc() }
