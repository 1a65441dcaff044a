package soak

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"petstore/bench/plot"
	"petstore/bench/result"
)

// Table is the run as Markdown.
func (r Run) Table() string {
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
		r.Name, length, result.Commas(int64(r.Rate)), r.Connections, result.Commas(requests), failed, r.Date.Format("2 January 2006"), r.Revision)
	if failed > 0 {
		fmt.Fprintf(&b, "The first failure: `%s`\n\n", strings.Join(strings.Fields(failure), " "))
	}
	b.WriteString("| | first quarter | last quarter | an hour | |\n|---|---|---|---|---|\n")
	for _, v := range r.Verdicts {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", Metric{Name: v.Metric, Unit: v.Unit}.title(), figure(v.First), figure(v.Last), change(v.Hourly), v.word())
	}
	return b.String()
}

func figure(v float64) string {
	switch {
	case v >= 1000:
		return result.Commas(int64(v))
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// change is a figure with its sign.
func change(v float64) string {
	if v < 0 {
		return "−" + figure(-v)
	}
	return "+" + figure(v)
}

// shown are the metrics that are drawn.
var shown = map[string]bool{"p50": true, "p99": true, "p99.9": true, "memory (RSS)": true, "Go heap": true, "goroutines": true, "open files": true,
	"write-ahead log": true, "database": true}

// SVG draws what is watched, with its spread, at about as many places as the run has minutes.
func (r Run) SVG() []byte {
	l := plot.Lines{Title: fmt.Sprintf("%s, %s requests a second", r.Name, result.Commas(int64(r.Rate))), Across: "minutes"}
	step := max(1, len(r.Samples)/60)
	for _, m := range Metrics {
		if !shown[m.Name] {
			continue
		}
		p, s := plot.Panel{Title: m.title()}, plot.Series{Color: 1}
		for part := range slices.Chunk(r.Samples, step) {
			place := ""
			if len(p.Places)%10 == 0 {
				place = fmt.Sprintf("%.0f", part[0].At.Minutes())
			}
			p.Places = append(p.Places, place)
			s.Add(m.figures(part))
		}
		p.Series = []plot.Series{s}
		l.Panels = append(l.Panels, p)
	}
	return l.SVG()
}
