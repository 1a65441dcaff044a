package web

import (
	"bytes"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

var notFoundTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.ParseFS(files, "notfound.html")) })

// NotFound returns the handler for a browser's requests to paths at which there is nothing. It answers 404 with a page that
// leads to the others. If only the end or the case of the path is wrong, it names the page that was meant.
func NotFound(s Settings, pages map[string]http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath()
		var body bytes.Buffer
		err := notFoundTemplate().Execute(&body, struct {
			Settings
			Root, Meant string
		}{s, root(path), meant(path, pages)})
		if err != nil {
			panic(err) // never happens, because the template is embedded
		}
		h := w.Header()
		setHeaders(h, contentTypes[".html"])
		h.Set("Vary", "Accept")
		h.Set("Content-Length", strconv.Itoa(body.Len()))
		w.WriteHeader(http.StatusNotFound)
		if r.Method != http.MethodHead {
			w.Write(body.Bytes())
		}
	})
}

// root returns the relative link from a path to the root of the server. A link that begins with a slash would miss the root
// of a server that has a path in its --base-url.
func root(path string) string {
	return "./" + strings.Repeat("../", max(0, strings.Count(path, "/")-1))
}

// meant returns the path, without its slash, of the page that a person probably meant, or "".
func meant(path string, pages map[string]http.Handler) string {
	path = strings.ToLower(strings.TrimRight(path, "/"))
	for _, extension := range []string{".html", ".md"} {
		path = strings.TrimSuffix(path, extension)
	}
	if page, _ := pages[path].(*page); page != nil && page.contentType == contentTypes[".html"] {
		return path[1:]
	}
	return ""
}
