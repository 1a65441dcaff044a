package service

import (
	"net/http"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/terminal"
	"petstore/internal/web"
)

// webSettings returns what the pages say about the store and the server.
func (c *Serve) webSettings(s settings) web.Settings {
	return web.Settings{
		BaseURL:   s.baseURL,
		StoreName: c.StoreName,
		Staging:   c.Environment == petstore.Staging,
		Hold:      time.Duration(c.OrderHold),
	}
}

const (
	defaultStoreName   = "Petstore"
	maxStoreNameLength = 60 // in Unicode code points
)

// checkStoreName returns what is wrong with the name of the store, or nil. The name stands inside sentences and titles.
func checkStoreName(name string) error {
	if problem := petstore.CheckText(name, maxStoreNameLength); problem != "" {
		return terminal.WrongUsage("--store-name %s", problem)
	}
	if terminal.Escape(name) != name {
		return terminal.WrongUsage("--store-name must not contain control characters, or characters that reverse the direction of text")
	}
	return nil
}

// probes returns the health checks on the public listener. The keys of the map are paths.
func probes(health *health) map[string]http.Handler {
	return map[string]http.Handler{"/healthz": http.HandlerFunc(health.alive), "/readyz": http.HandlerFunc(health.ready)}
}
