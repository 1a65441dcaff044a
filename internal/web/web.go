// Package web holds the pages that people look at: the store front at /, and the API reference at /docs, which is
// rendered from the OpenAPI document. They are embedded and need nothing from any other host.
//
// The store front is in static, with one script for each concern; the reference is made from templates by the files that
// begin with docs.
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
)

//go:embed static
var files embed.FS

// Strangers write the names of animals. So the browser runs only the scripts and styles in our own files and sends
// nothing elsewhere, and trusted types make it refuse to turn a string into markup.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// Pages maps the path of every page to the handler of its GET and HEAD. Base is the address that clients use, without
// the version; it is empty if the server does not know it.
func Pages(base string) map[string]http.Handler {
	pages := map[string]http.Handler{"/docs": newPage("docs.html", func() []byte { return docs(base) })}
	for _, pattern := range []string{"static/*.*", "static/assets/*"} {
		names, _ := fs.Glob(files, pattern) // the patterns are well-formed
		for _, name := range names {
			pages[address(name)] = newPage(name, func() []byte { return read(files, name) })
		}
	}
	return pages
}

// address is the path under which a file is served. That of a page has no extension.
func address(name string) string {
	path := strings.TrimSuffix(strings.TrimPrefix(name, "static"), ".html")
	if path == "/index" {
		return "/"
	}
	return path
}

func read(fsys embed.FS, name string) []byte {
	body, err := fsys.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return body
}

// page is one file. Its content is made at the first request for it, so that the start of the server need not wait.
type page struct {
	contentType string
	content     func() content
}

// takesGzip reports whether an Accept-Encoding names gzip, and not with the weight 0, which forbids it.
func takesGzip(accepted []string) bool {
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

// content is a file, both plain and compressed with gzip.
type content struct {
	plain, packed []byte
	tag           string
}

func newPage(name string, make func() []byte) *page {
	return &page{contentTypes[path.Ext(name)], sync.OnceValue(func() content {
		plain := make()
		sum := sha256.Sum256(plain)
		return content{plain, pack(plain), hex.EncodeToString(sum[:12])}
	})}
}

// ServeHTTP answers GET and HEAD, always with the whole page. Browsers keep the page and ask each time whether it has
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
	if takesGzip(r.Header.Values("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		body, tag = c.packed, c.tag+"-gzip"
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

func pack(plain []byte) []byte {
	var packed bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level exists
	writer.Write(plain)                                             // memory takes everything
	writer.Close()
	return packed.Bytes()
}
