package web

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	changelog "petstore"
	"petstore/api"
)

//go:embed templates
var templates embed.FS

var docsTemplate = template.Must(template.New("docs.html").Funcs(template.FuncMap{"highlight": highlight}).ParseFS(templates, "templates/*.html"))

// guess is the address in the samples of a server that was not told its own. The page's script puts there the one
// that the reader used.
const guess = "http://localhost:8080"

// reference is the API reference as its templates read it.
type reference struct {
	Title, Version string
	Base, Guess    string
	Intro          template.HTML
	Sections       []section
	Groups         []group
	First          sample  // the first call to make
	EveryRequest   []field // parameters that every operation takes
	EveryAnswer    []field // headers that every answer has
	Error          []field
	Codes          []code
	Plans          []plan
	Leaving        *endpoint
	Changelog      template.HTML
}

// group is a tag with its operations.
type group struct {
	Name, Title string
	Text        template.HTML
	Addition    bool
	Calls       []endpoint
}

// endpoint is an operation as the page shows it.
type endpoint struct {
	ID, Method, Path, Summary, Sunset string
	Text                              template.HTML
	Deprecated, Addition              bool
	Parameters                        []field
	Body                              *payload
	Answers, Errors                   []answer
	Samples                           []sample
}

type payload struct {
	Text     template.HTML
	Required bool
	Types    []string
	Fields   []field
	Examples []example
}

type answer struct {
	Status, Reason string
	Text           template.HTML
	Addition       bool
	Type           string
	Headers        []field
	Fields         []field
	Examples       []example
}

// docs renders the reference of the embedded document. Base is the address of this server without the version, empty
// if it does not know it.
func docs(base string) []byte { return render(base, api.YAML, api.JSON, changelog.Markdown) }

func render(base string, source, document []byte, changes string) []byte {
	var page bytes.Buffer
	if err := docsTemplate.Execute(&page, newReference(base, source, document, changes)); err != nil {
		panic(err) // the templates are embedded
	}
	return page.Bytes()
}

func newReference(base string, source, text []byte, changes string) reference {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		panic(err) // the document is embedded
	}
	r := reference{Title: d.Info.Title, Version: d.Info.Version, Error: d.errorFields(), Codes: d.codes(source), Plans: plans(), Changelog: markdown(changes)}
	if base == "" {
		base, r.Guess = guess, guess
	}
	r.Base = base + d.version()
	r.Intro, r.Sections = sections(d.Info.Description)
	operations := d.operations(source)
	common := shared(operations)
	for _, p := range common.parameters {
		r.EveryRequest = append(r.EveryRequest, d.parameter(p))
	}
	for _, name := range slices.Sorted(maps.Keys(common.headers)) {
		r.EveryAnswer = append(r.EveryAnswer, d.header(name, common.headers[name]))
	}
	for _, tag := range d.Tags {
		g := group{Name: tag.Name, Title: capital(tag.Name), Text: markdown(tag.Description), Addition: tag.Addition}
		for _, op := range operations {
			if slices.Contains(op.Tags, tag.Name) {
				g.Calls = append(g.Calls, d.endpoint(op, r.Base, common, tag.Addition))
			}
		}
		for i, c := range g.Calls {
			if c.ID == "getPet" && c.Deprecated {
				r.Leaving = &g.Calls[i]
			}
			if r.First.Code == "" && c.Method == http.MethodGet {
				r.First = c.Samples[0]
			}
		}
		r.Groups = append(r.Groups, g)
	}
	return r
}

func capital(word string) string {
	_, size := utf8.DecodeRuneInString(word)
	return strings.ToUpper(word[:size]) + word[size:]
}

// version is the path under which this server serves the operations. The document's other servers are examples that
// nobody can reach.
func (d *document) version() string {
	for _, server := range d.Servers {
		if strings.HasPrefix(server.URL, "/") {
			return server.URL
		}
	}
	return ""
}

// common is what all operations have. It is described once.
type common struct {
	parameters []parameter
	headers    map[string]header
}

func shared(operations []operation) common {
	var all common
	for i, op := range operations {
		if i == 0 {
			all.parameters = slices.Clone(op.Parameters)
		}
		all.parameters = slices.DeleteFunc(all.parameters, func(p parameter) bool { return !op.takes(p) })
		for _, r := range op.Responses {
			if all.headers == nil {
				all.headers = maps.Clone(r.Headers)
			}
			maps.DeleteFunc(all.headers, func(name string, _ header) bool { _, has := r.Headers[name]; return !has })
		}
	}
	return all
}

func (op operation) takes(p parameter) bool {
	return slices.ContainsFunc(op.Parameters, func(own parameter) bool { return own.Name == p.Name && own.In == p.In })
}

// endpoint describes an operation. If all of it is an addition, its parts are not marked again.
func (d *document) endpoint(op operation, base string, common common, marked bool) endpoint {
	c := endpoint{
		ID: op.ID, Method: op.method, Path: op.path, Summary: op.Summary, Text: markdown(op.Description),
		Deprecated: op.Deprecated, Sunset: op.Sunset, Addition: op.Addition && !marked,
	}
	if day, err := time.Parse(time.DateOnly, op.Sunset); err == nil {
		c.Sunset = day.Format("2 January 2006")
	}
	marked = marked || op.Addition
	for _, p := range op.Parameters {
		if !slices.ContainsFunc(common.parameters, func(told parameter) bool { return told.Name == p.Name }) {
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
	c.Samples = samples(c, base)
	return c
}

func (d *document) answer(status string, r response, common common) answer {
	number, _ := strconv.Atoi(status) // "default" has no reason
	a := answer{Status: status, Reason: http.StatusText(number), Text: template.HTML(inline(r.Description)), Addition: r.Addition}
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		if _, told := common.headers[name]; !told {
			a.Headers = append(a.Headers, d.header(name, r.Headers[name]))
		}
	}
	if types := mediaTypes(r.Content); len(types) > 0 {
		content := r.Content[types[0]]
		a.Type = d.typeName(d.schema(content.Schema))
		a.Fields, a.Examples = given(d.fields(content.Schema, 0)), d.examples(content)
	}
	return a
}

func (d *document) parameter(p parameter) field {
	f := d.field(p.Name, p.Schema, 0)
	f.In, f.Required, f.Addition, f.Example, f.Text = p.In, p.Required, p.Addition, plain(p.Example), markdown(p.Description)
	return f
}

func (d *document) header(name string, h header) field {
	f := d.field(name, h.Schema, 0)
	f.Required, f.Given, f.Addition, f.Example, f.Text = h.Required, true, h.Addition, plain(h.Example), markdown(h.Description)
	return f
}

// mediaTypes are those of a body, plain JSON first.
func mediaTypes(content map[string]media) []string {
	types := slices.Sorted(maps.Keys(content))
	slices.SortStableFunc(types, func(a, b string) int {
		return strings.Compare(strings.TrimPrefix(a, "application/json"), strings.TrimPrefix(b, "application/json"))
	})
	return types
}
