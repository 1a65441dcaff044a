package petstore

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// CheckText returns what is wrong with a text that people write, or "" if the text may be stored. A text may have at most
// maxLength Unicode code points.
func CheckText(s string, maxLength int) (problem string) {
	switch {
	case s == "":
		return "must not be empty"
	case !utf8.ValidString(s):
		return "must be valid UTF-8"
	case strings.ContainsRune(s, 0):
		return "must not contain the character U+0000"
	case strings.TrimSpace(s) == "":
		return "must not be only white space"
	case utf8.RuneCountInString(s) > maxLength:
		return fmt.Sprintf("must be at most %s characters long", thousands(maxLength))
	}
	return ""
}

// thousands formats a number below a million with a comma before the last three digits.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// FormatTime formats a time as the API shows it: RFC 3339 in UTC with milliseconds.
func FormatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Fault describes what is wrong with one field.
type Fault struct {
	// Field is the name of the field. It is empty if the problem concerns several fields and names them itself.
	Field string
	// Problem is a clause that follows the name of the field, such as "must not be empty".
	Problem string
	// Missing means that the field is required but absent.
	Missing bool
}

// Faults lists what is wrong with the fields of a record, with at most one fault per field.
type Faults []Fault

// Add adds a fault for a field, unless problem is "" or the field already has a fault.
func (f *Faults) Add(field, problem string) {
	if problem != "" {
		f.add(Fault{Field: field, Problem: problem})
	}
}

// AddMissing adds the fault that a required field is missing.
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

// Err returns nil if there are no faults. Otherwise it returns one Error with all faults.
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

// String joins the faults into one sentence, without the period at its end.
func (f Faults) String() string {
	clauses := make([]string, len(f))
	for i, fault := range f {
		clauses[i] = strings.TrimLeft(fault.Field+" "+fault.Problem, " ")
	}
	return strings.Join(clauses, "; ")
}
