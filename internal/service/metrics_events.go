package service

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"petstore/internal/petstore"
)

// countDeliveries registers the metric for attempts to deliver to webhooks, and returns the function that counts one.
func countDeliveries(registry *prometheus.Registry) func(outcome string) {
	deliveries := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "petstore_webhook_deliveries_total",
		Help: "Requests to the receivers of webhooks by outcome: delivered, failed, or skipped if the event was given up.",
	}, []string{"outcome"})
	registry.MustRegister(deliveries)
	for _, outcome := range []string{"delivered", "failed", "skipped"} {
		deliveries.WithLabelValues(outcome)
	}
	return func(outcome string) { deliveries.WithLabelValues(outcome).Inc() }
}

// feedCollector reads the state of the feed and of the webhooks at each scrape. It leaves out what it cannot read in time.
type feedCollector struct{ storage petstore.Database }

var (
	eventsDesc        = prometheus.NewDesc("petstore_events_total", "Events that have a place in the feed, including those that are no longer kept.", nil, nil)
	feedBytesDesc     = prometheus.NewDesc("petstore_feed_bytes", "Bytes of the events that are kept.", nil, nil)
	unnumberedDesc    = prometheus.NewDesc("petstore_feed_unnumbered", "Changes that have no place in the feed yet.", nil, nil)
	unnumberedForDesc = prometheus.NewDesc("petstore_feed_unnumbered_seconds", "Age of the oldest change that has no place in the feed yet.", nil, nil)
	webhooksDesc      = prometheus.NewDesc("petstore_webhooks", "Webhooks by status, and by the reason why the server disabled them.", []string{"status", "reason"}, nil)
	behindDesc        = prometheus.NewDesc("petstore_webhook_behind", "Events that are still to be delivered to a webhook.", []string{"webhook"}, nil)
)

// Describe implements prometheus.Collector.
func (feedCollector) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{eventsDesc, feedBytesDesc, unnumberedDesc, unnumberedForDesc, webhooksDesc, behindDesc} {
		descs <- desc
	}
}

// Collect implements prometheus.Collector.
func (c feedCollector) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), contentTimeout)
	defer cancel()
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	if stats, err := c.storage.FeedStats(ctx); err == nil {
		metrics <- prometheus.MustNewConstMetric(eventsDesc, prometheus.CounterValue, float64(stats.Last))
		gauge(feedBytesDesc, float64(stats.Bytes))
		gauge(unnumberedDesc, float64(stats.Unnumbered))
		age := 0.0
		if !stats.OldestUnnumbered.IsZero() {
			age = max(0, time.Since(stats.OldestUnnumbered).Seconds())
		}
		gauge(unnumberedForDesc, age)
	}
	if webhooks, err := c.storage.ListWebhooks(ctx, petstore.WebhookQuery{Limit: petstore.MaxWebhooks}); err == nil {
		type state struct {
			status petstore.WebhookStatus
			reason petstore.WebhookReason
		}
		states := map[state]int{{petstore.WebhookPending, ""}: 0, {petstore.WebhookActive, ""}: 0, {petstore.WebhookFailing, ""}: 0, {petstore.WebhookDisabled, ""}: 0}
		for _, w := range webhooks {
			states[state{w.Status(), w.Reason}]++
			gauge(behindDesc, float64(w.Behind), w.ID)
		}
		for s, n := range states {
			gauge(webhooksDesc, float64(n), string(s.status), string(s.reason))
		}
	}
}
