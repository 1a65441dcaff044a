// Package reference renders the API reference as one page, from the OpenAPI document and the changelog, and the guides in docs
// as a page each. It also lists what a search on these pages finds.
package reference

import (
	"bytes"
	"embed"
	"encoding/json"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"petstore/api"
	"petstore/docs"
	"petstore/internal/petstore"
)

//go:embed templates
var templates embed.FS

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("docs.html").Funcs(template.FuncMap{"highlight": highlight}).ParseFS(templates, "templates/*.html"))
})

// guess is the address in the samples if the server does not know its own address. The page's script replaces the guess with
// the address of the page.
const guess = "http://localhost:8080"

// page is the data from which the templates render the API reference.
type page struct {
	frame
	Title, Version string
	Base, Guess    string
	Intro          template.HTML
	Sections       []section
	Groups         []group
	EveryRequest   []field // the parameters that every operation has
	EveryAnswer    []field // the headers that every answer has
	Error          []field
	Codes          []code
	Plans          []plan
	Keyless        string // the number of requests per minute without a valid key
	Changelog      template.HTML
}

// frame is what the reference and the guides have in common.
type frame struct {
	Store Store
	Root  string // the relative address of the server's root
}

// Guides lists the guides for the menu.
func (frame) Guides() []Guide { return Guides }

// group is an OpenAPI tag with its operations.
type group struct {
	Name, Title string
	Text        template.HTML
	Addition    bool
	Calls       []endpoint
}

// Store is the store whose API the reference describes.
type Store struct {
	BaseURL string // the address of this server without the version; empty if the server does not know it
	Name    string
	Staging bool
}

// Render renders the page from the embedded document.
func Render(s Store) []byte { return render(s, api.YAML, api.JSON, docs.Changelog) }

func render(s Store, source, document []byte, changes string) []byte {
	var text bytes.Buffer
	if err := pageTemplate().ExecuteTemplate(&text, "docs.html", newPage(s, source, document, changes)); err != nil {
		panic(err) // never happens, because the templates are embedded
	}
	return text.Bytes()
}

func newPage(s Store, source, text []byte, changes string) page {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		panic(err) // never happens, because the document is embedded
	}
	operations := d.operations(source)
	common := commonTo(operations)
	r := page{
		Title: d.Info.Title, Version: d.Info.Version, frame: frame{Store: s}, Base: s.BaseURL, Error: d.errorFields(), Codes: d.codes(operations),
		Plans: plans(), Keyless: thousands(petstore.AddressLimits.PerMinute), Changelog: markdown(changes),
	}
	if s.BaseURL == "" {
		r.Base, r.Guess = guess, guess
	}
	r.Base += d.version()
	r.Intro, r.Sections = sections(d.Info.Description)
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
		r.Groups = append(r.Groups, g)
	}
	return r
}

// First returns the sample for a reader's first call. That call changes nothing.
func (p page) First() string {
	for _, g := range p.Groups {
		for _, c := range g.Calls {
			if c.Method == http.MethodGet {
				return c.Samples[0].Code
			}
		}
	}
	return ""
}

// Leaving returns the deprecated operation, or nil if there is none. The page has a guide for moving away from that
// operation.
func (p page) Leaving() *endpoint {
	for _, g := range p.Groups {
		for _, c := range g.Calls {
			if c.ID == "getPet" && c.Deprecated {
				return &c
			}
		}
	}
	return nil
}

func capital(word string) string {
	_, size := utf8.DecodeRuneInString(word)
	return strings.ToUpper(word[:size]) + word[size:]
}

// version returns the path under which this server has its operations. The other servers in the document are only examples.
func (d *document) version() string {
	for _, server := range d.Servers {
		if strings.HasPrefix(server.URL, "/") {
			return server.URL
		}
	}
	return ""
}
