package result

import (
	"slices"
	"time"
)

// Figures are what the rounds gave for one thing.
type Figures []float64

// Median is the middle one, or between the two in the middle; 0 of none.
func (f Figures) Median() float64 {
	if len(f) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(f))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Min is the lowest, 0 of none.
func (f Figures) Min() float64 {
	if len(f) == 0 {
		return 0
	}
	return slices.Min(f)
}

// Max is the highest, 0 of none.
func (f Figures) Max() float64 {
	if len(f) == 0 {
		return 0
	}
	return slices.Max(f)
}

// What can be read from a shot.
func throughput(s Shot) float64 { return float64(s.Requests) / s.Elapsed.Seconds() }
func p50(s Shot) float64        { return micros(s.P50) }
func p99(s Shot) float64        { return micros(s.P99) }
func cpu(s Shot) float64        { return perRequest(s, s.ServerCPU) }
func storesCPU(s Shot) float64  { return perRequest(s, s.StoresCPU) }
func loadCPU(s Shot) float64    { return perRequest(s, s.LoadCPU) }
func resident(s Shot) float64   { return float64(s.Resident) }

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func perRequest(s Shot, d time.Duration) float64 { return micros(d) / float64(max(1, s.Requests)) }

// Cell is one line of one subject at some number of connections.
type Cell struct {
	Throughput Figures // requests a second
	P50, P99   Figures // µs
	CPU        Figures // µs of the server for a request
	StoresCPU  Figures // µs of PostgreSQL and Redis for a request
	LoadCPU    Figures // µs of the load for a request
	Resident   Figures // bytes
}

// Cell gathers what the rounds gave; false if nothing.
func (r *Run) Cell(subject, line string, connections int) (Cell, bool) {
	shots := r.shots(subject, line, connections)
	if len(shots) == 0 {
		return Cell{}, false
	}
	return Cell{
		Throughput: read(shots, throughput),
		P50:        read(shots, p50),
		P99:        read(shots, p99),
		CPU:        read(shots, cpu),
		StoresCPU:  read(shots, storesCPU),
		LoadCPU:    read(shots, loadCPU),
		Resident:   read(shots, resident),
	}, true
}

// Ratio compares the throughput of two subjects, round by round.
func (r *Run) Ratio(subject, against, line string, connections int) Figures {
	return ratios(r.shots(subject, line, connections), r.shots(against, line, connections))
}

// Grown compares the throughput on many rows with that on the fewest, round by round.
func (r *Run) Grown(subject, line string, rows int64) Figures {
	return ratios(r.grown(subject, line, rows), r.grown(subject, line, r.Settings.Growth[0]))
}

// GrownThroughput is the throughput on that many rows.
func (r *Run) GrownThroughput(subject, line string, rows int64) Figures {
	return read(r.grown(subject, line, rows), throughput)
}

func (r *Run) shots(subject, line string, connections int) (shots []Shot) {
	for _, s := range r.Shots {
		if s.Subject == subject && s.Line == line && s.Connections == connections {
			shots = append(shots, s)
		}
	}
	return shots
}

func (r *Run) grown(subject, line string, rows int64) (shots []Shot) {
	for _, s := range r.Growth {
		if s.Subject == subject && s.Line == line && s.Rows == rows {
			shots = append(shots, s)
		}
	}
	return shots
}

func read(shots []Shot, what func(Shot) float64) Figures {
	figures := make(Figures, len(shots))
	for i, s := range shots {
		figures[i] = what(s)
	}
	return figures
}

func ratios(shots, against []Shot) (figures Figures) {
	for _, s := range shots {
		for _, other := range against {
			if other.Round == s.Round && other.Requests > 0 {
				figures = append(figures, throughput(s)/throughput(other))
			}
		}
	}
	return figures
}
