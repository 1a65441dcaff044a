// Package load asks a server for as much as it can answer, or at a fixed rate, and costs little itself: one thread waits
// for all connections, requests are ready-made bytes, and of an answer only its status and length are read.
package load

import "time"

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
