package report

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// colors has a color for each subject, in the order of subjects in the run.
var colors = []color.NRGBA{
	{110, 119, 129, 255}, {31, 35, 40, 255}, {9, 105, 218, 255}, {26, 127, 55, 255}, {188, 76, 0, 255},
	{130, 80, 223, 255}, {191, 57, 137, 255}, {154, 103, 0, 255}, {27, 124, 131, 255}, {207, 34, 46, 255},
	{125, 78, 0, 255}, {64, 83, 131, 255},
}

// picture has several panels, with a title above the panels and a legend beside them.
type picture struct {
	title         string
	columns       int
	width, height vg.Length // the size of a panel
	panels        []*plot.Plot
	names         []string
	legend        plot.Legend
}

func newPicture(title string, columns int, width, height vg.Length) *picture {
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
	pic := &picture{title: title, columns: columns, width: width, height: height, legend: plot.NewLegend()}
	pic.legend.TextStyle.Font.Size, pic.legend.Left, pic.legend.Top, pic.legend.Padding = 10, true, true, 4
	return pic
}

// add appends a panel.
func (pic *picture) add(title, across string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Title.Padding, p.Y.Min, p.Y.Tick.Marker = title, across, 6, 0, written(plot.DefaultTicks{}, short)
	p.Title.TextStyle.Font.Size, p.X.Label.TextStyle.Font.Size, p.X.Tick.Label.Font.Size, p.Y.Tick.Label.Font.Size = 11, 9, 9, 9
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{230}, color.Gray{230}
	p.Add(grid)
	pic.panels = append(pic.panels, p)
	return p
}

// color returns the color of a subject, and adds the subject to the legend.
func (pic *picture) color(r *Run, s Subject) color.NRGBA {
	c := colors[max(0, r.place(s.ID))%len(colors)]
	if !slices.Contains(pic.names, s.Name) {
		pic.names = append(pic.names, s.Name)
		pic.legend.Add(s.Name, &plotter.Line{LineStyle: draw.LineStyle{Color: c, Width: 5}})
	}
	return c
}

// write draws the picture on a white background, so that people can read it on light and dark pages.
func (pic *picture) write(path string) error {
	const margin, head = 12, 36
	rows, side := (len(pic.panels)+pic.columns-1)/pic.columns, vg.Length(0)
	if len(pic.names) > 0 {
		side = 180
	}
	canvas := vgsvg.New(pic.width*vg.Length(pic.columns)+side+2*margin, pic.height*vg.Length(rows)+head+margin)
	whole := draw.New(canvas)
	whole.SetColor(color.White)
	whole.Fill(whole.Path())
	title := pic.legend.TextStyle
	title.Font.Size, title.Color = 14, color.Black
	whole.FillText(title, vg.Point{X: margin, Y: whole.Max.Y - 22}, pic.title)
	tiles, inner := draw.Tiles{Rows: rows, Cols: pic.columns, PadX: 12, PadY: 12}, draw.Crop(whole, margin, -margin-side, margin, -head)
	for i, p := range pic.panels {
		p.Draw(tiles.At(inner, i%pic.columns, i/pic.columns))
	}
	pic.legend.Draw(draw.Crop(whole, whole.Max.X-side, 0, 0, -head))
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	// Some viewers do not have the font with which the text was measured, so the picture names other fonts too.
	readable := bytes.ReplaceAll(svg.Bytes(), []byte("family:Liberation Sans"), []byte("family:Liberation Sans,Arial,sans-serif"))
	return os.WriteFile(path, readable, 0o644)
}

// draw draws all plots of the run into a folder.
func (r *Run) draw(folder string) error {
	byConnections := func(k Key) string { return fmt.Sprint(k.Connections) }
	byShare := func(k Key) string { return fmt.Sprintf("%.0f %%", 100*k.Share) }
	byRows := func(k Key) string { return humanize.SIWithDigits(float64(k.Rows), 0, "") }
	of := func(measure string) func(Cell) Figures { return func(c Cell) Figures { return c.Of(measure) } }
	ratio := func(c Cell) Figures { return r.Ratio(c.Key) }
	growth := "Throughput as rows grow, as a share of the throughput on " + Count(r.Settings.Growth[0]) + " rows"
	dashed := "Latency by connections: median, and dashed the 99th percentile"
	pictures := map[string]*picture{
		"targets":    r.targetBars(),
		"peers":      r.peerBars(),
		"throughput": r.lines("own", "Requests per second by connections", "connections", byConnections, false, of("throughput")),
		"latency":    r.lines("own", dashed, "connections", byConnections, true, of("p50"), of("p99")),
		"rate":       r.lines("rate", "99th percentile of latency at a constant rate", "share of the highest throughput", byShare, true, of("p99")),
		"growth":     r.lines("rows", growth, "rows", byRows, false, ratio),
	}
	err := os.MkdirAll(folder, 0o755)
	for name, pic := range pictures {
		if err == nil && len(pic.panels) > 0 {
			err = pic.write(filepath.Join(folder, name+".svg"))
		}
	}
	return err
}

// lines draws a panel for each line of a table, with the figures of each subject. The function place returns the label of a
// key on the horizontal axis. The second kind of figures is dashed.
func (r *Run) lines(table, title, across string, place func(Key) string, latency bool, figures ...func(Cell) Figures) *picture {
	pic := newPicture(title, min(3, len(r.Lines(table))), 235, 190)
	for _, line := range r.Lines(table) {
		p, cells := pic.add(line.Name, across), r.Table(table, line.ID)
		if latency {
			p.Y.Min, p.Y.Scale, p.Y.Tick.Marker = math.Inf(1), plot.LogScale{}, written(plot.LogTicks{Prec: -1}, micros)
		}
		var places []string
		for _, c := range cells {
			if !slices.Contains(places, place(c.Key)) {
				places = append(places, place(c.Key))
			}
		}
		p.NominalX(places...)
		for _, s := range r.Subjects {
			for i, of := range figures {
				at := make([]Figures, len(places))
				for _, c := range cells {
					if c.ID == s.ID {
						at[slices.Index(places, place(c.Key))] = of(c)
					}
				}
				if len(slices.Concat(at...)) > 0 {
					addSeries(p, pic.color(r, s), i == 1, at)
				}
			}
		}
	}
	return pic
}

// written formats the numbers on an axis like the numbers in the tables.
func written(ticker plot.Ticker, format func(float64) string) plot.TickerFunc {
	return func(low, high float64) []plot.Tick {
		ticks := ticker.Ticks(low, high)
		for i := range ticks {
			if ticks[i].Label != "" {
				ticks[i].Label = format(ticks[i].Value)
			}
		}
		return ticks
	}
}

// addSeries draws a curve through the medians at equal distances. Unless the curve is dashed, it also draws the spread
// around the curve. A position may have no figures.
func addSeries(p *plot.Plot, c color.NRGBA, dashed bool, at []Figures) {
	line, lowest := &plotter.Line{LineStyle: draw.LineStyle{Color: c, Width: 1.5}}, 0.0
	if _, ok := p.Y.Scale.(plot.LogScale); ok {
		lowest = 1 // zero has no logarithm
	}
	var above, below plotter.XYs
	for i, f := range at {
		if len(f) == 0 {
			continue
		}
		point := func(y float64) plotter.XY { return plotter.XY{X: float64(i), Y: max(y, lowest)} }
		line.XYs, above, below = append(line.XYs, point(f.Median())), append(above, point(f.Max())), append(below, point(f.Min()))
	}
	if dashed {
		line.Dashes = []vg.Length{4, 3}
	} else {
		slices.Reverse(below)
		c.A = 40
		p.Add(&plotter.Polygon{XYs: []plotter.XYs{append(above, below...)}, Color: c})
	}
	p.Add(line)
}

// bars draws a bar with its spread for each target, and a mark for its goal if it has one. A bar is a share of the bare
// handler's throughput. Bars with the same name form a group.
func (r *Run) bars(title string, bars []Target) *picture {
	if len(bars) == 0 {
		return &picture{}
	}
	pic := newPicture(title, 1, 560, vg.Length(60+16*len(bars)))
	p, y := pic.add("", "share of bare net/http"), 0.0
	stroke := func(c color.Color, width vg.Length, x1, y1, x2, y2 float64) {
		p.Add(&plotter.Line{XYs: plotter.XYs{{X: x1, Y: y1}, {X: x2, Y: y2}}, LineStyle: draw.LineStyle{Color: c, Width: width}})
	}
	var groups []plot.Tick
	style := text.Style{Font: font.From(plotter.DefaultFont, 8), YAlign: draw.YCenter, Handler: plot.DefaultTextHandler}
	labels := plotter.Labels{Offset: vg.Point{X: 5}}
	for i, b := range bars {
		if i > 0 && bars[i-1].Name == b.Name {
			groups[len(groups)-1].Value -= 0.5 // moves the label to the middle of the group
		} else {
			y -= 0.7
			groups = append(groups, plot.Tick{Value: y, Label: b.Name})
		}
		stroke(pic.color(r, b.subject), 9, 0, y, b.Got.Median(), y)
		stroke(color.Gray{90}, 1, b.Got.Min(), y, b.Got.Max(), y)
		label := decimals(b.Got.Median())
		if b.goal > 0 {
			label += " of " + decimals(b.goal)
			stroke(color.Black, 2, b.goal, y-0.45, b.goal, y+0.45)
		}
		labels.XYs = append(labels.XYs, plotter.XY{X: max(b.Got.Max(), b.goal), Y: y})
		labels.Labels, labels.TextStyle = append(labels.Labels, label), append(labels.TextStyle, style)
		y--
	}
	p.Y.Tick.Marker, p.Y.Tick.Length, p.Y.LineStyle.Width, p.Y.Padding = plot.ConstantTicks(groups), 0, 0, 20
	p.Add(&labels)
	return pic
}

// targetBars draws petstore's throughput as a share of the bare handler's throughput, with the goals.
func (r *Run) targetBars() *picture {
	var all []Target
	for _, group := range r.Targets(Postgres) { // PostgreSQL has all targets of SQLite, and more
		for _, store := range r.Stores() {
			for _, t := range r.Targets(store.ID) {
				if t.Unit == ofBare && t.Name == group.Name && len(t.Got) > 0 {
					all = append(all, t)
				}
			}
		}
	}
	return r.bars("Throughput as a share of bare net/http; the marks are the targets", all)
}

// peerBars draws the throughput of every subject as a share of the bare handler's throughput.
func (r *Run) peerBars() *picture {
	var all []Target
	for _, line := range r.Lines("beside") {
		for _, c := range r.Table("beside", line.ID) {
			if c.ID != Bare && len(r.Peers()) > 0 {
				all = append(all, Target{Name: line.Name, subject: c.Subject, Got: r.Ratio(c.Key)})
			}
		}
	}
	return r.bars(fmt.Sprintf("Peers: throughput as a share of bare net/http, %d connections", Busy), all)
}
