package plot

import (
	"fmt"
	"math"
	"slices"
	"time"

	"petstore/bench/result"
)

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
