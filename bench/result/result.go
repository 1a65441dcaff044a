// Package result holds what a run of the bench has measured, and what follows from it.
package result

import (
	"encoding/json"
	"os"
	"slices"
	"time"

	"petstore/bench/load"
)

// Run is everything that a run has measured. The page and its plots are made from it alone.
type Run struct {
	Date     time.Time `json:"date"`
	Command  string    `json:"command"`
	Revision string    `json:"revision"` // of petstore
	Machine  Machine   `json:"machine"`
	Settings Settings  `json:"settings"`
	Subjects []Subject `json:"subjects"`
	LeftOut  []string  `json:"leftOut"` // sentences that say what could not be had, and why
	Shots    []Shot    `json:"shots"`
	Starts   []Start   `json:"starts"`
	Binary   int64     `json:"binary"` // bytes
}

// Machine is where it was measured.
type Machine struct {
	Processor  string        `json:"processor"`
	Processors int           `json:"processors"`
	Memory     int64         `json:"memory"` // bytes
	System     string        `json:"system"`
	Go         string        `json:"go"`
	FileSystem string        `json:"fileSystem"`
	Sync       time.Duration `json:"sync"` // how long 4 kB take to be durable
}

// Settings are how it was measured.
type Settings struct {
	Rounds      int           `json:"rounds"`
	Duration    time.Duration `json:"duration"` // of one measurement
	Warmup      time.Duration `json:"warmup"`   // before it
	Steady      time.Duration `json:"steady"`   // of one measurement at a constant rate
	Connections []int         `json:"connections"`
	Rows        int64         `json:"rows"`
	Growth      []int64       `json:"growth"`
	Shares      []float64     `json:"shares"` // of the highest throughput, at which latencies are measured
	Replicas    []int         `json:"replicas"`
}

// Subject is something that was measured.
type Subject struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Detail string `json:"detail"` // version, settings, durability
	Peer   bool   `json:"peer,omitempty"`
}

// The subjects that the page tells about by name.
const (
	Bare          = "bare"
	Dressed       = "dressed"
	SQLite        = "sqlite"
	Postgres      = "postgres"
	PlainSQLite   = "plain-sqlite"
	PlainPostgres = "plain-postgres"
)

// Line is a kind of load.
type Line struct{ ID, Name string }

// The lines.
const (
	Hot       = "hot"
	Distinct  = "distinct"
	Get       = "get"
	Create    = "create"
	Mix       = "mix"
	Update    = "update"
	Adoption  = "adoption"
	Inventory = "inventory"
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
	Replicated = []Line{Lines[0], Lines[1], Lines[2], Lines[3], Lines[4]}
)

// Key says what a shot has measured.
type Key struct {
	Subject     string  `json:"subject"`
	Line        string  `json:"line"`
	Connections int     `json:"connections"`
	Rows        int64   `json:"rows,omitempty"`     // where they vary
	Share       float64 `json:"share,omitempty"`    // of the highest throughput, at a constant rate
	Replicas    int     `json:"replicas,omitempty"` // behind a balancer
}

// Shot is one measurement.
type Shot struct {
	Key
	Round int `json:"round"`
	load.Result
	Resident int64 `json:"resident"` // bytes, of the server alone, after it
}

// Start is how a store starts.
type Start struct {
	Subject  string          `json:"subject"`
	State    string          `json:"state"` // of the store
	Times    []time.Duration `json:"times"` // from the command to the first answer
	Resident int64           `json:"resident"`
}

// Subject finds a subject by its ID; it has no name if it was not measured.
func (r *Run) Subject(id string) Subject {
	if i := slices.IndexFunc(r.Subjects, func(s Subject) bool { return s.ID == id }); i >= 0 {
		return r.Subjects[i]
	}
	return Subject{}
}

// Requests counts all that were measured.
func (r *Run) Requests() (n int64) {
	for _, s := range r.Shots {
		n += s.Requests
	}
	return n
}

// Wrong counts the wrong answers of petstore and the baselines, or of what others have made, and tells the first.
func (r *Run) Wrong(peers bool) (wrong struct {
	Answers int64
	First   string
}) {
	for _, s := range r.Shots {
		if r.Subject(s.Subject).Peer != peers || s.Failed == 0 {
			continue
		}
		if wrong.Answers == 0 {
			wrong.First = s.Subject + ", " + s.Line + ": " + s.Failure
		}
		wrong.Answers += s.Failed
	}
	return wrong
}

// Load reads a run from a file.
func Load(path string) (*Run, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(Run)
	return r, json.Unmarshal(text, r)
}

// Save writes the run into a file.
func (r *Run) Save(path string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
