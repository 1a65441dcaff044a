package plot

// Bar is a value of one series, with the goal that it was to reach, if it had one.
type Bar struct {
	Color     int
	Value     float64
	Low, High float64
	Goal      float64
	Label     string
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
	Goals  bool // explain the mark of a goal
}

const (
	barHeight = 15.0
	barsLeft  = 190.0
	barsWidth = 520.0
)

// SVG draws it.
func (b Bars) SVG() []byte {
	height, top := 70.0, 0.0
	for _, g := range b.Groups {
		height += barHeight*float64(len(g.Bars)) + 14
		for _, bar := range g.Bars {
			top = max(top, bar.Value, bar.High, bar.Goal)
		}
	}
	top = roundUp(top, 1, 1.5, 2, 2.5, 4, 5, 7.5, 10)
	d := newDrawing(b.Title, barsLeft+barsWidth+120, height+24)
	d.legend(16, 48, b.Names)
	if b.Goals {
		d.rule("goal", d.width-82, 38, d.width-82, 50)
		d.text(d.width-74, 48, "small", "start", "target")
	}
	x := func(v float64) float64 { return barsLeft + barsWidth*v/top }
	for i := range 6 {
		v := top * float64(i) / 5
		d.rule("grid", x(v), 62, x(v), height)
		d.text(x(v), height+15, "small", "middle", trim(v))
	}
	y := 70.0
	for _, g := range b.Groups {
		d.text(barsLeft-8, y+barHeight*float64(len(g.Bars))/2+4, "head", "end", g.Name)
		for _, bar := range g.Bars {
			drawBar(d, bar, x, y)
			y += barHeight
		}
		y += 14
	}
	return d.done()
}

func drawBar(d *drawing, bar Bar, x func(float64) float64, y float64) {
	d.box(color(bar.Color)+" fill", x(0), y+1, max(1, x(bar.Value)-x(0)), barHeight-3)
	if bar.High > bar.Low {
		middle := y + barHeight/2 - 0.5
		d.rule("spread", x(bar.Low), middle, x(bar.High), middle)
	}
	if bar.Goal > 0 {
		d.rule("goal", x(bar.Goal), y-1, x(bar.Goal), y+barHeight-1)
	}
	d.text(barsLeft+barsWidth+16, y+barHeight-4, "small", "start", bar.Label)
}
