package web

import (
	"bytes"
	"net/http"
)

// MarkStaging marks the store front among these pages as staging, so that nobody takes it for the real one.
func MarkStaging(pages map[string]http.Handler) {
	const name = "static/index.html"
	marked := bytes.Replace(read(files, name), []byte(`<html lang="en">`), []byte(`<html lang="en" data-environment="staging">`), 1)
	pages[address(name)] = newPage(name, func() []byte { return marked })
}
