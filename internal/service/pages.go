package service

import (
	"net/http"

	"petstore/internal/petstore"
	"petstore/internal/web"
)

// pages returns the pages and files that the public listener serves without a key. The keys of the map are paths. The
// argument base is the value of --base-url without the version.
func pages(base string, environment petstore.Environment) map[string]http.Handler {
	pages := web.Pages(base)
	if environment == petstore.Staging {
		web.MarkStaging(pages)
	}
	return pages
}

// probes returns the health checks on the public listener. The keys of the map are paths.
func probes(health *health) map[string]http.Handler {
	return map[string]http.Handler{"/healthz": http.HandlerFunc(health.alive), "/readyz": http.HandlerFunc(health.ready)}
}
