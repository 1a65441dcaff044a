// Package strictjson reads one JSON object whose members are described by a [Shape]. It is stricter than encoding/json:
// names are case-sensitive and unique, nothing may follow the object, all text must be valid UTF-8, and the number of
// names is limited.
//
// An [Error] contains facts. Each caller turns these facts into a message for its own readers.
package strictjson

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Shape describes the members of an object. An Error lists faults in the same order. Decode ignores members that the Shape
// does not describe. A Shape has at most 16 members.
type Shape[T any] []Member[T]

const maxMembers = 16

// Value is one JSON value that is not decoded yet.
type Value = jsontext.Value

// Member describes one member of an object. Use Required or Optional to make a Member.
type Member[T any] struct {
	name     string
	required bool
	read     func(into *T, value Value) (problem string)
}

// Required describes a member that every object must have. The function read stores the value and returns what is wrong with
// the value, or "". A problem is a clause that can follow the name of the member, such as "must be a string".
func Required[T any](name string, read func(into *T, value Value) (problem string)) Member[T] {
	return Member[T]{name, true, read}
}

// Optional describes a member that an object may have. The function read works as in Required.
func Optional[T any](name string, read func(into *T, value Value) (problem string)) Member[T] {
	return Member[T]{name, false, read}
}

// Decode reads a text that must be one object. It returns an *Error if the text is not one object, or if a member is missing
// or faulty. Even then, Decode stores the members that it can read.
func (s Shape[T]) Decode(text []byte, into *T) error {
	var seen [maxMembers]bool
	var problems [maxMembers]string
	err := eachMember(text, func(name string, value Value) {
		for i := range s {
			if m := &s[i]; m.name == name {
				seen[i], problems[i] = true, m.read(into, value)
				return
			}
		}
	})
	if err != nil {
		return err
	}
	var faults []Fault
	for i, m := range s {
		switch {
		case m.required && !seen[i]:
			faults = append(faults, Fault{Field: m.name, Problem: "is required", Missing: true})
		case problems[i] != "":
			faults = append(faults, Fault{Field: m.name, Problem: problems[i]})
		}
	}
	if faults != nil {
		return &Error{Kind: BadMembers, Faults: faults}
	}
	return nil
}

// Kind says what is wrong with a text.
type Kind string

// The kinds of errors.
const (
	Empty         Kind = "the text is empty"
	NotObject     Kind = "the text is not a JSON object"
	BadSyntax     Kind = "the text is not valid JSON"
	DuplicateName Kind = "an object has the same name twice"
	TrailingData  Kind = "there is more after the object"
	TooManyNames  Kind = "the text has too many names" // more than MaxNames
	BadMembers    Kind = "members are missing or faulty"
)

// Error says why Decode refused a text.
type Error struct {
	Kind Kind
	// Offset is the byte offset of a BadSyntax or DuplicateName error.
	Offset int64
	// Faults lists the missing and faulty members if the kind is BadMembers.
	Faults []Fault
}

// Fault says what is wrong with one member.
type Fault struct {
	Field   string
	Problem string // a clause that can follow the name of the member, such as "must be a string"
	Missing bool   // whether the member is required but absent
}

func (e *Error) Error() string {
	switch e.Kind {
	case BadSyntax, DuplicateName:
		return fmt.Sprintf("%s (at byte %d)", e.Kind, e.Offset)
	case BadMembers:
		clauses := make([]string, len(e.Faults))
		for i, fault := range e.Faults {
			clauses[i] = fault.Field + " " + fault.Problem
		}
		return strings.Join(clauses, "; ")
	}
	return string(e.Kind)
}
