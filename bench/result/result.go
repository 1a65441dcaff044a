// Package result holds what a run of the bench has measured, and what follows from it.
package result

import (
	"encoding/json"
	"os"
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
	Growth   []Shot    `json:"growth"`
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
	Connections []int         `json:"connections"`
	Rows        int64         `json:"rows"`
	Growth      []int64       `json:"growth"`
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
	Bare              = "bare"
	Dressed           = "dressed"
	SQLite            = "sqlite"
	Postgres          = "postgres"
	OneCommitSQLite   = "one-commit-sqlite"
	OneCommitPostgres = "one-commit-postgres"
)

// Line is a kind of load.
type Line struct{ ID, Name string }

// The lines, in the order in which they are measured.
const (
	Hot      = "hot"
	Distinct = "distinct"
	Get      = "get"
	Create   = "create"
	Mix      = "mix"

	Update    = "update"
	Adoption  = "adoption"
	Inventory = "inventory"
)

// Lines are all of them.
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

// Growing are the lines that are measured on ever more rows.
var Growing = []Line{Lines[1], Lines[2], Lines[7]}

// Shot is one measurement.
type Shot struct {
	Subject     string `json:"subject"`
	Line        string `json:"line"`
	Connections int    `json:"connections"`
	Round       int    `json:"round"`
	Rows        int64  `json:"rows,omitempty"` // only where it varies
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

// Subject finds a subject by its ID.
func (r *Run) Subject(id string) (Subject, bool) {
	for _, s := range r.Subjects {
		if s.ID == id {
			return s, true
		}
	}
	return Subject{}, false
}

// Failures counts the answers that were not the right ones, and tells the first.
func (r *Run) Failures() (n int64, first string) {
	return r.failures(func(s Subject) bool { return !s.Peer })
}

// PeerFailures counts the wrong answers of what others have made.
func (r *Run) PeerFailures() (n int64, first string) {
	return r.failures(func(s Subject) bool { return s.Peer })
}

func (r *Run) failures(of func(Subject) bool) (n int64, first string) {
	counted := map[string]bool{}
	for _, s := range r.Subjects {
		counted[s.ID] = of(s)
	}
	for _, shots := range [][]Shot{r.Shots, r.Growth} {
		for _, s := range shots {
			if !counted[s.Subject] {
				continue
			}
			if n += s.Failed; first == "" && s.Failed > 0 {
				first = s.Subject + ", " + s.Line + ": " + s.Failure
			}
		}
	}
	return n, first
}

// Requests counts all that were measured.
func (r *Run) Requests() (n int64) {
	for _, shots := range [][]Shot{r.Shots, r.Growth} {
		for _, s := range shots {
			n += s.Requests
		}
	}
	return n
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
