package web

import (
	"bytes"
	"html/template"
	"path"
	"time"

	"petstore/internal/web/reference"
)

// Settings are what the pages say about the store and the server.
type Settings struct {
	BaseURL   string        // the address that clients use, without the version; empty if the server does not know it
	StoreName string        // what the store is called
	Staging   bool          // whether the pages are marked as staging, so that nobody mistakes them for production
	Hold      time.Duration // how long an order holds its animal by default
}

// HoldSeconds returns Hold in whole seconds.
func (s Settings) HoldSeconds() int64 { return int64(s.Hold / time.Second) }

func (s Settings) reference() reference.Store {
	return reference.Store{BaseURL: s.BaseURL, Name: s.StoreName, Staging: s.Staging}
}

// render returns the content of a file. A page is a template of the settings.
func (s Settings) render(name string) []byte {
	body := read(files, name)
	if path.Ext(name) != ".html" {
		return body
	}
	var page bytes.Buffer
	if err := template.Must(template.New(name).Parse(string(body))).Execute(&page, s); err != nil {
		panic(err) // never happens, because the templates are embedded
	}
	return page.Bytes()
}
