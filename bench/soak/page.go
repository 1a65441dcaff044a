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
