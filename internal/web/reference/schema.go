package reference

import (
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// field describes a parameter, a header, or a field of a body.
type field struct {
	Name, In, Type string
	Required       bool
	Given          bool // whether the server sends the field
	Addition       bool
	Facts          []string
	Enum           []string
	Example        string
	Text           template.HTML
	Fields         []field
}

// maxDepth limits how deep the page shows a schema that contains itself.
const maxDepth = 6

// field describes one value of a schema. The field's Text says what the value is for.
func (d *document) field(name string, s schema, level int) field {
	s = d.schema(s)
	f := field{Name: name, Type: d.typeName(s), Facts: facts(s), Text: markdown(s.Description)}
	for _, value := range s.Enum {
		f.Enum = append(f.Enum, plain(value))
	}
	f.Fields = d.fields(s, level+1)
	return f
}

// fields lists the fields of an object, or of the objects in an array.
func (d *document) fields(s schema, level int) []field {
	s = d.schema(s)
	if level > maxDepth {
		return nil
	}
	if s.Items != nil {
		return d.fields(*s.Items, level+1)
	}
	if len(s.OneOf) > 0 {
		return d.fieldsOfAny(s.OneOf, level)
	}
	var all []field
	for _, name := range fieldOrder(s) {
		f := d.field(name, s.Properties[name], level)
		f.Required = slices.Contains(s.Required, name)
		all = append(all, f)
	}
	return all
}

// fieldsOfAny lists the fields of several objects of which there is one. A field that they do not describe alike is listed for
// each. It leaves out the fields of inner objects, which other operations show.
func (d *document) fieldsOfAny(schemas []schema, level int) []field {
	var names []string
	byName := make(map[string][]field)
	for _, s := range schemas {
		for _, f := range d.fields(s, level) {
			if _, known := byName[f.Name]; !known {
				names = append(names, f.Name)
			}
			f.Fields = nil
			if !slices.ContainsFunc(byName[f.Name], func(other field) bool { return reflect.DeepEqual(other, f) }) {
				byName[f.Name] = append(byName[f.Name], f)
			}
		}
	}
	var all []field
	for _, name := range names {
		all = append(all, byName[name]...)
	}
	return all
}

// markGiven marks fields as sent by the server, so that the page does not call them required or optional.
func markGiven(fields []field) []field {
	for i := range fields {
		fields[i].Given = true
		markGiven(fields[i].Fields)
	}
	return fields
}

// fieldOrder lists the names of an object's fields: first the required fields in the order of the document, then the other
// fields by name.
func fieldOrder(s schema) []string {
	names := slices.Clone(s.Required)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (d *document) typeName(s schema) string {
	name := strings.Join(s.Type, " or ")
	switch {
	case len(s.OneOf) > 0:
		return "object"
	case s.Items != nil:
		return "array of " + d.typeName(d.schema(*s.Items))
	case s.Format != "":
		return name + " (" + s.Format + ")"
	}
	return name
}

// facts says in words which bounds a schema sets.
func facts(s schema) []string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	switch low, high := s.Minimum.String(), s.Maximum.String(); {
	case low == strconv.Itoa(math.MinInt64) && high == strconv.Itoa(math.MaxInt64): // the format int64 implies these bounds
	case low != "" && high != "":
		add("%s to %s", grouped(low), grouped(high))
	case low != "":
		add("at least %s", grouped(low))
	case high != "":
		add("at most %s", grouped(high))
	}
	switch {
	case s.MinLength > 0 && s.MaxLength > 0:
		add("%d to %s characters", s.MinLength, thousands(s.MaxLength))
	case s.MaxLength > 0:
		add("at most %s characters", thousands(s.MaxLength))
	case s.MinLength > 0:
		add("not empty")
	}
	if s.MaxItems > 0 {
		add("at most %d items", s.MaxItems)
	}
	if s.Default != nil {
		add("default %s", plain(s.Default))
	}
	if s.Const != nil {
		add("always %s", plain(s.Const))
	}
	return all
}

// grouped puts commas between groups of three digits in a whole number.
func grouped(digits string) string {
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// plain returns a value as a person writes it, with strings unquoted.
func plain(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

func thousands(n int64) string { return grouped(strconv.FormatInt(n, 10)) }
