package reference

import (
	"bytes"
	"html/template"
	"path"
	"slices"
	"strings"

	"petstore/docs"
)

// Guide is a page for people who write clients. The server serves it at /docs/ and its name.
type Guide struct {
	Name  string
	Short string // its name in the menu
}

// Guides lists the guides in the order of the menu.
var Guides = []Guide{
	{"clients", "Clients"}, {"adoption", "Adoption"}, {"search", "Search"}, {"profiles", "Profiles"}, {"photos", "Photos"},
	{"events", "Events"}, {"webhooks", "Webhooks"}, {"rate-limits", "Rate limits"}, {"limits", "Limits"},
}

// Pictures lists the paths of the guides' pictures. They have the same paths under /docs and in docs.Guides.
var Pictures = []string{"img/life.svg"}

// replaced has the part of the reference that takes the place of a page that is not served.
var replaced = map[string]string{"additions": "additions", "errors": "errors", "leaving-getpet": "leaving-getPet", "keys-api": "tag-keys"}

// guidePage is the data from which the template renders a guide.
type guidePage struct {
	frame
	Guide
	Title     string
	Text      template.HTML
	Headings  []heading
	Elsewhere []string // the files that the guide links to and that are not served
}

// UsesShell reports whether the guide has examples with the shell's variables.
func (p guidePage) UsesShell() bool { return strings.Contains(p.source(), "$AUTH") }

// RenderGuide renders a guide.
func RenderGuide(s Store, g Guide) []byte {
	var text bytes.Buffer
	if err := pageTemplate().ExecuteTemplate(&text, "guide.html", newGuidePage(s, g)); err != nil {
		panic(err) // never happens, because the templates are embedded
	}
	return text.Bytes()
}

func newGuidePage(s Store, g Guide) guidePage {
	p := guidePage{frame: frame{Store: s, Root: "../"}, Guide: g, Title: g.title()}
	w := writer{level: 2, href: func(target string) string {
		address, served := addressOf(target)
		if !served && !slices.Contains(p.Elsewhere, address) {
			p.Elsewhere = append(p.Elsewhere, address)
		}
		if !served {
			return ""
		}
		return address
	}}
	w.write(g.source())
	p.Text, p.Headings = template.HTML(w.String()), w.headings
	return p
}

// addressOf returns the address to which a link in a guide leads, relative to the guide, and whether something is served
// there. If not, the address is the path of the file in the repository.
func addressOf(target string) (address string, served bool) {
	file, fragment, _ := strings.Cut(target, "#")
	name := strings.TrimSuffix(file, ".md")
	isNamed := func(g Guide) bool { return g.Name == name }
	switch {
	case strings.HasPrefix(target, "https://") || file == "" || slices.Contains(Pictures, file):
		return target, true
	case slices.ContainsFunc(Guides, isNamed) && fragment != "":
		return name + "#" + fragment, true
	case slices.ContainsFunc(Guides, isNamed):
		return name, true
	case replaced[name] != "":
		return "../docs#" + replaced[name], true
	}
	return path.Join("docs", file), false
}

func (g Guide) source() string {
	source, err := docs.Guides.ReadFile(g.Name + ".md")
	if err != nil {
		panic(err) // never happens, because the guides are embedded
	}
	return string(source)
}

func (g Guide) title() string {
	first, _, _ := strings.Cut(g.source(), "\n")
	return strings.TrimPrefix(first, "# ")
}
