package plot

import "petstore/bench/result"

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
