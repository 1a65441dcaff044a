package reference

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"text/template"
)

// sample is a call of the API in one programming language.
type sample struct{ Language, Class, Code string }

var sampleTemplates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"shell":  shellString,
		"go":     goString,
		"python": pythonString,
		"js":     jsString,
	}).ParseFS(templates, "templates/samples/*"))
})

// request is what a sample sends.
type request struct {
	Method, URL, Type, Body string
	File                    string // the name of the file that is the body, instead of Body
	Idempotent              bool   // whether the operation has an Idempotency-Key
	Empty                   bool   // whether the answer has no body
}

// samples returns a call of the endpoint in every language.
func samples(c endpoint, base string) []sample {
	r := request{Method: c.Method, URL: base + sampleTarget(c), Empty: c.IsEmpty()}
	for _, p := range c.Parameters {
		r.Idempotent = r.Idempotent || p.Name == "Idempotency-Key"
	}
	switch {
	case c.Body == nil:
	case c.Body.IsFile():
		r.Type, r.File = c.Body.Types[0], "photo.jpg"
	case len(c.Body.Examples) > 0:
		r.Type, r.Body = c.Body.Types[0], c.Body.Examples[0].Line()
	}
	var all []sample
	for _, language := range []sample{{Language: "curl", Class: "curl"}, {Language: "Go", Class: "go"}, {Language: "JavaScript", Class: "js"}, {Language: "Python", Class: "py"}} {
		var code strings.Builder
		if err := sampleTemplates().ExecuteTemplate(&code, language.Class+".txt", r); err != nil {
			panic(err) // never happens, because the templates are embedded
		}
		language.Code = strings.TrimSpace(code.String())
		all = append(all, language)
	}
	return all
}

// sampleTarget returns a path with example values. Its query has the parameters whose value is known, without additions to
// the operation: the sample that a reader tries first should find animals.
func sampleTarget(c endpoint) string {
	path, query := c.Path, url.Values{}
	for _, p := range c.Parameters {
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(p.Value()))
		case p.In == "query" && p.Value() != "" && !p.Addition:
			query.Set(p.Name, p.Value())
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

// Value returns the value that a sample sends for a parameter: the example, or else the first allowed value.
func (f field) Value() string {
	switch {
	case f.Example != "":
		return f.Example
	case len(f.Enum) > 0:
		return f.Enum[0]
	case f.In == "path":
		return "1"
	}
	return ""
}

func shellString(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// jsString quotes a string for JavaScript, JSON and Python.
func jsString(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(text) // cannot fail for a string
	return strings.TrimSpace(b.String())
}

func goString(text string) string {
	if strings.ContainsAny(text, "`\\\r") || !strings.Contains(text, `"`) {
		return strconv.Quote(text)
	}
	return "`" + text + "`"
}

func pythonString(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
}
