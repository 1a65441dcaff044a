// Package petstore is the domain: animals, API keys, plans and the seams behind which they are kept and counted.
// It imports the standard library only and knows nothing of HTTP or SQL.
package petstore

import (
	"strings"
	"unicode/utf8"
)

// MaxNameLength is the longest name of an animal, in Unicode code points.
const MaxNameLength = 1000

// Status is the availability of an animal. Its numbers are stored: never renumber them. Zero means "not given".
type Status uint8

// The states an animal can be in.
const (
	Available Status = 1
	Pending   Status = 2
	Sold      Status = 3
)

// Statuses lists every status in the order of the published interface.
var Statuses = []Status{Available, Pending, Sold}

// ParseStatus reads the published spelling of a status.
func ParseStatus(s string) (Status, bool) {
	switch s {
	case "available":
		return Available, true
	case "pending":
		return Pending, true
	case "sold":
		return Sold, true
	}
	return 0, false
}

// String is the published spelling.
func (s Status) String() string {
	switch s {
	case Available:
		return "available"
	case Pending:
		return "pending"
	case Sold:
		return "sold"
	}
	return ""
}

// NewPet is an animal before it has an id.
type NewPet struct {
	Name       string
	CategoryID int64
	Status     Status
}

// Pet is an animal in the store. Its id was never given to another and never will be.
type Pet struct {
	ID int64
	NewPet
}

// Validate returns what is wrong with the fields, nothing if the animal may be stored.
func (p NewPet) Validate() Faults {
	var faults Faults
	switch {
	case p.Name == "":
		faults.Add("name", "must not be empty")
	case !utf8.ValidString(p.Name):
		faults.Add("name", "must be valid UTF-8")
	case strings.ContainsRune(p.Name, 0):
		faults.Add("name", "must not contain the character U+0000")
	case strings.TrimSpace(p.Name) == "":
		faults.Add("name", "must not be only white space")
	case utf8.RuneCountInString(p.Name) > MaxNameLength:
		faults.Add("name", "must be at most 1,000 characters long")
	}
	if p.Status.String() == "" {
		faults.Add("status", "must be one of available, pending, sold")
	}
	return faults
}

// Faults collects what is wrong with the fields of one request, at most one fault a field.
type Faults struct {
	list    []fault
	missing bool
}

type fault struct{ field, problem string }

// Add notes a problem; the first one of a field stays.
func (f *Faults) Add(field, problem string) {
	for _, seen := range f.list {
		if seen.field == field {
			return
		}
	}
	f.list = append(f.list, fault{field, problem})
}

// AddMissing notes that a required field is not there.
func (f *Faults) AddMissing(field string) {
	f.Add(field, "is required")
	f.missing = true
}

// Merge adds the faults of fields that have none yet.
func (f *Faults) Merge(other Faults) {
	for _, o := range other.list {
		f.Add(o.field, o.problem)
	}
}

// Err is nil without faults, else one Error whose message names every faulty field.
func (f Faults) Err() error {
	if len(f.list) == 0 {
		return nil
	}
	code := InvalidField
	if f.missing {
		code = MissingField
	}
	clauses := make([]string, len(f.list))
	for i, one := range f.list {
		clauses[i] = one.field + " " + one.problem
	}
	return Errorf(code, "%s.", strings.Join(clauses, "; "))
}
