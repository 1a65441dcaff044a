// Package web holds the web pages for people: the desk at /, which is the store front for staff, the console at /console,
// where administrators manage keys, the API reference at /docs, and the guides under it. A mistyped address gets a page too.
// The pages are embedded and need nothing from any other host. Package web also serves the OpenAPI document, at /openapi.yaml
// and /openapi.json.
//
// The desk is static/index.html with the scripts in static/assets/desk, and the console is static/console.html with the
// files in static/assets/console. Package reference renders the API reference and the guides, whose files are in
// static/assets/docs. All pages use the files in static/assets/shared.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"petstore/docs"
	"petstore/internal/web/reference"
)

//go:embed static notfound.html
var files embed.FS

// policy is the content security policy of every page. Anyone may have written the names of animals. The browser may
// therefore run only the scripts and styles in our own files, may send nothing elsewhere, and must not turn a string into
// markup.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".yaml": "application/yaml",
	".json": "application/json",
}

// Pages maps the path of every page to the handler for its GET and HEAD requests.
func Pages(s Settings) map[string]http.Handler {
	pages := map[string]http.Handler{"/docs": newPage("docs.html", func() []byte { return reference.Render(s.reference()) })}
	for _, g := range reference.Guides {
		pages["/docs/"+g.Name] = newPage("guide.html", func() []byte { return reference.RenderGuide(s.reference(), g) })
	}
	pages["/docs/search.json"] = newPage("search.json", reference.Index)
	for _, picture := range reference.Pictures {
		pages["/docs/"+picture] = newPage(picture, func() []byte { return read(docs.Guides, picture) })
	}
	addDocuments(pages, s.BaseURL)
	for _, pattern := range []string{"static/*.*", "static/assets/*/*"} {
		names, _ := fs.Glob(files, pattern) // cannot fail, because the patterns are well-formed
		for _, name := range names {
			pages[pagePath(name)] = newPage(name, func() []byte { return lean(name, s.render(name)) })
		}
	}
	return pages
}

// pagePath returns the path at which the server serves a file. The path of a page has no extension.
func pagePath(name string) string {
	path := strings.TrimSuffix(strings.TrimPrefix(name, "static"), ".html")
	if path == "/index" {
		return "/"
	}
	return path
}

func read(fsys embed.FS, name string) []byte {
	body, err := fsys.ReadFile(name)
	if err != nil {
		panic(err) // never happens, because the file is embedded
	}
	return body
}

// page serves one file. It renders the content at the first request, so that the server starts without delay.
type page struct {
	contentType string
	content     func() content
}

// acceptsGzip reports whether an Accept-Encoding header accepts gzip. A weight of 0 forbids gzip.
func acceptsGzip(accepted []string) bool {
	for coding := range strings.SplitSeq(strings.Join(accepted, ","), ",") {
		name, weight, _ := strings.Cut(coding, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			_, q, _ := strings.Cut(weight, "=")
			quality, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
			return err != nil || quality > 0
		}
	}
	return false
}

// content is a file in two forms: plain, and compressed with gzip.
type content struct {
	plain, gzipped []byte
	tag            string
}

func newPage(name string, render func() []byte) *page {
	return &page{contentTypes[path.Ext(name)], sync.OnceValue(func() content {
		plain := render()
		sum := sha256.Sum256(plain)
		return content{plain, compress(plain), hex.EncodeToString(sum[:12])}
	})}
}

// ServeHTTP answers GET and HEAD, always with the whole page. Browsers cache the page and ask each time whether it has
// changed.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	setHeaders(h, p.contentType)
	h.Set("Vary", "Accept-Encoding")
	c := p.content()
	body, tag := c.plain, c.tag
	if acceptsGzip(r.Header.Values("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		body, tag = c.gzipped, c.tag+"-gzip"
	}
	tag = `"` + tag + `"`
	h.Set("ETag", tag)
	if kept := r.Header.Get("If-None-Match"); kept == "*" || strings.Contains(kept, tag) {
		h.Del("Content-Type")
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		w.Write(body)
	}
}

// setHeaders sets the headers that all pages have.
func setHeaders(h http.Header, contentType string) {
	h.Set("Content-Type", contentType)
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
}

func compress(plain []byte) []byte {
	var gzipped bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&gzipped, gzip.BestCompression) // cannot fail, because the level is valid
	writer.Write(plain)                                              // cannot fail, because a buffer accepts every write
	writer.Close()
	return gzipped.Bytes()
}
