package result

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dustin/go-humanize"
)

// Figures are what the rounds gave for one thing.
type Figures []float64

// Median is the middle one, or between the two in the middle; 0 of none.
func (f Figures) Median() float64 { return f.at(0.5) }

// Min is the lowest, 0 of none.
func (f Figures) Min() float64 { return f.at(0) }

// Max is the highest, 0 of none.
func (f Figures) Max() float64 { return f.at(1) }

// at is what that share of the figures stays below.
func (f Figures) at(share float64) float64 {
	if len(f) == 0 {
		return 0
	}
	sorted, place := slices.Sorted(slices.Values(f)), share*float64(len(f)-1)
	return (sorted[int(place)] + sorted[int(math.Ceil(place))]) / 2
}

// Cell is what the rounds gave for one key.
type Cell []Shot

// Cell gathers the shots of a key.
func (r *Run) Cell(key Key) (cell Cell) {
	for _, s := range r.Shots {
		if s.Key == key {
			cell = append(cell, s)
		}
	}
	return cell
}

func (c Cell) read(what func(Shot) float64) Figures {
	figures := make(Figures, len(c))
	for i, s := range c {
		figures[i] = what(s)
	}
	return figures
}

// Throughput is in requests a second.
func (c Cell) Throughput() Figures { return c.read(func(s Shot) float64 { return s.Throughput() }) }

// P50 is the median latency in µs, P99 and P999 what 99 of 100 and 999 of 1000 stay below.
func (c Cell) P50() Figures  { return c.read(func(s Shot) float64 { return micros(s.P50) }) }
func (c Cell) P99() Figures  { return c.read(func(s Shot) float64 { return micros(s.P99) }) }
func (c Cell) P999() Figures { return c.read(func(s Shot) float64 { return micros(s.P999) }) }

// CPU is what the server takes for a request in µs, StoresCPU what its stores take, StoreCPU what one of them takes, and
// LoadCPU the load.
func (c Cell) CPU() Figures { return c.read(func(s Shot) float64 { return s.PerRequest(s.ServerCPU) }) }
func (c Cell) StoresCPU() Figures {
	return c.read(func(s Shot) float64 { return s.PerRequest(s.StoresCPU) })
}
func (c Cell) StoreCPU(i int) Figures {
	return c.read(func(s Shot) float64 { return s.PerRequest(s.EachStore[i]) })
}
func (c Cell) LoadCPU() Figures {
	return c.read(func(s Shot) float64 { return s.PerRequest(s.LoadCPU) })
}

// Resident is the server's memory in bytes.
func (c Cell) Resident() Figures { return c.read(func(s Shot) float64 { return float64(s.Resident) }) }

// Against compares the throughput with another one's, round by round.
func (c Cell) Against(other Cell) (ratios Figures) {
	for _, s := range c {
		for _, o := range other {
			if o.Round == s.Round && o.Requests > 0 {
				ratios = append(ratios, s.Throughput()/o.Throughput())
			}
		}
	}
	return ratios
}

// OfBare is the share of bare's throughput that a subject reaches.
func (r *Run) OfBare(subject, line string, connections int) Figures {
	return r.Cell(Key{Subject: subject, Line: line, Connections: connections}).Against(r.Cell(Key{Subject: Bare, Line: line, Connections: connections}))
}

// Grown compares the throughput on many rows with that on the fewest.
func (r *Run) Grown(subject, line string, rows int64) Figures {
	fewest := Key{Subject: subject, Line: line, Connections: Busy, Rows: r.Settings.Growth[0]}
	many := fewest
	many.Rows = rows
	return r.Cell(many).Against(r.Cell(fewest))
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// Count writes a number of things as people do: 10 thousand, 10 million, else with commas.
func Count(n int64) string {
	switch {
	case n >= 1_000_000 && n%1_000_000 == 0:
		return fmt.Sprint(n/1_000_000, " million")
	case n >= 1_000 && n%1_000 == 0:
		return fmt.Sprint(n/1_000, " thousand")
	}
	return humanize.Comma(n)
}

// Decimals writes a figure with as many digits as it deserves.
func Decimals(v float64) string {
	switch {
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v > 0 && v < 0.01:
		return fmt.Sprintf("%.4f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
