package plot

import (
	"fmt"
	"math"
	"strings"
)

// Series is a line through one value for each place on the horizontal axis.
type Series struct {
	Color     int
	Values    []float64
	Low, High []float64 // the spread around the values, if there is any
	Dashed    bool
	Plain     bool // without a dot at each value
}

// Panel is one of several small plots that are compared with each other.
type Panel struct {
	Title  string
	Places []string
	Series []Series
}

// Lines are panels side by side.
type Lines struct {
	Title  string
	Across string // what the places are
	Names  []string
	Panels []Panel
	Log    bool // in powers of ten
	Top    float64
	Format func(float64) string
}

const (
	panelWidth  = 280.0
	panelHeight = 210.0
	columns     = 3
)

// SVG draws it.
func (l Lines) SVG() []byte {
	across := min(columns, len(l.Panels))
	rows := (len(l.Panels) + across - 1) / across
	d := newDrawing(l.Title, max(620, 16+panelWidth*float64(across)), 74+panelHeight*float64(rows))
	d.legend(16, 48, l.Names)
	for i, p := range l.Panels {
		l.draw(d, p, 16+panelWidth*float64(i%across), 62+panelHeight*float64(i/across))
	}
	return d.done()
}

func (l Lines) draw(d *drawing, p Panel, left, top float64) {
	d.text(left+40, top+14, "head", "start", p.Title)
	left, top = left+40, top+24
	width, height := panelWidth-66, panelHeight-72
	scale := l.scale(p)
	y := func(v float64) float64 { return top + height*(1-scale.at(v)) }
	x := func(i int) float64 { return left + 8 + (width-16)*float64(i)/float64(max(1, len(p.Places)-1)) }
	for _, mark := range scale.marks {
		d.rule("grid", left, y(mark), left+width, y(mark))
		d.text(left-5, y(mark)+4, "small", "end", l.format(mark))
	}
	for i, place := range p.Places {
		d.text(x(i), top+height+16, "small", "middle", place)
	}
	d.text(left+width/2, top+height+32, "small", "middle", l.Across)
	for _, s := range p.Series {
		drawSeries(d, s, x, y)
	}
}

func (l Lines) format(v float64) string {
	if l.Format != nil {
		return l.Format(v)
	}
	return Short(v)
}

func drawSeries(d *drawing, s Series, x func(int) float64, y func(float64) float64) {
	if len(s.Low) == len(s.Values) && len(s.High) == len(s.Values) {
		var band strings.Builder
		for i, v := range s.High {
			fmt.Fprintf(&band, "%s,%s ", number(x(i)), number(y(v)))
		}
		for i := len(s.Low) - 1; i >= 0; i-- {
			fmt.Fprintf(&band, "%s,%s ", number(x(i)), number(y(s.Low[i])))
		}
		fmt.Fprintf(d, `<polygon class="%s fill band" points="%s"/>`+"\n", color(s.Color), strings.TrimSpace(band.String()))
	}
	points := make([]string, len(s.Values))
	for i, v := range s.Values {
		points[i] = number(x(i)) + "," + number(y(v))
	}
	class := color(s.Color) + " stroke line"
	if s.Dashed {
		class += " dash"
	}
	fmt.Fprintf(d, `<polyline class="%s" points="%s"/>`+"\n", class, strings.Join(points, " "))
	if s.Plain {
		return
	}
	for i, v := range s.Values {
		fmt.Fprintf(d, `<circle class="%s fill" cx="%s" cy="%s" r="3"/>`+"\n", color(s.Color), number(x(i)), number(y(v)))
	}
}

// scale maps values to shares of the height.
type scale struct {
	marks []float64
	at    func(float64) float64
}

func (l Lines) scale(p Panel) scale {
	low, high := math.Inf(1), l.Top
	for _, s := range p.Series {
		for _, values := range [][]float64{s.Values, s.High} {
			for _, v := range values {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if l.Log {
		return powers(low, high)
	}
	high = roundUp(high, 1, 1.2, 1.6, 2, 2.4, 3, 4, 6, 8, 10)
	sc := scale{at: func(v float64) float64 { return v / high }}
	for i := range 5 {
		sc.marks = append(sc.marks, high*float64(i)/4)
	}
	return sc
}

func powers(low, high float64) scale {
	from, to := math.Floor(math.Log10(max(low, 1e-9))), math.Ceil(math.Log10(max(high, 1e-9)))
	if to == from {
		to++
	}
	sc := scale{at: func(v float64) float64 { return (math.Log10(max(v, 1e-9)) - from) / (to - from) }}
	for e := from; e <= to; e++ {
		sc.marks = append(sc.marks, math.Pow(10, e))
	}
	return sc
}
