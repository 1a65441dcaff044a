// Package report holds what the bench has measured, and writes pages and plots of it. No figure in them comes from
// anywhere else.
package report

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"petstore/bench/load"
)

// Run is everything that a run has measured.
type Run struct {
	Date     time.Time
	Command  string // of the bench
	Revision string // of petstore
	Machine  Machine
	Settings Settings
	Subjects []Subject
	LeftOut  []string // sentences that say what could not be had, and why
	Shots    []Shot
	Starts   []Start
	Binary   int64         // bytes
	Build    time.Duration // of the program, with nothing compiled before; 0 if it was not measured
}

// Machine is where it was measured.
type Machine struct {
	Processor, System, Go, FileSystem string
	Processors                        int
	Memory                            uint64        // bytes
	Sync                              time.Duration // how long 4 kB take to be durable
}

// Settings are how it was measured.
type Settings struct {
	Rounds                   int
	Duration, Warmup, Steady time.Duration // of a measurement, before it, and of one at a constant rate
	Connections, Replicas    []int
	Rows                     int64
	Growth                   []int64   // the numbers of rows that are compared
	Shares                   []float64 // of the highest throughput, at which latencies are measured
}

// Subject is something that was measured.
type Subject struct {
	ID, Name string
	Detail   string // version, settings, durability
	Peer     bool   `json:",omitempty"` // others make it so
}

// The subjects that the page tells about by name.
const (
	Bare, Dressed    = "bare", "dressed" // dressed is bare with petstore's headers
	SQLite, Postgres = "sqlite", "postgres"
	Plain            = "plain-" // and the store that it is on
)

// Line is a kind of load.
type Line struct{ ID, Name string }

// The lines.
const (
	Hot, Distinct, Get, Create       = "hot", "distinct", "get", "create"
	Mix, Update, Adoption, Inventory = "mix", "update", "adoption", "inventory"
)

// Lines are all of them, in the order in which they are measured.
var Lines = []Line{
	{Hot, "list, hot page"},
	{Distinct, "list, distinct pages"},
	{Get, "get, random ids"},
	{Create, "create, durable"},
	{Mix, "95 % list, 5 % create"},
	{Update, "update, durable"},
	{Adoption, "create, order, complete"},
	{Inventory, "inventory"},
}

// What is measured on ever more rows, at a constant rate, and on several replicas.
var (
	Growing    = []Line{Lines[1], Lines[2], Lines[7]}
	Steady     = []Line{Lines[4], Lines[3]}
	Replicated = Lines[:5]
)

// Busy is the number of connections at which most things are compared.
const Busy = 64

// Key says what a shot has measured.
type Key struct {
	Subject, Line string
	Connections   int
	Rows          int64   `json:",omitempty"` // where they vary
	Share         float64 `json:",omitempty"` // of the highest throughput, at a constant rate
	Replicas      int     `json:",omitempty"` // behind a balancer
}

// Shot is one measurement.
type Shot struct {
	Key
	Round int
	load.Result
	Resident int64 // bytes, of the server alone, after it
}

// Start is how a store starts.
type Start struct {
	Subject, State string          // the state is that of the store
	Times          []time.Duration // from the command to the first answer
	Resident       int64
}

// Load reads a file that Save has written.
func Load[T any](path string) (*T, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	value := new(T)
	return value, json.Unmarshal(text, value)
}

// Save writes a file, whole or not at all.
func Save(path string, value any) error {
	text, err := json.Marshal(value)
	if err == nil {
		err = os.WriteFile(path+".new", append(text, '\n'), 0o644)
	}
	if err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

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
type Cell struct {
	Subject
	Key
	Shots []Shot
}

// Cell gathers the shots of a key.
func (r *Run) Cell(key Key) Cell {
	cell := Cell{Subject: r.subject(key.Subject), Key: key}
	for _, s := range r.Shots {
		if s.Key == key {
			cell.Shots = append(cell.Shots, s)
		}
	}
	return cell
}

// subject has no name if it was left out.
func (r *Run) subject(id string) Subject {
	if i := r.place(id); i >= 0 {
		return r.Subjects[i]
	}
	return Subject{ID: id}
}

func (r *Run) place(id string) int {
	return slices.IndexFunc(r.Subjects, func(s Subject) bool { return s.ID == id })
}

// measures are the figures of a shot by name: requests a second, latencies and processor time of a request in µs, bytes.
var measures = map[string]func(Shot) float64{
	"throughput": func(s Shot) float64 { return s.Throughput() },
	"p50":        func(s Shot) float64 { return float64(s.P50) / 1e3 },
	"p99":        func(s Shot) float64 { return float64(s.P99) / 1e3 },
	"p99.9":      func(s Shot) float64 { return float64(s.P999) / 1e3 },
	"cpu":        func(s Shot) float64 { return s.PerRequest(s.ServerCPU) },
	"stores":     func(s Shot) float64 { return s.PerRequest(s.StoresCPU) },
	"postgres":   func(s Shot) float64 { return s.PerRequest(s.EachStore[0]) },
	"redis":      func(s Shot) float64 { return s.PerRequest(s.EachStore[1]) },
	"haproxy":    func(s Shot) float64 { return s.PerRequest(s.EachStore[2]) },
	"load":       func(s Shot) float64 { return s.PerRequest(s.LoadCPU) },
	"memory":     func(s Shot) float64 { return float64(s.Resident) },
}

// Of gives one of the measures.
func (c Cell) Of(measure string) (figures Figures) {
	for _, s := range c.Shots {
		figures = append(figures, measures[measure](s))
	}
	return figures
}

// against compares the throughput of two keys, round by round.
func (r *Run) against(key, other Key) (ratios Figures) {
	others := r.Cell(other).Shots
	for _, s := range r.Cell(key).Shots {
		for _, o := range others {
			if o.Round == s.Round && o.Requests > 0 {
				ratios = append(ratios, s.Throughput()/o.Throughput())
			}
		}
	}
	return ratios
}

// AtBusy is the key of a subject and a line at many connections.
func (r *Run) AtBusy(subject, line string) Key {
	return Key{Subject: subject, Line: line, Connections: Busy}
}

// Ratio compares the throughput with that of bare or, where rows vary, with that on the fewest.
func (r *Run) Ratio(key Key) Figures {
	other := Key{Subject: Bare, Line: key.Line, Connections: key.Connections}
	if key.Rows > 0 {
		other.Subject, other.Rows = key.Subject, r.Settings.Growth[0]
	}
	return r.against(key, other)
}

// Wrong counts the wrong answers of petstore and the baselines, or of what others have made, and tells the first.
func (r *Run) Wrong(peers bool) (wrong struct {
	Answers int64
	First   string
}) {
	for _, s := range r.Shots {
		if r.subject(s.Subject).Peer != peers || s.Failed == 0 {
			continue
		}
		if wrong.Answers += s.Failed; wrong.First == "" {
			wrong.First = fmt.Sprintf("%s, %s: %s", s.Subject, s.Line, s.Failure)
		}
	}
	return wrong
}
