package report

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"text/template"
	"time"

	"github.com/dustin/go-humanize"
)

// Page and Details are the file names of the two pages. The first is an overview, and the second has every table.
const (
	Page    = "performance.md"
	Details = "performance-details.md"
)

//go:embed *.tmpl
var files embed.FS

var templates = template.Must(template.New("").Funcs(formats).ParseFS(files, "*.tmpl"))

// Write writes both pages into the folder docs, and their plots into its folder img/performance. For an incomplete run,
// Write writes no pages.
func (r *Run) Write(docs string) error {
	if r.Incomplete != "" {
		return errors.New("these results are not complete: " + r.Incomplete)
	}
	if err := r.draw(filepath.Join(docs, "img", "performance")); err != nil {
		return err
	}
	for _, page := range []string{Page, Details} {
		text, err := render(page, r)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(docs, page), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func render(name string, of any) ([]byte, error) {
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, name+".tmpl", of)
	return b.Bytes(), err
}

// formats are the functions with which templates write figures: the median alone, or the median with the lowest and the
// highest round.
var formats = template.FuncMap{
	"busy":     func() int { return Busy },
	"bytes":    humanize.IBytes,
	"commas":   humanize.Comma,
	"count":    Count,
	"day":      func(t time.Time) string { return t.Format("2 January 2006, 15:04 UTC") },
	"decimals": decimals,
	"duration": func(d time.Duration) string { return d.Round(time.Microsecond).String() },
	"median":   func(f Figures) string { return decimals(f.Median()) },
	"mib":      func(f Figures) string { return fmt.Sprintf("%.0f MiB", f.Median()/(1<<20)) },
	"micros":   func(f Figures) string { return micros(f.Median()) },
	"number":   func(f Figures) string { return humanize.Comma(int64(f.Median())) },
	"percent":  func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) },
	"rate":     func(f Figures) string { return spread(f, func(v float64) string { return humanize.Comma(int64(v)) }) },
	"ratio":    func(f Figures) string { return spread(f, decimals) },
	"short":    short,
	"signed":   func(v float64) string { return map[bool]string{true: "−", false: "+"}[v < 0] + short(math.Abs(v)) },
}

func spread(f Figures, format func(float64) string) string {
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

// decimals formats a figure with a number of digits that suits its size.
func decimals(v float64) string {
	switch {
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v > 0 && v < 0.01:
		return fmt.Sprintf("%.4f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func short(v float64) string {
	switch {
	case v >= 1000:
		return humanize.Comma(int64(v))
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// Count formats a number for people: 10 thousand, 10 million, or with commas.
func Count(n int64) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return fmt.Sprint(n/1_000_000, " million")
	case n >= 1_000 && n%1_000 == 0:
		return fmt.Sprint(n/1_000, " thousand")
	}
	return humanize.Comma(n)
}

// tables defines which lines and which cells each table or plot has.
var tables = map[string]struct {
	lines []Line
	fits  func(Cell) bool
}{
	"line":     {Lines, func(c Cell) bool { return c.closed() && (!c.Peer || c.Line == Create) }},
	"own":      {Lines, func(c Cell) bool { return c.closed() && !c.Peer && c.ID != Dressed }},
	"beside":   {Lines, func(c Cell) bool { return c.closed() && c.Connections == Busy && c.ID != Dressed }},
	"rate":     {Steady, func(c Cell) bool { return c.Share > 0 }},
	"rows":     {Growing, func(c Cell) bool { return c.Rows > 0 }},
	"replicas": {Replicated, func(c Cell) bool { return c.Replicas > 0 }},
}

// closed reports whether the cell comes from a closed loop, with the usual number of rows. In a closed loop, clients send as
// fast as answers come.
func (c Cell) closed() bool { return c.Share == 0 && c.Rows == 0 && c.Replicas == 0 }

// Table returns the cells of a table that belong to a line, in the order in which they were measured.
func (r *Run) Table(name, line string) (cells []Cell) {
	for _, s := range r.Shots {
		if s.Round == 0 && s.Line == line && tables[name].fits(r.Cell(s.Key)) {
			cells = append(cells, r.Cell(s.Key))
		}
	}
	if name == "rate" { // the bench alternates between subjects, but the table groups by subject
		slices.SortStableFunc(cells, func(a, b Cell) int { return r.place(a.ID) - r.place(b.ID) })
	}
	return cells
}

// Lines returns the measured lines of a table.
func (r *Run) Lines(table string) []Line {
	return slices.DeleteFunc(slices.Clone(tables[table].lines), func(l Line) bool { return len(r.Table(table, l.ID)) == 0 })
}

// Stores returns a subject for each store on which petstore was measured.
func (r *Run) Stores() []Subject {
	return slices.DeleteFunc(slices.Clone(r.Subjects), func(s Subject) bool { return s.ID != SQLite && s.ID != Postgres })
}

// Peers returns the services that petstore is compared with: the programs of other projects, and the plain services.
func (r *Run) Peers() []Subject {
	return slices.DeleteFunc(slices.Clone(r.Subjects), func(s Subject) bool { return !s.Peer })
}

// Requests returns how many requests the run has measured.
func (r *Run) Requests() (n int64) {
	for _, s := range r.Shots {
		n += s.Requests
	}
	return n
}

// EngineAlone returns how fast SQLite without HTTP reads the most animals, or nil if that was not measured.
func (r *Run) EngineAlone() *struct {
	Rows        int64
	Gets, Pages Figures
} {
	alone := struct {
		Rows        int64
		Gets, Pages Figures
	}{Rows: r.Settings.Growth[len(r.Settings.Growth)-1]}
	key := Key{Subject: Engine, Line: Get, Connections: Busy, Rows: alone.Rows}
	alone.Gets = r.Cell(key).Of("throughput")
	key.Line = Distinct
	alone.Pages = r.Cell(key).Of("throughput")
	if len(alone.Gets) == 0 {
		return nil
	}
	return &alone
}

// need is what a number of replicas would need if each replica kept one processor busy.
type need struct {
	Replicas                  int
	Throughput                int64
	Postgres, Redis, Balancer float64 // the number of processors that each of them needs
	Connections               int
}

// poolSize is how many connections to PostgreSQL a replica has by default.
const poolSize = 8

// Needs estimates what more replicas would need. It scales the processor time for a request of the mixed line, as measured
// with the largest number of replicas.
func (r *Run) Needs() (needs []need) {
	measured := r.Table("replicas", Mix)
	if len(measured) == 0 {
		return nil
	}
	most := measured[len(measured)-1]
	of := func(part string) float64 { return most.Of(part).Median() }
	for _, n := range []int{3, 10, 100} {
		all := float64(n) / of("cpu") // the requests of n replicas in a microsecond
		needs = append(needs, need{n, int64(all * 1e6), all * of("postgres"), all * of("redis"), all * of("haproxy"), n * poolSize})
	}
	return needs
}
