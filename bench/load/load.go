// Package load asks a server for as much as it can answer, or at a fixed rate, and costs little itself: one thread waits
// for all connections, requests are ready-made bytes, and of an answer only its status and length are read.
package load

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Job is one measurement.
type Job struct {
	Address          string
	Connections      int
	Requests         []Request
	Warmup, Duration time.Duration
	Seed             uint64
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
	Requests            int64
	Failed              int64  `json:",omitempty"`
	Failure             string `json:",omitempty"` // the first of them
	Elapsed             time.Duration
	P50, P99, P999, Max time.Duration
	// Processor time of the server, of the load itself, and of all stores and each.
	ServerCPU, LoadCPU time.Duration
	StoresCPU          time.Duration   `json:",omitempty"`
	EachStore          []time.Duration `json:",omitempty"`
}

// Throughput is in requests a second.
func (r Result) Throughput() float64 { return float64(r.Requests) / r.Elapsed.Seconds() }

// PerRequest is a request's part of a time, in µs.
func (r Result) PerRequest(d time.Duration) float64 {
	return float64(d) / float64(time.Microsecond) / float64(max(1, r.Requests))
}

// meter counts the answers since the last result.
type meter struct {
	latencies *hdrhistogram.Histogram
	failed    int64  // in the warm-up too: no failure is expected ever
	failure   string // the first of them
}

func (m *meter) add(latency time.Duration) {
	_ = m.latencies.RecordValue(int64(min(latency, time.Hour)))
}

func (m *meter) fail(err error) {
	if m.failed++; m.failure == "" {
		m.failure = err.Error()
	}
}

// result is what was measured since the last one. In this time the processes have used from one amount to another.
func (m *meter) result(elapsed time.Duration, from, to []time.Duration) Result {
	quantile := func(q float64) time.Duration { return time.Duration(m.latencies.ValueAtQuantile(q)) }
	r := Result{
		Requests: m.latencies.TotalCount(), Failed: m.failed, Failure: m.failure, Elapsed: elapsed,
		P50: quantile(50), P99: quantile(99), P999: quantile(99.9), Max: time.Duration(m.latencies.Max()),
		ServerCPU: to[0] - from[0], LoadCPU: to[1] - from[1],
	}
	for i := 2; i < len(to); i++ {
		r.EachStore = append(r.EachStore, to[i]-from[i])
		r.StoresCPU += to[i] - from[i]
	}
	m.latencies.Reset()
	m.failed, m.failure = 0, ""
	return r
}

// used is the processor time of the server, of the load, and of each store.
func (j Job) used() []time.Duration {
	times := []time.Duration{cpu(j.Server...), cpu(os.Getpid())}
	for _, pid := range j.Stores {
		times = append(times, cpu(pid))
	}
	return times
}

// tick is the unit of the kernel's accounts; Linux shows every program the same.
const tick = 10 * time.Millisecond

// cpu is the processor time that processes and their children have used, those that have ended included.
func cpu(pids ...int) (sum time.Duration) {
	for _, pid := range family(pids) {
		stat := table(pid, "stat")
		stat = stat[strings.LastIndex(stat, ")")+1:] // past the name, which may contain anything
		if fields := strings.Fields(stat); len(fields) > 15 {
			for _, ticks := range fields[11:15] { // user and system time, its own and its children's
				sum += time.Duration(integer(ticks)) * tick
			}
		}
	}
	return sum
}

// Resident is the memory that processes and their children hold, in bytes. Pages that several share count for each.
func Resident(pids ...int) (sum int64) {
	for _, pid := range family(pids) {
		if fields := strings.Fields(table(pid, "statm")); len(fields) > 1 {
			sum += int64(integer(fields[1]) * os.Getpagesize())
		}
	}
	return sum
}

// family are processes with their children, and theirs.
func family(pids []int) (all []int) {
	for _, pid := range pids {
		all = append(all, pid)
		tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		for _, task := range tasks {
			for _, child := range strings.Fields(table(pid, "task/"+task.Name()+"/children")) {
				all = append(all, family([]int{integer(child)})...)
			}
		}
	}
	return all
}

// table is one of the kernel's about a process, empty if that has ended.
func table(pid int, name string) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	return string(text)
}

func integer(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}
