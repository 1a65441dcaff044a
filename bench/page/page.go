// Package page writes docs/performance.md and its plots from the results of a run. No figure in them comes from
// anywhere else.
package page

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/dustin/go-humanize"
	"petstore/bench/result"
)

// Name is the page's file name.
const Name = "performance.md"

//go:embed performance.md.tmpl
var source string

// Write writes the page into the folder docs, and its plots into img/performance in it.
func Write(r *result.Run, docs string) error {
	v := view{r}
	images := filepath.Join(docs, "img", "performance")
	if err := os.MkdirAll(images, 0o755); err != nil {
		return err
	}
	for name, svg := range v.plots() {
		if err := os.WriteFile(filepath.Join(images, name+".svg"), svg, 0o644); err != nil {
			return err
		}
	}
	t, err := template.New(Name).Funcs(formats).Parse(source)
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := t.Execute(&b, v); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(docs, Name), []byte(b.String()), 0o644)
}

// formats write figures: the median alone, or with the lowest and the highest of the rounds.
var formats = template.FuncMap{
	"rate": func(f result.Figures) string {
		return spread(f, func(v float64) string { return humanize.Comma(int64(v)) })
	},
	"number":   func(f result.Figures) string { return humanize.Comma(int64(f.Median())) },
	"ratio":    func(f result.Figures) string { return spread(f, result.Decimals) },
	"median":   func(f result.Figures) string { return result.Decimals(f.Median()) },
	"micros":   func(f result.Figures) string { return micros(f.Median()) },
	"mib":      func(f result.Figures) string { return fmt.Sprintf("%.0f MiB", f.Median()/(1<<20)) },
	"gib":      func(n int64) string { return fmt.Sprintf("%.0f", float64(n)/(1<<30)) },
	"percent":  func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) },
	"decimals": result.Decimals,
	"count":    result.Count,
	"commas":   humanize.Comma,
	"day":      func(t time.Time) string { return t.Format("2 January 2006, 15:04 UTC") },
	"duration": func(d time.Duration) string { return d.Round(time.Microsecond).String() },
	"verdict":  verdict,
	"goal":     goal,
}

func spread(f result.Figures, format func(float64) string) string {
	return fmt.Sprintf("%s (%s–%s)", format(f.Median()), format(f.Min()), format(f.Max()))
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
	sign, number := "≥", result.Decimals(t.Goal)
	if t.Most {
		sign = "≤"
	}
	if t.Goal == float64(int(t.Goal)) {
		number = fmt.Sprint(t.Goal)
	}
	return fmt.Sprintf("%s %s %s", sign, number, t.Unit)
}

// view is the run as the template sees it.
type view struct{ *result.Run }

// row is one subject of a table.
type row struct {
	result.Subject
	result.Key
	result.Cell
	Ratio result.Figures // to bare
}

// rows are what was measured of these subjects and keys.
func (v view) rows(subjects []result.Subject, keys ...result.Key) (rows []row) {
	for _, s := range subjects {
		for _, key := range keys {
			key.Subject = s.ID
			if cell := v.Cell(key); len(cell) > 0 {
				rows = append(rows, row{s, key, cell, v.OfBare(s.ID, key.Line, key.Connections)})
			}
		}
	}
	return rows
}

// Rows are the table of one line at every number of connections: petstore and bare, and for creates everything.
func (v view) Rows(line string) (rows []row) {
	subjects := v.pick(func(s result.Subject) bool { return !s.Peer || line == result.Create })
	for _, connections := range v.Settings.Connections {
		rows = append(rows, v.rows(subjects, result.Key{Line: line, Connections: connections})...)
	}
	return rows
}

// Beside are petstore and bare with everything that others make, of one line at many connections.
func (v view) Beside(line string) []row {
	return v.rows(v.all(), result.Key{Line: line, Connections: result.Busy})
}

// AtRate are the same at a constant rate.
func (v view) AtRate(line string) []row {
	var keys []result.Key
	for _, share := range v.Settings.Shares {
		keys = append(keys, result.Key{Line: line, Connections: result.Busy, Share: share})
	}
	return v.rows(v.all(), keys...)
}

// Replicated are the rows of a line for each number of replicas.
func (v view) Replicated(line string) []row {
	var keys []result.Key
	for _, replicas := range v.Settings.Replicas {
		keys = append(keys, result.Key{Line: line, Connections: result.Busy, Replicas: replicas})
	}
	return v.rows([]result.Subject{v.Subject(result.Postgres)}, keys...)
}

// need is what many replicas would need, each with a processor of its own that is busy.
type need struct {
	Replicas                  int
	Throughput                int64
	Postgres, Redis, Balancer float64 // processors
	Connections               int
}

// poolSize is the number of connections that a replica has to PostgreSQL unless it is told otherwise.
const poolSize = 8

// Needs computes it from what the most replicas took of the processors for a request of the mix.
func (v view) Needs() (needs []need) {
	measured := v.Replicated(result.Mix)
	if len(measured) == 0 {
		return nil
	}
	cell := measured[len(measured)-1].Cell
	for _, n := range []int{3, 10, 100} {
		all := float64(n) / cell.CPU().Median()
		needs = append(needs, need{n, int64(all * 1e6), all * cell.StoreCPU(0).Median(), all * cell.StoreCPU(1).Median(), all * cell.StoreCPU(2).Median(), n * poolSize})
	}
	return needs
}

// Measured are the lines that were.
func (v view) Measured() (lines []result.Line) {
	for _, line := range result.Lines {
		if len(v.Rows(line.ID)) > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// Steady are the lines that are measured at a constant rate, and Replicas those on several replicas.
func (v view) Steady() []result.Line   { return result.Steady }
func (v view) Replicas() []result.Line { return result.Replicated }

// HasGrowth reports whether growth was measured.
func (v view) HasGrowth() bool {
	return slices.ContainsFunc(v.Shots, func(s result.Shot) bool { return s.Rows > 0 })
}

// Grow is the throughput on that many rows.
func (v view) Grow(subject, line string, rows int64) result.Figures {
	return v.Cell(result.Key{Subject: subject, Line: line, Connections: result.Busy, Rows: rows}).Throughput()
}

// Stores are the stores that petstore was measured on.
func (v view) Stores() []result.Subject {
	return v.pick(func(s result.Subject) bool { return s.ID == result.SQLite || s.ID == result.Postgres })
}

// Peers are what others have made, and what petstore would be without its devices.
func (v view) Peers() []result.Subject {
	return v.pick(func(s result.Subject) bool { return s.Peer })
}

// own are bare and petstore, all these and the peers.
func (v view) own() []result.Subject {
	return v.pick(func(s result.Subject) bool { return !s.Peer && s.ID != result.Dressed })
}

func (v view) all() []result.Subject { return append(v.own(), v.Peers()...) }

func (v view) pick(fits func(result.Subject) bool) (picked []result.Subject) {
	for _, s := range v.Subjects {
		if fits(s) {
			picked = append(picked, s)
		}
	}
	return picked
}

// BareHot is where the load itself costs least to measure.
func (v view) BareHot() result.Key {
	return result.Key{Subject: result.Bare, Line: result.Hot, Connections: result.Busy}
}

// Busy is the number of connections at which the targets hold.
func (v view) Busy() int { return result.Busy }

// Score counts the targets of the run.
func (v view) Score() (score struct{ Reached, All int }) {
	targets := []result.Target{v.BinaryTarget()}
	for _, store := range v.Stores() {
		targets = append(targets, v.Targets(store.ID)...)
	}
	for _, t := range targets {
		if t.Measured() {
			score.All++
		}
		if t.Measured() && t.Reached() {
			score.Reached++
		}
	}
	return score
}
