package page

import (
	"fmt"

	"petstore/bench/plot"
	"petstore/bench/result"
)

// plots draws everything that the run has measured, by name.
func (v view) plots() map[string][]byte {
	svgs := map[string][]byte{
		"targets":    v.targets(),
		"throughput": v.byConnections("Requests a second, by connections", false, result.Cell.Throughput),
		"latency": v.byConnections("Latency, by connections: the median, and dashed what 99 of 100 stay below", true,
			result.Cell.P50, result.Cell.P99),
		"rate": v.atRate(),
	}
	if v.HasGrowth() {
		svgs["growth"] = v.growth()
	}
	if len(v.Peers()) > 0 {
		svgs["peers"] = v.peers()
	}
	return svgs
}

// names are those of subjects, at the place of their color.
func names(subjects []result.Subject) (names []string) {
	for _, s := range subjects {
		names = append(names, s.Name)
	}
	return names
}

// besideBare are names without that of bare, which is what the others are compared with.
func besideBare(subjects []result.Subject) []string {
	names := names(subjects)
	names[0] = ""
	return names
}

// targets are shares of bare beside what they were to be.
func (v view) targets() []byte {
	bars := plot.Bars{Title: "Throughput as a share of bare net/http, by connections; the marks are the targets", Names: besideBare(v.own())}
	for _, connections := range []int{1, result.Busy} {
		for _, line := range result.Lines {
			group := plot.Group{Name: fmt.Sprintf("%s, %d", line.Name, connections)}
			for i, s := range v.own() {
				for _, t := range v.Targets(s.ID) {
					if t.Line == line.ID && t.Connections == connections && t.Measured() {
						group.Bars = append(group.Bars, bar(i, t.Got, t.Goal))
					}
				}
			}
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

// peers are shares of bare of everything that was measured.
func (v view) peers() []byte {
	all := append(v.own(), v.Peers()...)
	bars := plot.Bars{Title: fmt.Sprintf("Peers: throughput as a share of bare net/http, %d connections", result.Busy), Names: besideBare(all)}
	for _, line := range v.Measured() {
		group := plot.Group{Name: line.Name}
		for i, s := range all {
			if f := v.OfBare(s.ID, line.ID, result.Busy); len(f) > 0 && s.ID != result.Bare {
				group.Bars = append(group.Bars, bar(i, f, 0))
			}
		}
		bars.Groups = append(bars.Groups, group)
	}
	return bars.SVG()
}

// byConnections is a panel for each line with bare and petstore; the second of the figures is dashed.
func (v view) byConnections(title string, latency bool, figures ...func(result.Cell) result.Figures) []byte {
	l := plot.Lines{Title: title, Across: "connections", Names: names(v.own()), Latency: latency}
	for _, line := range v.Measured() {
		p := plot.Panel{Title: line.Name, Places: texts(v.Settings.Connections)}
		for i, s := range v.own() {
			for dashed, figure := range figures {
				series := plot.Series{Color: i, Dashed: dashed > 0}
				for _, connections := range v.Settings.Connections {
					series.Add(figure(v.Cell(result.Key{Subject: s.ID, Line: line.ID, Connections: connections})))
				}
				p.Series = append(p.Series, series)
			}
		}
		l.Panels = append(l.Panels, p)
	}
	return l.SVG()
}

// atRate is a panel for each line with everything that was measured at a constant rate.
func (v view) atRate() []byte {
	all := append(v.own(), v.Peers()...)
	l := plot.Lines{Title: "Latency at a constant rate: what 99 of 100 stay below", Across: "share of the highest throughput", Names: names(all), Latency: true}
	for _, line := range result.Steady {
		p := plot.Panel{Title: line.Name, Places: texts(v.Settings.Shares)}
		for i, s := range all {
			series := plot.Series{Color: i}
			for _, share := range v.Settings.Shares {
				series.Add(v.Cell(result.Key{Subject: s.ID, Line: line.ID, Connections: result.Busy, Share: share}).P99())
			}
			p.Series = append(p.Series, series)
		}
		l.Panels = append(l.Panels, p)
	}
	return l.SVG()
}

func (v view) growth() []byte {
	l := plot.Lines{Title: fmt.Sprintf("Throughput as rows grow, against %s rows", result.Count(v.Settings.Growth[0])), Across: "rows", Names: besideBare(v.own()), Top: 1.2}
	for _, line := range result.Growing {
		p := plot.Panel{Title: line.Name}
		for _, rows := range v.Settings.Growth {
			p.Places = append(p.Places, plot.Short(float64(rows)))
		}
		for i, s := range v.own() {
			series := plot.Series{Color: i}
			for _, rows := range v.Settings.Growth {
				series.Add(v.Grown(s.ID, line.ID, rows))
			}
			p.Series = append(p.Series, series)
		}
		l.Panels = append(l.Panels, p)
	}
	return l.SVG()
}

func texts[T any](values []T) (texts []string) {
	for _, v := range values {
		texts = append(texts, fmt.Sprint(v))
	}
	return texts
}
