package service

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"petstore/internal/database"
	"petstore/internal/petstore"
)

// watchStorage registers the metrics about the work of the storage, and returns the functions that record this work.
func watchStorage(registry *prometheus.Registry) database.Watch {
	f := promauto.With(registry)
	sizes := f.NewHistogram(prometheus.HistogramOpts{
		Name:    "petstore_batch_size",
		Help:    "Changes in one commit; on PostgreSQL, animals that one statement creates.",
		Buckets: prometheus.ExponentialBuckets(1, 2, 10),
	})
	orders := f.NewCounterVec(prometheus.CounterOpts{
		Name: "petstore_orders_total",
		Help: "Orders that were placed, completed, cancelled or expired.",
	}, []string{"event"})
	events := [petstore.Expired + 1]prometheus.Counter{petstore.Open: orders.WithLabelValues("placed")}
	for _, status := range []petstore.OrderStatus{petstore.Completed, petstore.Cancelled, petstore.Expired} {
		events[status] = orders.WithLabelValues(status.String())
	}
	return database.Watch{
		Watch: petstore.Watch{
			Called:  timeCalls(f),
			Ordered: func(status petstore.OrderStatus, n int) { events[status].Add(float64(n)) },
		},
		Batched: func(creates int) { sizes.Observe(float64(creates)) },
	}
}

// timeCalls registers the metric for the duration of database calls, and returns the function that records a call. The
// metric counts a refusal, such as NotFound, as ok.
func timeCalls(f promauto.Factory) func(writes bool, took time.Duration, err error) {
	durations := f.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "petstore_store_duration_seconds",
		Help:    "Time that a database call took, including its wait for a connection. A write is one transaction.",
		Buckets: []float64{.00003, .0001, .0003, .001, .003, .01, .03, .1, .3, 1, 3, 10},
	}, []string{"kind", "outcome"})
	read, write := durations.WithLabelValues("read", "ok"), durations.WithLabelValues("write", "ok")
	readFailed, writeFailed := durations.WithLabelValues("read", "failed"), durations.WithLabelValues("write", "failed")
	return func(writes bool, took time.Duration, err error) {
		counted := read
		switch failed := isStorageFailure(err); {
		case writes && failed:
			counted = writeFailed
		case writes:
			counted = write
		case failed:
			counted = readFailed
		}
		counted.Observe(took.Seconds())
	}
}

func isStorageFailure(err error) bool {
	if err == nil {
		return false
	}
	var refused *petstore.Error
	return !errors.As(err, &refused) || refused.Code == petstore.Unavailable || refused.Code == petstore.OutcomeUnknown
}

// registerStorage registers the metrics that read their values from the storage at each scrape.
func registerStorage(registry *prometheus.Registry, storage *database.Storage) {
	f := promauto.With(registry)
	registerConnections(f, storage)
	if storage.WALSize != nil {
		f.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "petstore_wal_bytes",
			Help: "Size of SQLite's write-ahead log.",
		}, func() float64 { return float64(storage.WALSize()) })
	}
	if storage.Memory != nil {
		registerMemory(f, storage.Memory)
	}
	registry.MustRegister(contentCollector{storage})
}

func registerMemory(f promauto.Factory, memory func() petstore.Memory) {
	const reads, emptied = "petstore_memory_reads_total", "petstore_memory_emptied_total"
	const readsHelp = "Pages and animals that the memory answered, or that had to be read from the database."
	f.NewCounterFunc(prometheus.CounterOpts{Name: reads, Help: readsHelp, ConstLabels: prometheus.Labels{"from": "memory"}},
		func() float64 { return float64(memory().Answered) })
	f.NewCounterFunc(prometheus.CounterOpts{Name: reads, Help: readsHelp, ConstLabels: prometheus.Labels{"from": "database"}},
		func() float64 { return float64(memory().Asked) })
	for reason := range memory().Emptied {
		f.NewCounterFunc(prometheus.CounterOpts{
			Name: emptied, Help: "How often the animals in memory were given up, by reason.", ConstLabels: prometheus.Labels{"reason": reason},
		}, func() float64 { return float64(memory().Emptied[reason]) })
	}
}

func registerConnections(f promauto.Factory, storage *database.Storage) {
	const name, help = "petstore_store_connections", "Connections to the database by state: busy or idle. On SQLite, only reading connections."
	f.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: prometheus.Labels{"state": "busy"}},
		func() float64 { return float64(storage.Connections().Busy) })
	f.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: prometheus.Labels{"state": "idle"}},
		func() float64 { return float64(storage.Connections().Idle) })
	f.NewGaugeFunc(prometheus.GaugeOpts{Name: "petstore_store_connections_limit", Help: "Maximum number of connections to the database."},
		func() float64 { return float64(storage.Connections().Limit) })
	f.NewCounterFunc(prometheus.CounterOpts{Name: "petstore_store_connection_waits_total", Help: "Calls that had to wait for a connection to the database."},
		func() float64 { return float64(storage.Connections().Waits) })
}

// contentCollector counts the content of the storage at each scrape. It leaves out a number that it cannot read in time.
type contentCollector struct{ storage *database.Storage }

const contentTimeout = 2 * time.Second

var (
	petsDesc       = prometheus.NewDesc("petstore_pets", "Animals by status.", []string{"status"}, nil)
	openOrdersDesc = prometheus.NewDesc("petstore_open_orders", "Orders that hold an animal.", nil, nil)
	photoBytesDesc = prometheus.NewDesc("petstore_photos_bytes", "Bytes of the files of all photos.", nil, nil)
	lastBackupDesc = prometheus.NewDesc("petstore_last_backup_timestamp_seconds", "When petstore backup last ran, in seconds since 1970.", nil, nil)
)

// Describe implements prometheus.Collector.
func (contentCollector) Describe(descs chan<- *prometheus.Desc) {
	descs <- petsDesc
	descs <- openOrdersDesc
	descs <- photoBytesDesc
	descs <- lastBackupDesc
}

// Collect implements prometheus.Collector.
func (c contentCollector) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), contentTimeout)
	defer cancel()
	gauge := func(desc *prometheus.Desc, value int64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value), labels...)
	}
	if inventory, err := c.storage.Inventory(ctx); err == nil {
		gauge(petsDesc, inventory.Available, petstore.Available.String())
		gauge(petsDesc, inventory.Pending, petstore.Pending.String())
		gauge(petsDesc, inventory.Sold, petstore.Sold.String())
	}
	if n, err := c.storage.OpenOrders(ctx); err == nil {
		gauge(openOrdersDesc, n)
	}
	if n, err := c.storage.PhotoBytes(ctx); err == nil {
		gauge(photoBytesDesc, n)
	}
	if c.storage.LastBackup != nil {
		if at, err := c.storage.LastBackup(ctx); err == nil && !at.IsZero() {
			gauge(lastBackupDesc, at.Unix())
		}
	}
}
