// Package web holds the pages that people look at: the desk at /, which is the store front for staff, and the API reference
// at /docs, which is rendered from the OpenAPI document. They are embedded and need nothing from any other host. The OpenAPI
// document itself, at /openapi.yaml and /openapi.json, is served like a page.
//
// The desk is static/index.html with scripts in static/assets whose names begin with desk-. The reference is rendered by
// package reference; its scripts begin with docs-. The files that begin with shared- serve both.
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

	"petstore/internal/web/reference"
)

//go:embed static
var files embed.FS

// policy is the content security policy of every page. Anyone may have written the names of animals, so the browser may run
// only the scripts and styles in our own files, may send nothing elsewhere, and must not turn a string into markup.
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

// Pages maps the path of every page to the handler of its GET and HEAD requests. The argument base is the address that
// clients use, without the version; it is empty if the server does not know it.
func Pages(base string) map[string]http.Handler {
	pages := map[string]http.Handler{"/docs": newPage("docs.html", func() []byte { return reference.Render(base) })}
	addDocuments(pages, base)
	for _, pattern := range []string{"static/*.*", "static/assets/*"} {
		names, _ := fs.Glob(files, pattern) // the patterns are well-formed
		for _, name := range names {
			pages[pagePath(name)] = newPage(name, func() []byte { return read(files, name) })
		}
	}
	return pages
}

// pagePath returns the path at which a file is served. The path of a page has no extension.
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
		panic(err) // the file is embedded
	}
	return body
}

// page serves one file. Its content is rendered at the first request, so that the server starts without delay.
type page struct {
	contentType string
	content     func() content
}

// acceptsGzip reports whether an Accept-Encoding names gzip with a weight other than 0, which would forbid it.
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

// content is a file, plain and compressed with gzip.
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
	h.Set("Content-Type", p.contentType)
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
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

func compress(plain []byte) []byte {
	var gzipped bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&gzipped, gzip.BestCompression) // the level is valid
	writer.Write(plain)                                              // a buffer never fails
	writer.Close()
	return gzipped.Bytes()
}
