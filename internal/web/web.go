// Package web holds the pages that people look at: the store front at / and the API reference at /docs. They are
// plain files, embedded, and need nothing from any other host.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	swagger "github.com/swaggest/swgui/v5/static"
)

//go:embed static
var files embed.FS

// Names of animals come from strangers. No script or style but our own files runs, nothing is sent elsewhere, and
// trusted types make the browser itself refuse to turn a string into markup.
const frontPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// Swagger UI draws its icons from data: addresses and sets innerHTML with what it has sanitized, so that its page can
// have neither img-src 'self' alone nor trusted types.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// Pages maps every path of the pages to the handler of its GET and HEAD.
func Pages() map[string]http.Handler {
	pages := make(map[string]http.Handler)
	for _, pattern := range []string{"static/*.*", "static/assets/*"} {
		names, _ := fs.Glob(files, pattern) // the patterns are well-formed
		for _, name := range names {
			pages[address(name)] = newPage(name, read(files, name), nil)
		}
	}
	for _, name := range []string{"swagger-ui.css", "swagger-ui-bundle.js"} {
		pages["/assets/"+name] = newPage(name, nil, read(swagger.FS, name+".gz"))
	}
	return pages
}

// address is where a file is served: a page without its extension, the rest as it is named.
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

// page is one file. Some come packed with gzip and are unpacked when the first client needs them plain.
type page struct {
	plain       func() []byte
	packed      []byte
	tag         string
	contentType string
	policy      string
}

func newPage(name string, plain, packed []byte) *page {
	sum := sha256.Sum256(append(plain, packed...))
	p := &page{
		plain:       func() []byte { return plain },
		packed:      packed,
		tag:         hex.EncodeToString(sum[:12]),
		contentType: contentTypes[path.Ext(name)],
		policy:      frontPolicy,
	}
	if packed != nil {
		p.plain = sync.OnceValue(func() []byte { return unpack(packed) })
	}
	if path.Base(name) == "docs.html" {
		p.policy = docsPolicy
	}
	return p
}

// ServeHTTP answers GET and HEAD. Browsers keep a page and ask each time whether it is still the one.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", p.contentType)
	h.Set("Content-Security-Policy", p.policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
	body, tag := p.packed, p.tag+"-gzip"
	if p.packed != nil {
		h.Set("Vary", "Accept-Encoding")
	}
	if p.packed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
	} else {
		body, tag = p.plain(), p.tag
	}
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

func unpack(packed []byte) []byte {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err) // embedded files are whole
	}
	plain, err := io.ReadAll(reader)
	if err != nil {
		panic(err)
	}
	return plain
}
