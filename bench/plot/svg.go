// Package plot draws the few kinds of plot that the page needs, as SVG that can be read on light and dark ground.
package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Every series has a class, c0 and so on, with a colour for light and one for dark ground.
const style = `<style>
.ground{fill:#fff}text{font:12px system-ui,sans-serif;fill:#424a53}.title{font-size:15px;font-weight:600;fill:#1f2328}.head{font-weight:600}.small{font-size:11px}
.grid{stroke:#d1d9e0;stroke-width:1}.line{fill:none;stroke-width:2;stroke-linejoin:round}.dash{stroke-dasharray:4 3}.goal{stroke:#1f2328;stroke-width:2}.spread{stroke:#1f2328;stroke-width:1;opacity:.5}.band{opacity:.18}
.c0{--c:#6e7781}.c1{--c:#0969da}.c2{--c:#1a7f37}.c3{--c:#bc4c00}.c4{--c:#8250df}.c5{--c:#bf3989}.c6{--c:#9a6700}
.fill{fill:var(--c)}.stroke{stroke:var(--c)}
@media(prefers-color-scheme:dark){.ground{fill:#0d1117}text{fill:#b1bac4}.title{fill:#f0f6fc}.grid{stroke:#30363d}.goal,.spread{stroke:#f0f6fc}
.c0{--c:#8b949e}.c1{--c:#58a6ff}.c2{--c:#3fb950}.c3{--c:#f0883e}.c4{--c:#bc8cff}.c5{--c:#f778ba}.c6{--c:#d29922}}
</style>
`

// drawing collects the elements of a plot.
type drawing struct {
	strings.Builder
	width, height float64
}

func newDrawing(title string, width, height float64) *drawing {
	d := &drawing{width: width, height: height}
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]s" height="%[2]s" viewBox="0 0 %[1]s %[2]s" role="img" aria-label="%[3]s">`+"\n", number(width), number(height), escape(title))
	d.WriteString(style)
	fmt.Fprintf(d, `<rect class="ground" width="100%%" height="100%%" rx="6"/>`+"\n")
	d.text(16, 26, "title", "start", title)
	return d
}

func (d *drawing) done() []byte {
	d.WriteString("</svg>\n")
	return []byte(d.String())
}

func (d *drawing) text(x, y float64, class, anchor, text string) {
	fmt.Fprintf(d, `<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>`+"\n", class, number(x), number(y), anchor, escape(text))
}

func (d *drawing) rule(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(d, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`+"\n", class, number(x1), number(y1), number(x2), number(y2))
}

func (d *drawing) box(class string, x, y, width, height float64) {
	fmt.Fprintf(d, `<rect class="%s" x="%s" y="%s" width="%s" height="%s" rx="1"/>`+"\n", class, number(x), number(y), number(width), number(height))
}

// legend names the series in a row that begins at x.
func (d *drawing) legend(x, y float64, names []string) {
	for i, name := range names {
		if name == "" {
			continue
		}
		d.box(color(i)+" fill", x, y-9, 10, 10)
		d.text(x+15, y, "small", "start", name)
		x += 15 + 6.4*float64(len([]rune(name))) + 18
	}
}

func color(series int) string { return fmt.Sprint("c", series%7) }

// number writes a coordinate without needless digits.
func number(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}

// Short writes a value on an axis: 1.5k rather than 1500.
func Short(v float64) string {
	switch {
	case v >= 1e6:
		return trim(v/1e6) + "M"
	case v >= 1e3:
		return trim(v/1e3) + "k"
	}
	return trim(v)
}

func trim(v float64) string {
	if v >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// roundUp is the next value that people like to read on an axis: one of the steps, times a power of ten.
func roundUp(v float64, steps ...float64) float64 {
	if v <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range steps {
		if step*unit >= v {
			return step * unit
		}
	}
	return 10 * unit
}
