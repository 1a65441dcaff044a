package web

import (
	"bytes"
	"net/http"
)

// MarkStaging marks the desk as staging, so that nobody mistakes it for production.
func MarkStaging(pages map[string]http.Handler) {
	const name = "static/index.html"
	marked := bytes.Replace(read(files, name), []byte(`<html lang="en">`), []byte(`<html lang="en" data-environment="staging">`), 1)
	pages[pagePath(name)] = newPage(name, func() []byte { return marked })
}
