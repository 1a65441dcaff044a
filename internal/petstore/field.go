package petstore

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// CheckText says what is wrong with a text that people write and that may have at most max Unicode code points. It
// returns "" if the text may be stored.
func CheckText(s string, max int) (problem string) {
	switch {
	case s == "":
		return "must not be empty"
	case !utf8.ValidString(s):
		return "must be valid UTF-8"
	case strings.ContainsRune(s, 0):
		return "must not contain the character U+0000"
	case strings.TrimSpace(s) == "":
		return "must not be only white space"
	case utf8.RuneCountInString(s) > max:
		return fmt.Sprintf("must be at most %s characters long", thousands(max))
	}
	return ""
}

// thousands writes a number below a million with a comma between thousands.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// FormatTime is the published form of a time: RFC 3339 in UTC with three decimals.
func FormatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Fault is what is wrong with one field.
type Fault struct {
	// Field is the name of the field. It is empty if the problem concerns several fields and names them.
	Field string
	// Problem is a clause that follows the name, such as "must not be empty".
	Problem string
	// Missing means that the field is required, but was not given.
	Missing bool
}

// Faults lists what is wrong with the fields of a record, at most one fault per field.
type Faults []Fault

// Add notes a problem of a field, if there is one. The first problem of each field stays.
func (f *Faults) Add(field, problem string) {
	if problem != "" {
		f.add(Fault{Field: field, Problem: problem})
	}
}

// AddMissing notes that a required field is missing.
func (f *Faults) AddMissing(field string) {
	f.add(Fault{Field: field, Problem: "is required", Missing: true})
}

func (f *Faults) add(fault Fault) {
	for _, seen := range *f {
		if seen.Field == fault.Field {
			return
		}
	}
	*f = append(*f, fault)
}

// Err is nil if there are no faults. Otherwise it is one Error with all of them.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	code := InvalidField
	for _, fault := range f {
		if fault.Missing {
			code = MissingField
		}
	}
	return &Error{Code: code, Faults: f}
}

// String joins the faults to clauses of one sentence.
func (f Faults) String() string {
	clauses := make([]string, len(f))
	for i, fault := range f {
		clauses[i] = strings.TrimLeft(fault.Field+" "+fault.Problem, " ")
	}
	return strings.Join(clauses, "; ")
}
