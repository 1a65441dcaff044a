package plot

import (
	"fmt"
	"math"
	"strings"

	"petstore/bench/result"
)

// Series is a line through one value for each place on the horizontal axis, with the spread around it.
type Series struct {
	Color             int
	Dashed            bool
	values, low, high []float64
}

// Add appends the next value. A series with nothing at one of its places is not drawn.
func (s *Series) Add(f result.Figures) {
	if len(f) > 0 {
		s.values, s.low, s.high = append(s.values, f.Median()), append(s.low, f.Min()), append(s.high, f.Max())
	}
}

// Panel is one of several small plots that are compared with each other.
type Panel struct {
	Title  string
	Places []string
	Series []Series
}

// Lines are panels side by side.
type Lines struct {
	Title   string
	Across  string // what the places are
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
		l.draw(d, p, 56+panelWidth*float64(i%across), top+24+panelHeight*float64(i/across))
	}
	return d.done()
}

func (l Lines) draw(d *drawing, p Panel, left, top float64) {
	width, height := panelWidth-66, panelHeight-72
	d.text(left, top-10, "head", "start", p.Title)
	marks, at := l.scale(p)
	y := func(v float64) float64 { return top + height*(1-at(v)) }
	x := func(i int) float64 { return left + 8 + (width-16)*float64(i)/float64(max(1, len(p.Places)-1)) }
	for _, mark := range marks {
		d.rule("grid", left, y(mark), left+width, y(mark))
		d.text(left-5, y(mark)+4, "small", "end", l.format(mark))
	}
	for i, place := range p.Places {
		d.text(x(i), top+height+16, "small", "middle", place)
	}
	d.text(left+width/2, top+height+32, "small", "middle", l.Across)
	for _, s := range p.Series {
		if len(s.values) == len(p.Places) {
			s.draw(d, x, y)
		}
	}
}

func (s Series) draw(d *drawing, x func(int) float64, y func(float64) float64) {
	var line, above, below []string
	for i := range s.values {
		line = append(line, point(x(i), y(s.values[i])))
		above = append(above, point(x(i), y(s.high[i])))
		below = append([]string{point(x(i), y(s.low[i]))}, below...)
	}
	class := fmt.Sprint("c", s.Color%colors)
	if s.Dashed {
		fmt.Fprintf(d, `<polyline class="%s stroke line dash" points="%s"/>`+"\n", class, strings.Join(line, " "))
		return
	}
	fmt.Fprintf(d, `<polygon class="%s fill band" points="%s"/>`+"\n", class, strings.Join(append(above, below...), " "))
	fmt.Fprintf(d, `<polyline class="%s stroke line" points="%s"/>`+"\n", class, strings.Join(line, " "))
}

// scale gives the marks of the vertical axis, and the share of the height at which a value is.
func (l Lines) scale(p Panel) (marks []float64, at func(float64) float64) {
	low, high := math.Inf(1), l.Top
	for _, s := range p.Series {
		for i := range s.values {
			low, high = min(low, s.values[i]), max(high, s.high[i])
		}
	}
	if !l.Latency || high == 0 {
		high = roundUp(high)
		for i := range 5 {
			marks = append(marks, high*float64(i)/4)
		}
		return marks, func(v float64) float64 { return v / high }
	}
	from, to := math.Floor(math.Log10(max(low, 1))), math.Ceil(math.Log10(max(high, 10)))
	for e := from; e <= to; e++ {
		marks = append(marks, math.Pow(10, e))
	}
	return marks, func(v float64) float64 { return max(0, math.Log10(max(v, 1))-from) / (to - from) }
}

func (l Lines) format(v float64) string {
	switch {
	case l.Latency && v >= 1e6:
		return fmt.Sprintf("%.0f s", v/1e6)
	case l.Latency && v >= 1e3:
		return fmt.Sprintf("%.0f ms", v/1e3)
	case l.Latency:
		return fmt.Sprintf("%.0f µs", v)
	}
	return Short(v)
}
