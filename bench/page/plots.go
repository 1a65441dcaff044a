package page

import (
	"fmt"

	"petstore/bench/plot"
	"petstore/bench/result"
)

// plots draws everything that the run has measured, by name.
func (v view) plots() map[string][]byte {
	svgs := map[string][]byte{
		"targets": v.targets(),
		"throughput": v.byConnections("Requests a second, by connections", false,
			func(c result.Cell) []result.Figures { return []result.Figures{c.Throughput()} }),
		"latency": v.byConnections("Latency, by connections: the median, and dashed what 99 of 100 stay below", true,
			func(c result.Cell) []result.Figures { return []result.Figures{c.P50(), c.P99()} }),
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
						group.Bars = append(group.Bars, plot.Bar{Color: i, Got: t.Got, Goal: t.Goal})
					}
				}
			}
			bars.Add(group)
		}
	}
	return bars.SVG()
}

// peers are shares of bare of everything that was measured.
func (v view) peers() []byte {
	bars := plot.Bars{Title: fmt.Sprintf("Peers: throughput as a share of bare net/http, %d connections", result.Busy), Names: besideBare(v.all())}
	for _, line := range v.Measured() {
		group := plot.Group{Name: line.Name}
		for i, s := range v.all() {
			if f := v.OfBare(s.ID, line.ID, result.Busy); len(f) > 0 && s.ID != result.Bare {
				group.Bars = append(group.Bars, plot.Bar{Color: i, Got: f})
			}
		}
		bars.Add(group)
	}
	return bars.SVG()
}

// panels has one for each line, and in each the subjects at all places. Of their figures the second is dashed.
func panels[T int | int64 | float64](l plot.Lines, lines []result.Line, subjects []result.Subject, places []T,
	figures func(key result.Key, place T) []result.Figures) []byte {
	for _, place := range places {
		l.Places = append(l.Places, plot.Short(float64(place)))
	}
	for _, line := range lines {
		p := plot.Panel{Title: line.Name}
		for i, s := range subjects {
			series := []plot.Series{{Color: i}, {Color: i, Dashed: true}}
			for _, place := range places {
				for j, f := range figures(result.Key{Subject: s.ID, Line: line.ID, Connections: result.Busy}, place) {
					series[j].At = append(series[j].At, f)
				}
			}
			p.Series = append(p.Series, series...)
		}
		l.Panels = append(l.Panels, p)
	}
	return l.SVG()
}

// byConnections are the lines of bare and petstore.
func (v view) byConnections(title string, latency bool, figures func(result.Cell) []result.Figures) []byte {
	l := plot.Lines{Title: title, Across: "connections", Names: names(v.own()), Latency: latency}
	return panels(l, v.Measured(), v.own(), v.Settings.Connections, func(key result.Key, connections int) []result.Figures {
		key.Connections = connections
		return figures(v.Cell(key))
	})
}

// atRate is everything that was measured at a constant rate.
func (v view) atRate() []byte {
	l := plot.Lines{Title: "Latency at a constant rate: what 99 of 100 stay below", Across: "share of the highest throughput", Names: names(v.all()), Latency: true}
	return panels(l, result.Steady, v.all(), v.Settings.Shares, func(key result.Key, share float64) []result.Figures {
		key.Share = share
		return []result.Figures{v.Cell(key).P99()}
	})
}

func (v view) growth() []byte {
	l := plot.Lines{Title: fmt.Sprintf("Throughput as rows grow, against %s rows", result.Count(v.Settings.Growth[0])), Across: "rows", Names: besideBare(v.own()), Top: 1.2}
	return panels(l, result.Growing, v.own(), v.Settings.Growth, func(key result.Key, rows int64) []result.Figures {
		return []result.Figures{v.Grown(key.Subject, key.Line, rows)}
	})
}
