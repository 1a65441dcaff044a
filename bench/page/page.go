// Package page writes docs/performance.md and its plots from the results of a run. No figure in them comes from
// anywhere else.
package page

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"petstore/bench/result"
)

// Name is the page's file name.
const Name = "performance.md"

//go:embed performance.md.tmpl
var source string

// Write writes the page into the folder docs, and its plots into img/performance in it.
func Write(r *result.Run, docs string) error {
	images := filepath.Join(docs, "img", "performance")
	if err := os.MkdirAll(images, 0o755); err != nil {
		return err
	}
	for name, svg := range plots(r) {
		if err := os.WriteFile(filepath.Join(images, name), svg, 0o644); err != nil {
			return err
		}
	}
	text, err := render(r)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(docs, Name), []byte(text), 0o644)
}

func render(r *result.Run) (string, error) {
	t, err := template.New(Name).Funcs(template.FuncMap{
		"rate": func(f result.Figures) string { return result.Commas(int64(f.Median())) },
		"rateSpan": func(f result.Figures) string {
			return span(f, func(v float64) string { return result.Commas(int64(v)) })
		},
		"ratio":    func(f result.Figures) string { return decimals(f.Median()) },
		"span":     func(f result.Figures) string { return span(f, decimals) },
		"micros":   func(f result.Figures) string { return micros(f.Median()) },
		"mib":      func(f result.Figures) string { return fmt.Sprintf("%.0f", f.Median()/(1<<20)) },
		"gib":      func(n int64) string { return fmt.Sprintf("%.0f", float64(n)/(1<<30)) },
		"count":    result.Count,
		"commas":   result.Commas,
		"day":      func(t time.Time) string { return t.Format("2 January 2006, 15:04 UTC") },
		"verdict":  verdict,
		"goal":     goal,
		"duration": func(d time.Duration) string { return d.Round(time.Microsecond).String() },
	}).Parse(source)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, view{r})
	return b.String(), err
}

// span is the lowest and the highest of the rounds.
func span(f result.Figures, format func(float64) string) string {
	return format(f.Min()) + "–" + format(f.Max())
}

func decimals(v float64) string {
	switch {
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v > 0 && v < 0.01:
		return fmt.Sprintf("%.4f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func micros(v float64) string {
	switch {
	case v >= 10_000:
		return fmt.Sprintf("%.0f ms", v/1000)
	case v >= 1000:
		return fmt.Sprintf("%.1f ms", v/1000)
	}
	return fmt.Sprintf("%.0f µs", v)
}

func verdict(t result.Target) string {
	switch {
	case !t.Measured():
		return "not measured in this run"
	case t.Reached():
		return "reached"
	}
	return "**missed**"
}

func goal(t result.Target) string {
	sign := "≥"
	if t.Most {
		sign = "≤"
	}
	return fmt.Sprintf("%s %s %s", sign, trim(t.Goal), t.Unit)
}

func trim(v float64) string {
	if v == float64(int64(v)) {
		return fmt.Sprint(int64(v))
	}
	return decimals(v)
}
