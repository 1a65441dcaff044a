// Package load asks a server for as much as it can answer, or at a fixed rate, and costs little itself: one thread waits
// for all connections, requests are ready-made bytes, and of an answer only its status and length are read.
package load

import (
	"os"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Job is one measurement.
type Job struct {
	Address     string
	Connections int
	Requests    []Request
	Warmup      time.Duration
	Duration    time.Duration
	Seed        uint64
	// Rate is how many requests are due in a second, at even distances, whether or not answers come. A request that is due
	// while every connection waits is sent late, and its latency counts from when it was due. 0 asks anew on every
	// connection as soon as it has its answer.
	Rate float64
	// Every is how often a result is given of what was measured since the last one; 0 gives one, at the end.
	Every time.Duration
	// Processes are those whose processor time is measured, each with its children: the server, and what it works with.
	Server, Stores []int
}

// Result is what was measured after the warm-up.
type Result struct {
	Requests int64         `json:"requests"`
	Failed   int64         `json:"failed,omitempty"`
	Failure  string        `json:"failure,omitempty"` // the first of them
	Elapsed  time.Duration `json:"elapsed"`
	P50      time.Duration `json:"p50"`
	P99      time.Duration `json:"p99"`
	P999     time.Duration `json:"p999"`
	Max      time.Duration `json:"max"`
	// Processor time of the server, of all stores and of each, and of the load itself.
	ServerCPU time.Duration   `json:"serverCpu"`
	StoresCPU time.Duration   `json:"storesCpu,omitempty"`
	EachStore []time.Duration `json:"eachStore,omitempty"`
	LoadCPU   time.Duration   `json:"loadCpu"`
}

// Throughput is in requests a second.
func (r Result) Throughput() float64 { return float64(r.Requests) / r.Elapsed.Seconds() }

// PerRequest is a request's part of a time, in µs.
func (r Result) PerRequest(d time.Duration) float64 {
	return float64(d) / float64(time.Microsecond) / float64(max(1, r.Requests))
}

// meter counts answers and processor time, of the whole and of the interval that runs.
type meter struct {
	job         Job
	all, recent *hdrhistogram.Histogram
	first, last reading
	failed      int64 // in the warm-up too: no failure is expected ever
	failure     string
}

// reading is what the processes have used, and how many requests had failed, at a time.
type reading struct {
	at          time.Time
	server, own time.Duration
	stores      []time.Duration
	failed      int64
}

func newMeter(job Job) *meter {
	histogram := func() *hdrhistogram.Histogram { return hdrhistogram.New(1000, int64(time.Hour), 3) }
	return &meter{job: job, all: histogram(), recent: histogram()}
}

func (m *meter) read(at time.Time) reading {
	r := reading{at: at, server: cpu(m.job.Server...), own: cpu(os.Getpid()), failed: m.failed}
	for _, pid := range m.job.Stores {
		r.stores = append(r.stores, cpu(pid))
	}
	return r
}

func (m *meter) start(at time.Time) {
	m.first = m.read(at)
	m.first.failed = 0
	m.last = m.first
}

func (m *meter) add(latency time.Duration) { _ = m.recent.RecordValue(int64(min(latency, time.Hour))) }

func (m *meter) fail(err error) {
	if m.failed++; m.failure == "" {
		m.failure = err.Error()
	}
}

// interval is the result since the last one.
func (m *meter) interval(at time.Time) Result {
	now := m.read(at)
	r := m.result(m.recent, m.last, now)
	m.all.Merge(m.recent)
	m.recent.Reset()
	m.last = now
	return r
}

// whole is the result of all answers, those after the last interval too, with the processor time up to that one.
func (m *meter) whole() Result {
	m.all.Merge(m.recent)
	m.last.failed = m.failed
	return m.result(m.all, m.first, m.last)
}

func (m *meter) result(h *hdrhistogram.Histogram, from, to reading) Result {
	quantile := func(q float64) time.Duration { return time.Duration(h.ValueAtQuantile(q)) }
	r := Result{
		Requests: h.TotalCount(), Failed: to.failed - from.failed, Elapsed: to.at.Sub(from.at),
		P50: quantile(50), P99: quantile(99), P999: quantile(99.9), Max: time.Duration(h.Max()),
		ServerCPU: to.server - from.server, LoadCPU: to.own - from.own,
	}
	for i := range to.stores {
		r.EachStore = append(r.EachStore, to.stores[i]-from.stores[i])
		r.StoresCPU += r.EachStore[i]
	}
	if r.Failed > 0 {
		r.Failure = m.failure
	}
	return r
}
