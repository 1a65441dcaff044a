package page

import (
	"fmt"

	"petstore/bench/plot"
	"petstore/bench/result"
)

// plots draws everything that the run has measured, by file name.
func plots(r *result.Run) map[string][]byte {
	v := view{r}
	svgs := map[string][]byte{
		"targets.svg":    targets(v),
		"throughput.svg": throughput(v),
		"latency.svg":    latency(v),
	}
	if len(r.Growth) > 0 {
		svgs["growth.svg"] = growth(v)
	}
	if len(v.Others()) > 0 {
		svgs["peers.svg"] = peers(v)
	}
	return svgs
}

// own are bare and petstore, in the order of their colours.
var own = []string{result.Bare, result.SQLite, result.Postgres}

func (v view) names(ids []string) []string {
	names := make([]string, len(ids))
	for i, id := range ids {
		s, _ := v.Subject(id)
		names[i] = s.Name
	}
	return names
}

func targets(v view) []byte {
	bars := plot.Bars{
		Title: fmt.Sprintf("Throughput as a share of bare net/http, %d connections", result.Busy),
		Names: append([]string{""}, v.names(own[1:])...), Goals: true,
	}
	for _, line := range v.Lines() {
		group := plot.Group{Name: line.Name}
		for i, id := range own[1:] {
			for _, t := range v.Targets(id) {
				if t.Line == line.ID && t.Measured() {
					group.Bars = append(group.Bars, bar(i+1, t.Got, t.Goal))
				}
			}
		}
		if len(group.Bars) > 0 {
			bars.Groups = append(bars.Groups, group)
		}
	}
	return bars.SVG()
}

func bar(color int, f result.Figures, goal float64) plot.Bar {
	label := decimals(f.Median())
	if goal > 0 {
		label += " of " + decimals(goal)
	}
	return plot.Bar{Color: color, Value: f.Median(), Low: f.Min(), High: f.Max(), Goal: goal, Label: label}
}

func throughput(v view) []byte {
	return plot.Lines{
		Title: "Requests a second, by connections", Across: "connections", Names: v.names(own),
		Panels: v.panels(func(id, line string) []plot.Series {
			return v.series(id, line, func(c result.Cell) result.Figures { return c.Throughput }, false)
		}),
	}.SVG()
}

func latency(v view) []byte {
	return plot.Lines{
		Title: "Latency, by connections: the median, and dashed what 99 of 100 stay below", Across: "connections", Names: v.names(own), Log: true,
		Panels: v.panels(func(id, line string) []plot.Series {
			return append(v.series(id, line, func(c result.Cell) result.Figures { return c.P50 }, false),
				v.series(id, line, func(c result.Cell) result.Figures { return c.P99 }, true)...)
		}),
		Format: power,
	}.SVG()
}

// power writes a power of ten of µs.
func power(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.0f s", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%.0f ms", v/1e3)
	}
	return fmt.Sprintf("%.0f µs", v)
}

// panels is one panel for each line, with the series of bare and petstore.
func (v view) panels(series func(id, line string) []plot.Series) (panels []plot.Panel) {
	var places []string
	for _, c := range v.Settings.Connections {
		places = append(places, fmt.Sprint(c))
	}
	for _, line := range v.Lines() {
		p := plot.Panel{Title: line.Name, Places: places}
		for i, id := range own {
			for _, s := range series(id, line.ID) {
				s.Color = i
				p.Series = append(p.Series, s)
			}
		}
		panels = append(panels, p)
	}
	return panels
}

func (v view) series(id, line string, figures func(result.Cell) result.Figures, dashed bool) []plot.Series {
	s := plot.Series{Dashed: dashed}
	for _, connections := range v.Settings.Connections {
		cell, ok := v.Cell(id, line, connections)
		if !ok {
			return nil
		}
		f := figures(cell)
		s.Values = append(s.Values, f.Median())
		if !dashed {
			s.Low, s.High = append(s.Low, f.Min()), append(s.High, f.Max())
		}
	}
	return []plot.Series{s}
}

func growth(v view) []byte {
	l := plot.Lines{
		Title:  fmt.Sprintf("Throughput as rows grow, against %s rows", result.Count(v.Settings.Growth[0])),
		Across: "rows", Names: append([]string{""}, v.names(own[1:])...), Top: 1.2,
	}
	var places []string
	for _, rows := range v.Settings.Growth {
		places = append(places, plot.Short(float64(rows)))
	}
	for _, line := range result.Growing {
		p := plot.Panel{Title: line.Name, Places: places}
		for i, id := range own[1:] {
			s := plot.Series{Color: i + 1}
			for _, rows := range v.Settings.Growth {
				f := v.Grown(id, line.ID, rows)
				s.Values, s.Low, s.High = append(s.Values, f.Median()), append(s.Low, f.Min()), append(s.High, f.Max())
			}
			if len(v.GrownThroughput(id, line.ID, v.Settings.Growth[0])) > 0 {
				p.Series = append(p.Series, s)
			}
		}
		l.Panels = append(l.Panels, p)
	}
	return l.SVG()
}

func peers(v view) []byte {
	ids := append([]string{}, own...)
	for _, s := range v.Others() {
		ids = append(ids, s.ID)
	}
	bars := plot.Bars{Title: fmt.Sprintf("Peers: throughput as a share of bare net/http, %d connections", result.Busy), Names: append([]string{""}, v.names(ids[1:])...)}
	for _, line := range v.Lines() {
		group := plot.Group{Name: line.Name}
		for i, id := range ids[1:] {
			if f := v.Ratio(id, result.Bare, line.ID, result.Busy); len(f) > 0 {
				group.Bars = append(group.Bars, bar(i+1, f, 0))
			}
		}
		bars.Groups = append(bars.Groups, group)
	}
	return bars.SVG()
}
