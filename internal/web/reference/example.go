package reference

import (
	"bytes"
	"encoding/json"
	"html/template"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// example is a value in the document, with a note on what the value shows.
type example struct {
	Summary string
	Value   json.RawMessage
}

// examples lists the examples for a body. The fields of objects have the same order as in their schema.
func (d *document) examples(m media) []example {
	var all []example
	if m.Example != nil {
		all = append(all, example{Value: d.orderFields(m.Example, m.Schema)})
	}
	for _, name := range slices.Sorted(maps.Keys(m.Examples)) {
		e := m.Examples[name]
		all = append(all, example{e.Summary, d.orderFields(e.Value, m.Schema)})
	}
	return all
}

// orderFields puts the fields of objects into the order of their schema, because JSON has lost that order.
func (d *document) orderFields(value json.RawMessage, s schema) json.RawMessage {
	s = d.schema(s)
	var object map[string]json.RawMessage
	var array []json.RawMessage
	var parts [][]byte
	switch {
	case json.Unmarshal(value, &object) == nil && object != nil:
		if kind := s.Discriminator.Mapping[plain(object[s.Discriminator.PropertyName])]; kind != "" {
			return d.orderFields(value, schema{Ref: kind})
		}
		for _, name := range slices.Concat(fieldOrder(s), slices.Sorted(maps.Keys(object))) {
			if inner, ok := object[name]; ok {
				label, _ := json.Marshal(name) // cannot fail for a string
				parts = append(parts, slices.Concat(label, []byte(":"), d.orderFields(inner, s.Properties[name])))
				delete(object, name)
			}
		}
		return slices.Concat([]byte("{"), bytes.Join(parts, []byte(",")), []byte("}"))
	case json.Unmarshal(value, &array) == nil && s.Items != nil:
		for _, inner := range array {
			parts = append(parts, d.orderFields(inner, *s.Items))
		}
		return slices.Concat([]byte("["), bytes.Join(parts, []byte(",")), []byte("]"))
	}
	return value
}

// Lines returns the example with one field per line.
func (e example) Lines() string {
	var b bytes.Buffer
	if json.Indent(&b, e.Value, "", "  ") != nil {
		return string(e.Value)
	}
	return b.String()
}

// Line returns the example on one line. Indented JSON has line breaks only between values.
func (e example) Line() string {
	var b bytes.Buffer
	if json.Indent(&b, e.Value, "", "") != nil {
		return string(e.Value)
	}
	return strings.NewReplacer(",\n", ", ", "\n", "").Replace(b.String())
}

var tokens = regexp.MustCompile("\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'|`[^`]*`|\\b[0-9]+\\b|\\b(?:true|false|null)\\b")

// highlight colors the names, strings and numbers of code.
func highlight(code string) template.HTML {
	var b strings.Builder
	end := 0
	for _, at := range tokens.FindAllStringIndex(code, -1) {
		class, token, rest := "n", code[at[0]:at[1]], code[at[1]:]
		if strings.ContainsAny(token[:1], "\"'`") {
			class = "s"
			if strings.HasPrefix(rest, ":") {
				class = "k"
			}
		}
		b.WriteString(template.HTMLEscapeString(code[end:at[0]]))
		b.WriteString(`<span class="` + class + `">` + template.HTMLEscapeString(token) + `</span>`)
		end = at[1]
	}
	b.WriteString(template.HTMLEscapeString(code[end:]))
	return template.HTML(b.String())
}
