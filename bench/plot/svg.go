// Package plot draws the few kinds of plot that the page needs, as SVG that can be read on light and dark ground.
package plot

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// Every series has a class, c0 and so on, with a color for light and one for dark ground.
const (
	colors = 9
	style  = `<style>
.ground{fill:#fff}text{font:12px system-ui,sans-serif;fill:#424a53}.title{font-size:15px;font-weight:600;fill:#1f2328}.head{font-weight:600}.small{font-size:11px}
.grid{stroke:#d1d9e0;stroke-width:1}.line{fill:none;stroke-width:2;stroke-linejoin:round}.dash{stroke-dasharray:4 3}.goal{stroke:#1f2328;stroke-width:2}.spread{stroke:#1f2328;stroke-width:1;opacity:.5}.band{opacity:.18}
.c0{--c:#6e7781}.c1{--c:#0969da}.c2{--c:#1a7f37}.c3{--c:#bc4c00}.c4{--c:#8250df}.c5{--c:#bf3989}.c6{--c:#9a6700}.c7{--c:#1b7c83}.c8{--c:#cf222e}
.fill{fill:var(--c)}.stroke{stroke:var(--c)}
@media(prefers-color-scheme:dark){.ground{fill:#0d1117}text{fill:#b1bac4}.title{fill:#f0f6fc}.grid{stroke:#30363d}.goal,.spread{stroke:#f0f6fc}
.c0{--c:#8b949e}.c1{--c:#58a6ff}.c2{--c:#3fb950}.c3{--c:#f0883e}.c4{--c:#bc8cff}.c5{--c:#f778ba}.c6{--c:#d29922}.c7{--c:#39c5cf}.c8{--c:#ff7b72}}
</style>
<rect class="ground" width="100%" height="100%" rx="6"/>
`
)

// drawing collects the elements of a plot.
type drawing struct{ strings.Builder }

// newDrawing begins a plot with its title and the names of its series, and returns where the rest begins.
func newDrawing(title string, width, height float64, names []string) (d *drawing, top float64) {
	const nameWidth, nameHeight = 215, 16
	across := max(1, int(width)/nameWidth)
	top = 56 + nameHeight*float64((len(names)+across-1)/across)
	d = &drawing{}
	fmt.Fprintf(d, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]v" height="%[2]v" viewBox="0 0 %[1]v %[2]v" role="img">`+"\n", width, top+height)
	d.WriteString(style)
	d.text(16, 26, "title", "start", title)
	for i, name := range names {
		if name == "" { // it is not drawn
			continue
		}
		x, y := float64(16+i%across*nameWidth), float64(48+i/across*nameHeight)
		d.box(i, x, y-9, 10, 10)
		d.text(x+15, y, "small", "start", name)
	}
	return d, top
}

func (d *drawing) done() []byte { return []byte(d.String() + "</svg>\n") }

func (d *drawing) text(x, y float64, class, anchor, text string) {
	fmt.Fprintf(d, `<text class="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", class, x, y, anchor, html.EscapeString(text))
}

func (d *drawing) rule(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(d, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`+"\n", class, x1, y1, x2, y2)
}

func (d *drawing) box(color int, x, y, width, height float64) {
	fmt.Fprintf(d, `<rect class="c%d fill" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="1"/>`+"\n", color%colors, x, y, width, height)
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

func trim(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }

// roundUp is the next value whose quarters people like to read on an axis.
func roundUp(v float64) float64 {
	if v <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range []float64{1, 1.2, 1.6, 2, 2.4, 3, 4, 6, 8} {
		if step*unit >= v {
			return step * unit
		}
	}
	return 10 * unit
}
