// Package load sends requests to a server, either as fast as the server answers or at a fixed rate. The load itself is
// cheap: one thread waits for all connections, the bytes of each request are ready in advance, and the load reads only the
// status and the length of an answer.
package load

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Job describes one measurement.
type Job struct {
	Address          string
	Connections      int
	Requests         []Request
	Warmup, Duration time.Duration
	Seed             uint64
	// Rate is how many requests are due per second, at even intervals, whether or not answers come. If every connection is
	// busy when a request is due, the load sends the request late, but counts its latency from the time when it was due. If
	// Rate is 0, each connection sends its next request as soon as it has an answer.
	Rate float64
	// Every is the interval between results. If Every is 0, the load gives one result at the end.
	Every time.Duration
	// Server and Stores are the processes whose processor time is measured, each with its children. Server is the server,
	// and Stores are the services that the server uses.
	Server, Stores []int
}

// Result is the outcome of a measurement, without its warm-up.
type Result struct {
	Requests            int64
	Failed              int64  `json:",omitempty"`
	Failure             string `json:",omitempty"` // the first failure
	Elapsed             time.Duration
	P50, P99, P999, Max time.Duration
	// The processor time of the server, of the load itself, of all stores together, and of each store.
	ServerCPU, LoadCPU time.Duration
	StoresCPU          time.Duration   `json:",omitempty"`
	EachStore          []time.Duration `json:",omitempty"`
}

// Throughput returns the number of requests per second.
func (r Result) Throughput() float64 { return float64(r.Requests) / r.Elapsed.Seconds() }

// PerRequest returns d divided by the number of requests, in µs.
func (r Result) PerRequest(d time.Duration) float64 {
	return float64(d) / float64(time.Microsecond) / float64(max(1, r.Requests))
}

// meter counts the answers since the last result.
type meter struct {
	latencies *hdrhistogram.Histogram
	failed    int64  // the number of failures, warm-up included
	failure   string // the first failure
}

func (m *meter) add(latency time.Duration) {
	_ = m.latencies.RecordValue(int64(min(latency, time.Hour)))
}

func (m *meter) fail(err error) {
	if m.failed++; m.failure == "" {
		m.failure = err.Error()
	}
}

// result returns the measurements since the last result. The arguments from and to are the processor times at the beginning
// and at the end of that time.
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

// cpuTimes returns the processor time of the server, of the load, and of each store.
func (j Job) cpuTimes() []time.Duration {
	times := []time.Duration{cpu(j.Server...), cpu(os.Getpid())}
	for _, pid := range j.Stores {
		times = append(times, cpu(pid))
	}
	return times
}

// tick is the unit in which Linux reports processor time to programs.
const tick = 10 * time.Millisecond

// cpu returns the processor time that processes and their children have used. It includes children that have ended.
func cpu(pids ...int) (sum time.Duration) {
	for _, pid := range withChildren(pids) {
		stat := procFile(pid, "stat")
		stat = stat[strings.LastIndex(stat, ")")+1:] // skips the name of the process, which may contain any character
		if fields := strings.Fields(stat); len(fields) > 15 {
			for _, ticks := range fields[11:15] { // the user and system time of the process and of its children
				sum += time.Duration(integer(ticks)) * tick
			}
		}
	}
	return sum
}

// Resident returns the resident memory of processes and their children in bytes. A page that several processes share counts
// for each of them.
func Resident(pids ...int) (sum int64) {
	for _, pid := range withChildren(pids) {
		if fields := strings.Fields(procFile(pid, "statm")); len(fields) > 1 {
			sum += int64(integer(fields[1]) * os.Getpagesize())
		}
	}
	return sum
}

// withChildren returns processes together with all their descendants.
func withChildren(pids []int) (all []int) {
	for _, pid := range pids {
		all = append(all, pid)
		tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		for _, task := range tasks {
			for _, child := range strings.Fields(procFile(pid, "task/"+task.Name()+"/children")) {
				all = append(all, withChildren([]int{integer(child)})...)
			}
		}
	}
	return all
}

// procFile returns the content of a file in /proc about a process. It returns "" if the process has ended.
func procFile(pid int, name string) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	return string(text)
}

func integer(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}
