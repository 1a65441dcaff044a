package reference

import (
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// site returns the reference and the guides by their paths.
func site() map[string]string {
	pages := map[string]string{"/docs": string(Render(Store{Name: "Petstore"}))}
	for _, g := range Guides {
		pages["/docs/"+g.Name] = string(RenderGuide(Store{Name: "Petstore"}, g))
	}
	return pages
}

// hasTarget reports whether a link leads to a page of the site, and to an element of that page if it has a fragment.
func hasTarget(pages map[string]string, from, href string) bool {
	base, err := url.Parse("http://host" + from)
	if err != nil {
		return false
	}
	target, err := base.Parse(href)
	if err != nil || target.Host != "host" {
		return false
	}
	page, isPage := pages[target.Path]
	return isPage && (target.Fragment == "" || strings.Contains(page, ` id="`+target.Fragment+`"`))
}

func TestEveryLinkOfTheGuidesHasATarget(t *testing.T) {
	pages := site()
	others := []string{"/", "/favicon.svg", "/openapi.yaml", "/openapi.json", "/docs/img/life.svg"}
	for from, page := range pages {
		if from == "/docs" {
			continue // another test checks its links
		}
		links := regexp.MustCompile(`<(?:a [^>]*?href|img src)="([^"]*)"`).FindAllStringSubmatch(page, -1)
		for _, link := range links {
			href := html.UnescapeString(link[1])
			target, err := url.Parse("http://host" + from)
			if err == nil {
				target, err = target.Parse(href)
			}
			if err != nil || target.Host == "host" && !slices.Contains(others, target.Path) && !hasTarget(pages, from, href) {
				t.Errorf("%s links to %s", from, href)
			}
		}
		if len(links) < 15 {
			t.Errorf("%s has only %d links", from, len(links))
		}
		ids := map[string]bool{}
		for _, id := range regexp.MustCompile(`\bid="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if ids[id[1]] {
				t.Errorf("%s has the id %s twice", from, id[1])
			}
			ids[id[1]] = true
		}
	}
}

func TestAPageThatIsNotServedIsNamedAtTheEnd(t *testing.T) {
	page := site()["/docs/rate-limits"]
	if strings.Contains(page, `href="counting`) || !strings.Contains(page, "Operators: counting says") || !strings.Contains(page, "Also mentioned: <code>docs/counting.md</code>, in the source") {
		t.Error("the link to a page that is not served is not just its text, with its file at the end")
	}
	if page := site()["/docs/clients"]; !strings.Contains(page, `<a href="../docs#leaving-getPet">leaving getPet</a>`) {
		t.Error("the link to a page that the reference replaces does not lead to the reference")
	}
}

// No Markdown may be left over: a guide that begins to use more of it needs a better renderer.
func TestGuidesAreRenderedWhole(t *testing.T) {
	code := regexp.MustCompile(`(?s)<pre>.*?</pre>|<code>.*?</code>`)
	for _, g := range Guides {
		page, source := string(RenderGuide(Store{}, g)), g.source()
		_, text, _ := strings.Cut(page, "<article")
		text, _, _ = strings.Cut(text, "</article>")
		text = plainText(templateHTML(code.ReplaceAllString(text, "")))
		for _, mark := range []string{"**", "](", "`", "|", "##", " *", "* ", "<", "1. "} {
			if at := strings.Index(text, mark); at >= 0 {
				t.Errorf("%s shows %q in: %s", g.Name, mark, text[max(0, at-40):min(len(text), at+40)])
			}
		}
		if got, want := strings.Count(page, `class="copy"`), strings.Count(source, "\n```")/2; got != want {
			t.Errorf("%s has %d samples of code, want %d", g.Name, got, want)
		}
		for _, block := range regexp.MustCompile("(?s)\n```[a-z]*\n(.*?)\n```").FindAllStringSubmatch(source, -1) {
			if !strings.Contains(html.UnescapeString(tags.ReplaceAllString(page, "")), block[1]) {
				t.Errorf("%s lacks the code\n%s", g.Name, block[1])
			}
		}
		if !strings.Contains(page, "<title>"+g.title()+" · ") {
			t.Errorf("the title of %s is not %s", g.Name, g.title())
		}
	}
}

func TestTheSearchFindsEverythingAndLeadsThere(t *testing.T) {
	var all []found
	if err := json.Unmarshal(Index(), &all); err != nil {
		t.Fatal(err)
	}
	pages, kinds := site(), map[string]int{}
	for _, entry := range all {
		kinds[entry.Kind]++
		if entry.Title == "" || !hasTarget(pages, "/", entry.Href) {
			t.Errorf("%+v leads nowhere", entry)
		}
	}
	for kind, least := range map[string]int{"Operation": 40, "Field": 100, "Error": len(advice), "Guide": 30, "Section": 10} {
		if kinds[kind] < least {
			t.Errorf("the index has %d of kind %s, want at least %d", kinds[kind], kind, least)
		}
	}
	for _, want := range []found{
		{"Operation", "Place an order", "POST /orders placeOrder", "docs#operation-placeOrder"},
		{"Guide", "How do I write a good client?", "Clients", "docs/clients"},
		{"Guide", "The stream", "Events", "docs/events#the-stream"},
	} {
		if !slices.Contains(all, want) {
			t.Errorf("the index lacks %+v", want)
		}
	}
	for _, f := range all {
		if f.Kind == "Field" && f.Title == "holdSeconds" && strings.HasPrefix(f.Href, "docs#operation-") && f.Detail != "" {
			return
		}
	}
	t.Error("the index lacks the field holdSeconds")
}
