package service

import (
	"bytes"
	"fmt"
	"net/http"

	"petstore/api"
	"petstore/internal/petstore"
	"petstore/internal/web"
)

// pages returns the pages and files that the public listener serves without a key, by their paths. The argument base is the
// value of --base-url without the version.
func pages(base string, environment petstore.Environment) map[string]http.Handler {
	pages := web.Pages(base)
	if environment == petstore.Staging {
		web.MarkStaging(pages)
	}
	pages["/openapi.yaml"] = document("application/yaml", withAddress(base, api.YAML, "- url: %s\n"))
	pages["/openapi.json"] = document("application/json", withAddress(base, api.JSON, `"url": "%s"`))
	return pages
}

// withAddress puts the address of this server into the OpenAPI document, where format is how the document writes an address.
func withAddress(base string, document []byte, format string) []byte {
	return bytes.Replace(document, fmt.Appendf(nil, format, "/v1"), fmt.Appendf(nil, format, base+"/v1"), 1)
}

// probes returns the health checks of the public listener by their paths.
func probes(health *health) map[string]http.Handler {
	return map[string]http.Handler{"/healthz": http.HandlerFunc(health.alive), "/readyz": http.HandlerFunc(health.ready)}
}

func document(contentType string, body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Write(body)
	})
}
