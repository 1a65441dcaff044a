package soak

import (
	"slices"
	"strings"
	"time"

	"petstore/bench/result"
)

// Metric is something that is watched.
type Metric struct {
	Name, Unit string
	of         func(Sample) float64
}

func (m Metric) title() string { return strings.TrimSuffix(m.Name+", "+m.Unit, ", ") }

func (m Metric) figures(samples []Sample) (f result.Figures) {
	for _, s := range samples {
		f = append(f, m.of(s))
	}
	return f
}

// Metrics are all of them, in the order of the table.
var Metrics = []Metric{
	{"p50", "ms", func(s Sample) float64 { return millis(s.P50) }},
	{"p99", "ms", func(s Sample) float64 { return millis(s.P99) }},
	{"p99.9", "ms", func(s Sample) float64 { return millis(s.P999) }},
	{"slowest", "ms", func(s Sample) float64 { return millis(s.Max) }},
	{"memory (RSS)", "MiB", func(s Sample) float64 { return float64(s.Resident) / (1 << 20) }},
	{"Go heap", "MiB", func(s Sample) float64 { return s.Heap / (1 << 20) }},
	{"goroutines", "", func(s Sample) float64 { return s.Goroutines }},
	{"open files", "", func(s Sample) float64 { return float64(s.Files) }},
	{"write-ahead log", "MiB", func(s Sample) float64 { return float64(s.Log) / (1 << 20) }},
	{"database", "MiB", func(s Sample) float64 { return float64(s.Database) / (1 << 20) }},
	{"animals", "", func(s Sample) float64 { return s.Animals }},
	{"CPU of petstore", "µs/request", func(s Sample) float64 { return perRequest(s, s.ServerCPU) }},
	{"CPU of the stores", "µs/request", func(s Sample) float64 { return perRequest(s, s.StoresCPU) }},
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func perRequest(s Sample, d time.Duration) float64 {
	return float64(d) / float64(time.Microsecond) / float64(max(1, s.Requests))
}

// settling is how much of the start is not judged: caches fill and pools open.
const settling = 10 * time.Minute

// notable is the share by which something must rise over the run to be said to grow.
const notable = 0.10

// Verdict tells what became of one metric after the settling.
type Verdict struct {
	Metric string  `json:"metric"`
	Unit   string  `json:"unit,omitempty"`
	First  float64 `json:"first"` // the median of the first quarter
	Last   float64 `json:"last"`  // the median of the last quarter
	Hourly float64 `json:"hourly"`
	Grows  bool    `json:"grows"`
}

// word is the verdict itself.
func (v Verdict) word() string {
	if v.Grows {
		return "**grows**"
	}
	return "does not grow"
}

// judged are the samples after the settling, which is a sixth of a short run.
func (r Run) judged() []Sample {
	if len(r.Samples) == 0 {
		return nil
	}
	from := min(settling, r.Samples[len(r.Samples)-1].At/6)
	at := slices.IndexFunc(r.Samples, func(s Sample) bool { return s.At > from })
	return r.Samples[at:]
}

// judge says of every metric whether it grows: its Theil–Sen line, the median of the slopes between all pairs of samples,
// rises by a tenth over the run, and so do, from the first quarter to the last, its median and what nine of ten samples
// stay below. So what only moves within bounds does not grow.
func (r Run) judge() (verdicts []Verdict) {
	samples := r.judged()
	if len(samples) < 8 {
		return nil
	}
	hours := (samples[len(samples)-1].At - samples[0].At).Hours()
	quarter := len(samples) / 4
	for _, m := range Metrics {
		values := m.figures(samples)
		if values.Max() == 0 {
			continue
		}
		first, last := values[:quarter], values[len(values)-quarter:]
		v := Verdict{Metric: m.Name, Unit: m.Unit, First: first.Median(), Last: last.Median(), Hourly: slope(samples, values)}
		v.Grows = v.Hourly*hours > notable*v.First && v.Last > (1+notable)*v.First && high(last) > (1+notable)*high(first)
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// high is what nine of ten values stay below.
func high(values []float64) float64 {
	return slices.Sorted(slices.Values(values))[len(values)*9/10]
}

// slope is that of the Theil–Sen line, per hour. Of a long run it takes about a thousand samples.
func slope(samples []Sample, values []float64) float64 {
	var slopes result.Figures
	step := len(values)/1000 + 1
	for i := 0; i < len(values); i += step {
		for j := 0; j < i; j += step {
			slopes = append(slopes, (values[i]-values[j])/(samples[i].At-samples[j].At).Hours())
		}
	}
	return slopes.Median()
}
