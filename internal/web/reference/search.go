package reference

import (
	"encoding/json"
	"html"
	"html/template"
	"regexp"
	"strings"

	"petstore/api"
	"petstore/docs"
)

// found is something that a reader can search for.
type found struct {
	Kind   string `json:"kind"` // Operation, Field, Error, Guide or Section
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Href   string `json:"href"` // relative to the root of the server
}

// Index lists, as JSON, what a search on the pages finds.
func Index() []byte {
	text, err := json.Marshal(newIndex(newPage(Store{}, api.YAML, api.JSON, docs.Changelog)))
	if err != nil {
		panic(err) // never happens, because the list has only strings
	}
	return text
}

func newIndex(p page) (all []found) {
	for _, s := range p.Sections {
		all = append(all, found{"Section", s.Title, "", "docs#" + s.ID})
	}
	all = append(all, found{"Section", "Headers", "that all requests and answers have", "docs#headers"}, found{"Section", "Changelog", "", "docs#changelog"})
	fields := newFieldIndex()
	for _, g := range p.Groups {
		all = append(all, found{"Section", g.Title, "", "docs#tag-" + g.Name})
		for _, c := range g.Calls {
			href := "docs#operation-" + c.ID
			all = append(all, found{"Operation", c.Summary, strings.Join([]string{c.Method, c.Path, c.ID}, " "), href})
			fields.addCall(c, href)
		}
	}
	fields.add(p.EveryRequest, "Every request", "docs#headers")
	fields.add(p.EveryAnswer, "Every answer", "docs#headers")
	all = append(all, fields.all...)
	for _, c := range p.Codes {
		all = append(all, found{"Error", c.Name, c.Statuses + ". " + plainText(c.Advice), "docs#code-" + c.Name})
	}
	for _, g := range Guides {
		guide := newGuidePage(Store{}, g)
		all = append(all, found{"Guide", guide.Title, g.Short, "docs/" + g.Name})
		for _, h := range guide.Headings {
			all = append(all, found{"Guide", h.Title, g.Short, "docs/" + g.Name + "#" + h.ID})
		}
	}
	return all
}

// fieldIndex lists fields. A field that many operations have, with the same description, is listed once.
type fieldIndex struct {
	all  []found
	seen map[string]bool
}

func newFieldIndex() *fieldIndex { return &fieldIndex{seen: make(map[string]bool)} }

func (x *fieldIndex) addCall(c endpoint, href string) {
	x.add(c.Parameters, c.Summary, href)
	if c.Body != nil {
		x.add(c.Body.Fields, c.Summary, href)
	}
	for _, a := range c.Answers {
		x.add(a.Fields, c.Summary, href)
		x.add(a.Headers, c.Summary, href)
	}
}

// add lists fields with the place where a reader finds the first of them.
func (x *fieldIndex) add(fields []field, place, href string) {
	for _, f := range fields {
		text := plainText(f.Text)
		if key := f.Name + "\x00" + text; !x.seen[key] {
			x.seen[key] = true
			x.all = append(x.all, found{"Field", f.Name, strings.TrimSuffix(place+": "+text, ": "), href})
		}
		x.add(f.Fields, place, href)
	}
}

var (
	tags      = regexp.MustCompile(`<[^>]*>`)
	blockTags = regexp.MustCompile(`</?(?:p|ul|ol|li|h[1-6])[ >]`)
)

// plainText returns the text of rendered Markdown on one line.
func plainText(text template.HTML) string {
	spaced := blockTags.ReplaceAllString(string(text), " $0")
	return strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(spaced, ""))), " ")
}
