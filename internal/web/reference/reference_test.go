package reference

import (
	"encoding/json"
	"fmt"
	"go/format"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"petstore/api"
	"petstore/docs"
)

// walk visits every object in a JSON document. It passes the name of the member that contains the object.
func walk(value any, name string, visit func(name string, object map[string]any)) {
	switch value := value.(type) {
	case map[string]any:
		visit(name, value)
		for name, inner := range value {
			walk(inner, name, visit)
		}
	case []any:
		for _, inner := range value {
			walk(inner, name, visit)
		}
	}
}

func apiDocument(t *testing.T) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(api.JSON, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func rendered(t *testing.T, doc any) string {
	t.Helper()
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(render(Store{}, api.YAML, text, "# Changelog"))
}

func TestReferenceIsCompleteWithoutAScript(t *testing.T) {
	page := string(Render(Store{}))
	has := func(format string, args ...any) {
		t.Helper()
		if want := fmt.Sprintf(format, args...); !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	operations := 0
	walk(apiDocument(t), "", func(name string, object map[string]any) {
		if id, ok := object["operationId"]; ok {
			operations++
			has(`id="operation-%s"`, id)
			has(`href="#operation-%s"`, id)
			for status := range object["responses"].(map[string]any) {
				has(`>%s</span>`, status)
			}
		}
		if in, ok := object["in"].(string); ok && in != "" {
			has(`<code class="field-name">%s</code>`, object["name"])
		}
		if name == "properties" {
			for field := range object {
				has(`<code class="field-name">%s</code>`, field)
			}
		}
	})
	operations -= len(apiDocument(t)["webhooks"].(map[string]any)) // which the server calls
	if got := strings.Count(page, `<pre class="sample curl">`); operations == 0 || got != operations {
		t.Errorf("the document has %d operations, the page %d samples for curl", operations, got)
	}
	for _, name := range []string{"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After"} {
		has(`%s</code>`, name)
	}
	has(`id="changelog"`)
	_, newest, _ := strings.Cut(docs.Changelog, "\n## ")
	newest, _, _ = strings.Cut(newest, "\n")
	has("<h3>%s</h3>", newest)
	for _, plan := range []string{"Free", "Pro", "Business", "Enterprise"} {
		has(`<th scope="row">%s</th>`, plan)
	}
}

func TestEveryCodeSaysWhatToDo(t *testing.T) {
	page := string(Render(Store{}))
	enum := apiDocument(t)["components"].(map[string]any)["schemas"].(map[string]any)["Error"].(map[string]any)["properties"].(map[string]any)["code"].(map[string]any)["enum"].([]any)
	for _, code := range enum {
		if !strings.Contains(page, fmt.Sprintf(`<tr id="code-%s">`, code)) || advice[code.(string)] == "" {
			t.Errorf("the page does not say what to do about %s", code)
		}
	}
}

func TestEveryLinkWithinTheReferenceHasATarget(t *testing.T) {
	page := string(Render(Store{}))
	ids := make(map[string]bool)
	for _, match := range regexp.MustCompile(`\bid="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[match[1]] {
			t.Errorf("two elements have the id %s", match[1])
		}
		ids[match[1]] = true
	}
	for _, match := range regexp.MustCompile(`(?:href="#|for="|popovertarget=")([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !ids[match[1]] {
			t.Errorf("no element has the id %s", match[1])
		}
	}
}

func TestADeprecatedOperationNamesItsRemovalAndItsReplacement(t *testing.T) {
	page := string(Render(Store{}))
	_, section, _ := strings.Cut(page, `<section id="operation-getPet"`)
	section, _, _ = strings.Cut(section, "</section>")
	for _, want := range []string{"<strong>Deprecated</strong>", "<strong>5 December 2030</strong>", `href="#leaving-getPet"`} {
		if !strings.Contains(section, want) {
			t.Errorf("getPet lacks %s", want)
		}
	}
	_, guide, _ := strings.Cut(page, `<section id="leaving-getPet"`)
	for _, want := range []string{"5 December 2030", "GET /v1/pets?id=7", "GET /v1/pets?status=available"} {
		if !strings.Contains(guide, want) {
			t.Errorf("the guide lacks %s", want)
		}
	}
}

func TestReferenceNamesOnlyServersThatExist(t *testing.T) {
	for base, want := range map[string]string{"": guess, "https://pets.example.org/shop": "https://pets.example.org/shop"} {
		page := html.UnescapeString(string(Render(Store{BaseURL: base})))
		if !strings.Contains(page, want+"/v1/pets") {
			t.Errorf("base %q: no sample calls %s", base, want)
		}
		if strings.Contains(page, "petstore.example.com") || strings.Contains(page, "base_url") {
			t.Errorf("base %q: the page names a server that is only an example", base)
		}
		if guessed := strings.Contains(page, "data-guess"); guessed != (base == "") {
			t.Errorf("base %q: whether the address is a guess: %v", base, guessed)
		}
	}
}

func TestHostileTextInTheDocumentStaysText(t *testing.T) {
	hostile := "`<script>alert(1)</script>` **<img src=x onerror=alert(1)>** \"><svg onload=alert(1)> ' </code></pre></textarea> {{.}}"
	doc := apiDocument(t)
	walk(doc, "", func(_ string, object map[string]any) {
		for name, value := range object {
			if _, ok := value.(string); ok && slices.Contains([]string{"description", "summary", "title", "version", "format", "example", "message", "code", "pattern", "x-deprecated-sunset"}, name) {
				object[name] = hostile
			}
			if values, ok := value.([]any); ok && name == "enum" {
				values[0] = hostile
			}
		}
	})
	page := rendered(t, doc)
	for _, bad := range []string{"<script>", "<img src=x", "<svg", "</textarea> {{", `""><`} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %s as markup", bad)
		}
	}
	if !strings.Contains(page, "&lt;script&gt;alert(1)&lt;/script&gt;") {
		t.Error("the text is not on the page")
	}
}

func TestAnUnusualDocumentIsRendered(t *testing.T) {
	page := string(render(Store{}, nil, []byte(`{
		"tags": [{"name": "é"}],
		"paths": {"/x/{id}": {"get": {"operationId": "x", "tags": ["é"],
			"parameters": [{"$ref": "#/components/parameters/Nowhere"}, {"name": "id", "in": "path", "schema": {"type": ["string", "null"]}}],
			"responses": {"default": {"content": {"text/plain": {}}}, "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Tree"}}}}}}}},
		"components": {"schemas": {"Tree": {"type": "object", "properties": {"child": {"$ref": "#/components/schemas/Tree"}}}}}
	}`), ""))
	for _, want := range []string{`id="operation-x"`, "string or null", `<code class="field-name">child</code>`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestAdditionIsMarkedOnce(t *testing.T) {
	const mark = `<a class="addition"`
	operation := func(id, tag string, addition bool) string {
		return fmt.Sprintf(`{"operationId": %q, "tags": [%q], "x-addition": %v, "responses": {"404": {"x-addition": true}},
			"parameters": [{"name": "only-%[1]s", "in": "query", "x-addition": true}]}`, id, tag, addition)
	}
	page := string(render(Store{}, nil, fmt.Appendf(nil, `{"tags": [{"name": "old"}, {"name": "new", "x-addition": true}],
		"paths": {"/a": {"get": %s, "put": %s}, "/b": {"get": %s}}}`,
		operation("published", "old", false), operation("added", "old", true), operation("grouped", "new", true)), ""))
	for id, want := range map[string]int{"operation-published": 2, "operation-added": 1, "tag-new": 1, "operation-grouped": 0} {
		_, section, found := strings.Cut(page, `<section id="`+id+`"`)
		section, _, _ = strings.Cut(section, "</section>")
		if got := strings.Count(section, mark); !found || got != want {
			t.Errorf("%s has %d marks, want %d", id, got, want)
		}
	}
}

var sampleText = regexp.MustCompile(`(?s)<pre class="sample (\w+)"><code>(.*?)</code></pre>`)

func TestGoSamplesAreFormattedAndIdempotencyKeysAreNew(t *testing.T) {
	page := string(Render(Store{}))
	seen := 0
	for _, match := range sampleText.FindAllStringSubmatch(page, -1) {
		text := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(match[2], ""))
		if match[1] == "go" {
			formatted, err := format.Source([]byte(text))
			if err != nil || string(formatted) != text+"\n" && string(formatted) != text {
				t.Errorf("not formatted like gofmt (%v):\n%s", err, text)
			}
		}
		if strings.Contains(text, "Idempotency-Key") {
			seen++
			if !regexp.MustCompile(`uuidgen|rand\.Text\(\)|randomUUID\(\)|uuid4\(\)`).MatchString(text) {
				t.Errorf("the Idempotency-Key is the same each time:\n%s", text)
			}
		}
	}
	if seen == 0 || seen%4 != 0 {
		t.Errorf("%d samples have an Idempotency-Key", seen)
	}
}

func TestSamplesQuoteSpecialCharacters(t *testing.T) {
	const text = "Bo's \"dog\" \\ `x` $HOME"
	for got, want := range map[string]string{
		shellString(text):  `'Bo'\''s "dog" \ ` + "`x` $HOME'",
		goString(text):     `"Bo's \"dog\" \\ ` + "`x` $HOME\"",
		jsString("a&<b>"):  `"a&<b>"`,
		pythonString(text): `'Bo\'s "dog" \\ ` + "`x` $HOME'",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestFactsDescribeTheBoundsOfASchema(t *testing.T) {
	for text, want := range map[string]string{
		`{"minimum": 1, "maximum": 100, "default": 20}`:                     "1 to 100; default 20",
		`{"minimum": 60, "maximum": 2592000}`:                               "60 to 2,592,000",
		`{"minimum": -1000}`:                                                "at least -1,000",
		`{"maximum": -100}`:                                                 "at most -100",
		`{"minimum": -9223372036854775808, "maximum": 9223372036854775807}`: "",
		`{"minLength": 1, "maxLength": 1000}`:                               "1 to 1,000 characters",
		`{"minLength": 1}`:                                                  "not empty",
		`{"maxLength": 64}`:                                                 "at most 64 characters",
		`{"maxItems": 100}`:                                                 "at most 100 items",
		`{"const": "no-store"}`:                                             "always no-store",
	} {
		var s schema
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(facts(s), "; "); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}
