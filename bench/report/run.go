// Package report holds the measurements of the bench, and writes pages and plots from them. Every figure in the pages and
// plots comes from the measurements.
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

// Run holds all measurements of one run of the bench.
type Run struct {
	Date     time.Time
	Command  string // the command that ran the bench
	Revision string // the revision of petstore
	Machine  Machine
	Settings Settings
	Subjects []Subject
	LeftOut  []string // sentences that say which measurements were left out, and why
	Shots    []Shot
	Starts   []Start
	Binary   int64         // the size of the program in bytes
	Build    time.Duration // the duration of the first build; 0 if it was not measured

	// Incomplete says why the run ended before everything was measured. It is empty if the run is complete.
	Incomplete string `json:",omitempty"`
}

// Machine describes the machine on which a run was measured.
type Machine struct {
	Processor, System, Go, FileSystem string
	Processors                        int
	Memory                            uint64        // the memory in bytes
	Sync                              time.Duration // the time to make 4 kB durable
}

// Settings are the settings of a run.
type Settings struct {
	Rounds                   int
	Duration, Warmup, Steady time.Duration // the lengths of a measurement, its warm-up, and a measurement at a constant rate
	Connections, Replicas    []int
	Rows                     int64
	Growth                   []int64   // the numbers of rows to compare
	Shares                   []float64 // the shares of the highest throughput at which latencies are measured
}

// Subject is a service that the bench measures.
type Subject struct {
	ID, Name string
	Detail   string // the version, the settings and the durability
	Peer     bool   `json:",omitempty"` // whether this is another project, or what another team might write
}

// The ids of the subjects that the pages name.
const (
	Bare, Dressed    = "bare", "dressed" // Dressed is the bare handler with petstore's headers
	SQLite, Postgres = "sqlite", "postgres"
	Plain, Ceiling   = "plain-", "ceiling-" // the beginnings of ids; the name of the store follows
	Engine           = "engine"             // SQLite without HTTP
)

// Line is a kind of load, such as lists or creates.
type Line struct{ ID, Name string }

// The ids of the lines.
const (
	Hot, Distinct, Get, Create       = "hot", "distinct", "get", "create"
	Mix, Update, Adoption, Inventory = "mix", "update", "adoption", "inventory"
	CreateKeyed, UpdateKeyed         = "create-keyed", "update-keyed"
)

// Groups has all lines, in the order in which the bench measures them. It measures the lines of a group in turn, because
// their figures are compared with each other.
var Groups = [][]Line{
	{{Hot, "list, hot page"}},
	{{Distinct, "list, distinct pages"}},
	{{Get, "get, random ids"}},
	{{Create, "create, durable"}, {CreateKeyed, "create, with an Idempotency-Key"}},
	{{Mix, "95 % list, 5 % create"}},
	{{Update, "update, durable"}, {UpdateKeyed, "update, with an Idempotency-Key"}},
	{{Adoption, "create, order, complete"}},
	{{Inventory, "inventory"}},
}

// Lines are all lines.
var Lines = slices.Concat(Groups...)

// The lines that the bench measures with growing numbers of rows, at a constant rate, and on several replicas.
var (
	Growing    = Some(Distinct, Get, Inventory)
	Steady     = Some(Mix, Create)
	Replicated = Some(Hot, Distinct, Get, Create, Mix)
)

// Some returns the lines with these ids.
func Some(ids ...string) []Line {
	return slices.DeleteFunc(slices.Clone(Lines), func(l Line) bool { return !slices.Contains(ids, l.ID) })
}

// Busy is the number of connections in most comparisons.
const Busy = 64

// Key identifies what a Shot measures.
type Key struct {
	Subject, Line string
	Connections   int
	Rows          int64   `json:",omitempty"` // the number of rows; 0 where it does not vary
	Share         float64 `json:",omitempty"` // the share of the highest throughput; 0 unless the rate is constant
	Replicas      int     `json:",omitempty"` // the number of replicas behind a balancer; 0 without a balancer
}

// Shot is one measurement.
type Shot struct {
	Key
	Round int
	load.Result
	Resident int64 // the server's memory after the measurement, in bytes
}

// Start holds how long petstore took to start.
type Start struct {
	Subject, State string          // State describes the database
	Times          []time.Duration // the time from the command to the first answer, for each start
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

// Save writes a file, completely or not at all.
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

// Figures are the values of one measure, one value for each round.
type Figures []float64

// Median returns the middle value, or the mean of the two middle values. It returns 0 if there are no values.
func (f Figures) Median() float64 { return f.at(0.5) }

// Min returns the lowest value, or 0 if there are no values.
func (f Figures) Min() float64 { return f.at(0) }

// Max returns the highest value, or 0 if there are no values.
func (f Figures) Max() float64 { return f.at(1) }

// at returns the value below which the given share of the figures lies.
func (f Figures) at(share float64) float64 {
	if len(f) == 0 {
		return 0
	}
	sorted, place := slices.Sorted(slices.Values(f)), share*float64(len(f)-1)
	return (sorted[int(place)] + sorted[int(math.Ceil(place))]) / 2
}

// Cell holds the shots of all rounds for one key.
type Cell struct {
	Subject
	Key
	Shots []Shot
}

// Cell returns the shots of a key.
func (r *Run) Cell(key Key) Cell {
	cell := Cell{Subject: r.subject(key.Subject), Key: key}
	for _, s := range r.Shots {
		if s.Key == key {
			cell.Shots = append(cell.Shots, s)
		}
	}
	return cell
}

// Beside returns the throughput of another subject for the same key.
func (r *Run) Beside(subject string, key Key) Figures {
	key.Subject = subject
	return r.Cell(key).Of("throughput")
}

// subject returns the subject with that id. If the bench left the subject out, the result has no name.
func (r *Run) subject(id string) Subject {
	if i := r.place(id); i >= 0 {
		return r.Subjects[i]
	}
	return Subject{ID: id}
}

func (r *Run) place(id string) int {
	return slices.IndexFunc(r.Subjects, func(s Subject) bool { return s.ID == id })
}

// measures has a function for each figure of a shot, by name. Throughput is in requests per second. Latency and processor
// time of a request are in µs. Memory is in bytes.
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

// Of returns the figures of one measure.
func (c Cell) Of(measure string) (figures Figures) {
	for _, s := range c.Shots {
		figures = append(figures, measures[measure](s))
	}
	return figures
}

// against divides a figure for one key by the same figure for another, round by round.
func (r *Run) against(measure string, key, other Key) (ratios Figures) {
	others := r.Cell(other).Shots
	for _, s := range r.Cell(key).Shots {
		for _, o := range others {
			if o.Round == s.Round && o.Requests > 0 {
				ratios = append(ratios, measures[measure](s)/measures[measure](o))
			}
		}
	}
	return ratios
}

// AtBusy returns the key for a subject and a line at Busy connections.
func (r *Run) AtBusy(subject, line string) Key {
	return Key{Subject: subject, Line: line, Connections: Busy}
}

// bareKey returns the key for the bare handler that key is compared with.
func bareKey(key Key) Key { return Key{Subject: Bare, Line: key.Line, Connections: key.Connections} }

// Ratio compares the throughput with that of the bare handler. Where the number of rows varies, Ratio compares with the
// throughput at the fewest rows.
func (r *Run) Ratio(key Key) Figures {
	other := bareKey(key)
	if key.Rows > 0 {
		other.Subject, other.Rows = key.Subject, r.Settings.Growth[0]
	}
	return r.against("throughput", key, other)
}

// Wrong counts wrong answers and returns the first of them. It counts either the answers of peers or the answers of all
// other subjects.
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
