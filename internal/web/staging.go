package web

import (
	"bytes"
	"net/http"
)

// MarkStaging marks the desk and the console as staging, so that nobody mistakes them for production.
func MarkStaging(pages map[string]http.Handler) {
	for _, name := range []string{"static/index.html", "static/console.html"} {
		marked := bytes.Replace(read(files, name), []byte(`<html lang="en">`), []byte(`<html lang="en" data-environment="staging">`), 1)
		pages[pagePath(name)] = newPage(name, func() []byte { return marked })
	}
}
