// Package plot draws the few kinds of plot that the page needs, as SVG that can be read on light and dark ground.
package plot

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"petstore/bench/result"
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

// Series is a line through what was measured at each place of the horizontal axis, with the spread around it. It is not
// drawn if there is nothing at one of the places.
type Series struct {
	Color  int
	Dashed bool
	At     []result.Figures
}

// Panel is one of several small plots that are compared with each other.
type Panel struct {
	Title  string
	Series []Series
}

// Lines are panels side by side.
type Lines struct {
	Title   string
	Across  string // what the places are
	Places  []string
	Names   []string
	Panels  []Panel
	Latency bool // µs, in powers of ten
	Top     float64
}

const (
	panelWidth  = 280.0
	panelHeight = 210.0
	columns     = 3
)

// SVG draws it.
func (l Lines) SVG() []byte {
	across := max(1, min(columns, len(l.Panels)))
	rows := (len(l.Panels) + across - 1) / across
	d, top := newDrawing(l.Title, max(840, 16+panelWidth*float64(across)), 16+panelHeight*float64(rows), l.Names)
	for i, p := range l.Panels {
		p.Series = slices.DeleteFunc(p.Series, func(s Series) bool {
			return len(s.At) < len(l.Places) || slices.ContainsFunc(s.At, func(f result.Figures) bool { return len(f) == 0 })
		})
		l.draw(d, p, 56+panelWidth*float64(i%across), top+24+panelHeight*float64(i/across))
	}
	return d.done()
}

func (l Lines) draw(d *drawing, p Panel, left, top float64) {
	width, height := panelWidth-66, panelHeight-72
	d.text(left, top-10, "head", "start", p.Title)
	marks, at := l.scale(p)
	y := func(v float64) float64 { return top + height*(1-at(v)) }
	x := func(i int) float64 { return left + 8 + (width-16)*float64(i)/float64(max(1, len(l.Places)-1)) }
	for _, mark := range marks {
		d.rule("grid", left, y(mark), left+width, y(mark))
		d.text(left-5, y(mark)+4, "small", "end", l.format(mark))
	}
	for i, place := range l.Places {
		d.text(x(i), top+height+16, "small", "middle", place)
	}
	d.text(left+width/2, top+height+32, "small", "middle", l.Across)
	for _, s := range p.Series {
		var line, above, below string
		point := func(i int, v float64) string { return fmt.Sprintf("%.1f,%.1f ", x(i), y(v)) }
		for i, f := range s.At {
			line += point(i, f.Median())
			above += point(i, f.Max())
			below = point(i, f.Min()) + below
		}
		dash := ""
		if s.Dashed {
			dash = " dash"
		} else {
			fmt.Fprintf(d, `<polygon class="c%d fill band" points="%s"/>`+"\n", s.Color%colors, above+below)
		}
		fmt.Fprintf(d, `<polyline class="c%d stroke line%s" points="%s"/>`+"\n", s.Color%colors, dash, line)
	}
}

// scale gives the marks of the vertical axis, and the share of the height at which a value is.
func (l Lines) scale(p Panel) (marks []float64, at func(float64) float64) {
	low, high := math.Inf(1), l.Top
	for _, s := range p.Series {
		for _, f := range s.At {
			low, high = min(low, f.Median()), max(high, f.Max())
		}
	}
	if !l.Latency || high == 0 {
		high = roundUp(high)
		return []float64{0, high / 4, high / 2, high * 3 / 4, high}, func(v float64) float64 { return v / high }
	}
	from, to := math.Floor(math.Log10(max(low, 1))), math.Ceil(math.Log10(max(high, 10)))
	for e := from; e <= to; e++ {
		marks = append(marks, math.Pow(10, e))
	}
	return marks, func(v float64) float64 { return max(0, math.Log10(max(v, 1))-from) / (to - from) }
}

func (l Lines) format(v float64) string {
	if l.Latency {
		return (time.Duration(v) * time.Microsecond).String()
	}
	return Short(v)
}

// Bar is a value of one series with its spread, and the goal that it was to reach, if it had one.
type Bar struct {
	Color int
	Got   result.Figures
	Goal  float64
}

// Group is a few bars under one name.
type Group struct {
	Name string
	Bars []Bar
}

// Bars are groups of horizontal bars.
type Bars struct {
	Title  string
	Names  []string
	Groups []Group
}

const (
	barHeight = 15.0
	barsLeft  = 190.0
	barsWidth = 520.0
	gap       = 14.0
)

// Add appends a group, unless it has no bars.
func (b *Bars) Add(g Group) {
	if len(g.Bars) > 0 {
		b.Groups = append(b.Groups, g)
	}
}

// SVG draws it.
func (b *Bars) SVG() []byte {
	height, most := 0.0, 0.0
	for _, g := range b.Groups {
		height += barHeight*float64(len(g.Bars)) + gap
		for _, bar := range g.Bars {
			most = max(most, bar.Got.Max(), bar.Goal)
		}
	}
	most = roundUp(most)
	d, y := newDrawing(b.Title, barsLeft+barsWidth+120, height+24, b.Names)
	x := func(v float64) float64 { return barsLeft + barsWidth*v/most }
	for i := range 5 {
		v := most * float64(i) / 4
		d.rule("grid", x(v), y-8, x(v), y+height)
		d.text(x(v), y+height+15, "small", "middle", trim(v))
	}
	for _, g := range b.Groups {
		d.text(barsLeft-8, y+barHeight*float64(len(g.Bars))/2+4, "head", "end", g.Name)
		for _, bar := range g.Bars {
			label := result.Decimals(bar.Got.Median())
			d.box(bar.Color, x(0), y+1, max(1, x(bar.Got.Median())-x(0)), barHeight-3)
			d.rule("spread", x(bar.Got.Min()), y+barHeight/2-0.5, x(bar.Got.Max()), y+barHeight/2-0.5)
			if bar.Goal > 0 {
				label += " of " + result.Decimals(bar.Goal)
				d.rule("goal", x(bar.Goal), y-1, x(bar.Goal), y+barHeight-1)
			}
			d.text(barsLeft+barsWidth+16, y+barHeight-4, "small", "start", label)
			y += barHeight
		}
		y += gap
	}
	return d.done()
}
