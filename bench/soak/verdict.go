package soak

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"petstore/bench/plot"
	"petstore/bench/result"
)

// metric is something that is watched.
type metric struct {
	name, unit string
	drawn      bool
	of         func(Sample) float64
}

func (m metric) title() string { return strings.TrimSuffix(m.name+", "+m.unit, ", ") }

func (m metric) figures(samples []Sample) (f result.Figures) {
	for _, s := range samples {
		f = append(f, m.of(s))
	}
	return f
}

// metrics are all of them, in the order of the table.
var metrics = []metric{
	{"p50", "ms", true, func(s Sample) float64 { return millis(s.P50) }},
	{"p99", "ms", true, func(s Sample) float64 { return millis(s.P99) }},
	{"p99.9", "ms", true, func(s Sample) float64 { return millis(s.P999) }},
	{"slowest", "ms", false, func(s Sample) float64 { return millis(s.Max) }},
	{"memory (RSS)", "MiB", true, func(s Sample) float64 { return float64(s.Resident) / (1 << 20) }},
	{"Go heap", "MiB", true, func(s Sample) float64 { return s.Heap / (1 << 20) }},
	{"goroutines", "", true, func(s Sample) float64 { return s.Goroutines }},
	{"open files", "", true, func(s Sample) float64 { return float64(s.Files) }},
	{"write-ahead log", "MiB", true, func(s Sample) float64 { return float64(s.Log) / (1 << 20) }},
	{"database", "MiB", true, func(s Sample) float64 { return float64(s.Database) / (1 << 20) }},
	{"animals", "", false, func(s Sample) float64 { return s.Animals }},
	{"CPU of petstore", "µs/request", false, func(s Sample) float64 { return s.PerRequest(s.ServerCPU) }},
	{"CPU of the stores", "µs/request", false, func(s Sample) float64 { return s.PerRequest(s.StoresCPU) }},
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// settling is how much of the start is not judged: caches fill and pools open.
const settling = 10 * time.Minute

// notable is the share by which something must rise over the run to be said to grow.
const notable = 0.10

// verdict tells what became of one metric after the settling.
type verdict struct {
	metric
	first, last float64 // the medians of the first and the last quarter
	hourly      float64
	grows       bool
}

// judged are the samples after the settling, which is a sixth of a short run.
func (r *Run) judged() []Sample {
	from := min(settling, r.Samples[len(r.Samples)-1].At/6)
	return r.Samples[slices.IndexFunc(r.Samples, func(s Sample) bool { return s.At > from }):]
}

// judge says of every metric whether it grows: its Theil–Sen line, the median of the slopes between all pairs of samples,
// rises by a tenth over the run, and so do, from the first quarter to the last, its median and what nine of ten samples
// stay below. So what only moves within bounds does not grow.
func (r *Run) judge() (verdicts []verdict) {
	samples := r.judged()
	if len(samples) < 8 {
		return nil
	}
	hours := (samples[len(samples)-1].At - samples[0].At).Hours()
	quarter := len(samples) / 4
	for _, m := range metrics {
		values := m.figures(samples)
		if values.Max() == 0 {
			continue
		}
		first, last := values[:quarter], values[len(values)-quarter:]
		v := verdict{metric: m, first: first.Median(), last: last.Median(), hourly: slope(samples, values)}
		v.grows = v.hourly*hours > notable*v.first && v.last > (1+notable)*v.first && high(last) > (1+notable)*high(first)
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

// Table is the run as Markdown.
func (r *Run) Table() string {
	var b strings.Builder
	var requests, failed int64
	failure := ""
	for _, s := range r.Samples {
		requests += s.Requests
		if failed += s.Failed; failure == "" {
			failure = s.Failure
		}
	}
	length := r.Samples[len(r.Samples)-1].At.Round(time.Second)
	fmt.Fprintf(&b, "**%s**: %v at %s requests a second on %d connections, %s requests, **%d failed**; %s, revision `%s`.\n\n",
		r.Name, length, humanize.Comma(int64(r.Rate)), r.Connections, humanize.Comma(requests), failed, r.Date.Format("2 January 2006"), r.Revision)
	if failed > 0 {
		fmt.Fprintf(&b, "The first failure: `%s`\n\n", strings.Join(strings.Fields(failure), " "))
	}
	b.WriteString("| | first quarter | last quarter | an hour | |\n|---|---|---|---|---|\n")
	for _, v := range r.judge() {
		word := "does not grow"
		if v.grows {
			word = "**grows**"
		}
		sign := "+"
		if v.hourly < 0 {
			sign, v.hourly = "−", -v.hourly
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s%s | %s |\n", v.title(), figure(v.first), figure(v.last), sign, figure(v.hourly), word)
	}
	return b.String()
}

func figure(v float64) string {
	switch {
	case v >= 1000:
		return humanize.Comma(int64(v))
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// SVG draws what is watched, with its spread, at about as many places as the run has minutes.
func (r *Run) SVG() []byte {
	l := plot.Lines{Title: fmt.Sprintf("%s, %s requests a second", r.Name, humanize.Comma(int64(r.Rate))), Across: "minutes"}
	parts := slices.Collect(slices.Chunk(r.Samples, max(1, len(r.Samples)/60)))
	l.Places = make([]string, len(parts))
	for i := 0; i < len(parts); i += 10 {
		l.Places[i] = fmt.Sprintf("%.0f", parts[i][0].At.Minutes())
	}
	for _, m := range metrics {
		if !m.drawn {
			continue
		}
		var values []result.Figures
		for _, part := range parts {
			values = append(values, m.figures(part))
		}
		l.Panels = append(l.Panels, plot.Panel{Title: m.title(), Series: []plot.Series{{Color: 1, At: values}}})
	}
	return l.SVG()
}
