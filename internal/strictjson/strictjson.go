// Package strictjson reads one JSON object by a description of its members. It is stricter than encoding/json: names are
// case-sensitive and stand only once, nothing follows the object, all text is valid UTF-8, and the number of names is
// bounded.
//
// An [Error] states facts. Each caller turns them into a sentence for its own readers.
package strictjson

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Shape describes an object: the members that it may have, in the order in which an Error lists their faults. Decode
// ignores other members. A Shape has at most 16 members.
type Shape[T any] []Member[T]

const maxMembers = 16

// Value is the JSON of one value.
type Value = jsontext.Value

// Member describes one member of an object. Required and Optional make it.
type Member[T any] struct {
	name     string
	required bool
	read     func(into *T, value Value) (problem string)
}

// Required describes a member that every object must have. The function read stores the value, or says what is wrong
// with it: a clause that can follow the name, such as "must be a string".
func Required[T any](name string, read func(into *T, value Value) (problem string)) Member[T] {
	return Member[T]{name, true, read}
}

// Optional describes a member that an object may have. The function read is like that of Required.
func Optional[T any](name string, read func(into *T, value Value) (problem string)) Member[T] {
	return Member[T]{name, false, read}
}

// Decode reads a text that must be one object. It returns an *Error if the text is something else, or if any members
// are missing or faulty. Members that were read before that stay stored.
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

// Kind is what is wrong with a text.
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

// Error says why a text is not the object that it should be.
type Error struct {
	Kind Kind
	// Offset is the byte at which a BadSyntax or DuplicateName was found.
	Offset int64
	// Faults lists the BadMembers, each once.
	Faults []Fault
}

// Fault is what is wrong with one member.
type Fault struct {
	Field   string
	Problem string // a clause that can follow the name
	Missing bool   // the member is required, but the object does not have it
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
