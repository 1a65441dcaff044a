package reference

import (
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// endpoint is an operation as the page shows it.
type endpoint struct {
	ID, Method, Path, Summary, Sunset string
	Text                              template.HTML
	Deprecated, Addition              bool
	Webhook                           bool // whether this server sends the request
	Parameters                        []field
	Body                              *payload
	Answers, Errors                   []answer
	Samples                           []sample
}

// Changes reports whether the operation changes something.
func (c endpoint) Changes() bool { return c.Method != http.MethodGet }

// IsEmpty reports whether the answers to the operation have no body.
func (c endpoint) IsEmpty() bool {
	return !slices.ContainsFunc(c.Answers, func(a answer) bool { return a.Type != "" })
}

type payload struct {
	Text     template.HTML
	Required bool
	Types    []string
	Fields   []field
	Examples []example
}

// IsFile reports whether the body is a file, such as a photo. A file has no fields and no example to show.
func (p *payload) IsFile() bool { return strings.HasPrefix(p.Types[0], "image/") }

type answer struct {
	Status, Reason string
	Text           template.HTML
	Addition       bool
	Type           string
	Headers        []field
	Fields         []field
	Examples       []example
}

// common has the parameters and headers that all operations share. The page describes them only once.
type common struct {
	parameters []parameter
	headers    map[string]parameter
}

func commonTo(operations []operation) common {
	var all common
	first := true
	for _, op := range operations {
		if op.webhook {
			continue
		}
		if first {
			all.parameters, first = slices.Clone(op.Parameters), false
		}
		all.parameters = slices.DeleteFunc(all.parameters, func(p parameter) bool { return !op.takes(p) })
		for _, r := range op.Responses {
			if all.headers == nil {
				all.headers = maps.Clone(r.Headers)
			}
			maps.DeleteFunc(all.headers, func(name string, _ parameter) bool { _, has := r.Headers[name]; return !has })
		}
	}
	return all
}

func (op operation) takes(p parameter) bool {
	return slices.ContainsFunc(op.Parameters, func(own parameter) bool { return own.Name == p.Name && own.In == p.In })
}

// endpoint describes an operation. If the group of the operation is already marked as an addition, endpoint does not mark
// the operation or its parts again.
func (d *document) endpoint(op operation, base string, common common, marked bool) endpoint {
	c := endpoint{
		ID: op.ID, Method: op.method, Path: op.path, Summary: op.Summary, Text: markdown(op.Description),
		Deprecated: op.Deprecated, Sunset: op.Sunset, Addition: op.Addition && !marked, Webhook: op.webhook,
	}
	if day, err := time.Parse(time.DateOnly, op.Sunset); err == nil {
		c.Sunset = day.Format("2 January 2006")
	}
	marked = marked || op.Addition
	for _, p := range op.Parameters {
		if !slices.ContainsFunc(common.parameters, func(shared parameter) bool { return shared.Name == p.Name }) {
			p.Addition = p.Addition && !marked
			c.Parameters = append(c.Parameters, d.parameter(p))
		}
	}
	if types := mediaTypes(op.RequestBody.Content); len(types) > 0 {
		content := op.RequestBody.Content[types[0]]
		c.Body = &payload{markdown(op.RequestBody.Description), op.RequestBody.Required, types, d.fields(content.Schema, 0), d.examples(content)}
		slices.SortStableFunc(c.Body.Examples, func(a, b example) int { return len(a.Value) - len(b.Value) })
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		a := d.answer(status, op.Responses[status], common)
		a.Addition = a.Addition && !marked
		if strings.HasPrefix(status, "2") {
			c.Answers = append(c.Answers, a)
		} else {
			c.Errors = append(c.Errors, a)
		}
	}
	if op.webhook {
		c.Body.Fields = nil // listEvents has the same
	} else {
		c.Samples = samples(c, base)
	}
	return c
}

func (d *document) answer(status string, r response, common common) answer {
	number, _ := strconv.Atoi(status) // "default" has no reason phrase
	a := answer{Status: status, Reason: http.StatusText(number), Text: template.HTML((&writer{}).inline(r.Description)), Addition: r.Addition}
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		if _, shared := common.headers[name]; !shared {
			a.Headers = append(a.Headers, d.header(name, r.Headers[name]))
		}
	}
	if types := mediaTypes(r.Content); len(types) > 0 {
		content := r.Content[types[0]]
		a.Type = d.typeName(d.schema(content.Schema))
		a.Fields, a.Examples = markGiven(d.fields(content.Schema, 0)), d.examples(content)
	}
	return a
}

func (d *document) parameter(p parameter) field {
	f := d.field(p.Name, p.Schema, 0)
	f.In, f.Required, f.Addition, f.Example, f.Text = p.In, p.Required, p.Addition, plain(p.Example), markdown(p.Description)
	return f
}

func (d *document) header(name string, h parameter) field {
	h.Name = name
	f := d.parameter(h)
	f.Given = true
	return f
}

// mediaTypes lists the media types of a body, plain JSON first.
func mediaTypes(content map[string]media) []string {
	types := slices.Sorted(maps.Keys(content))
	slices.SortStableFunc(types, func(a, b string) int {
		return strings.Compare(strings.TrimPrefix(a, "application/json"), strings.TrimPrefix(b, "application/json"))
	})
	return types
}
