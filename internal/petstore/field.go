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

// Faults collects what is wrong with the fields of one request, at most one fault per field.
type Faults struct {
	list    []fault
	missing bool
}

type fault struct{ field, problem string }

// Add notes a problem of a field, if there is one. The first problem of each field stays.
func (f *Faults) Add(field, problem string) {
	if problem == "" {
		return
	}
	for _, seen := range f.list {
		if seen.field == field {
			return
		}
	}
	f.list = append(f.list, fault{field, problem})
}

// AddMissing notes that a required field is missing.
func (f *Faults) AddMissing(field string) {
	f.Add(field, "is required")
	f.missing = true
}

// Err is nil if there are no faults. Otherwise it is one Error whose message names every faulty field.
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
