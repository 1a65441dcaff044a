package service

import (
	"bytes"
	"fmt"
	"net/http"

	"petstore/api"
	"petstore/internal/petstore"
	"petstore/internal/web"
)

// pages returns what the public listener serves without a key, besides the API. The address base is --base-url without
// the version.
func pages(base string, environment petstore.Environment) map[string]http.Handler {
	pages := web.Pages(base)
	if environment == petstore.Staging {
		web.MarkStaging(pages)
	}
	pages["/openapi.yaml"] = document("application/yaml", described(base, api.YAML, "- url: %s\n"))
	pages["/openapi.json"] = document("application/json", described(base, api.JSON, `"url": "%s"`))
	return pages
}

// described is the description of the interface with the address of this server, which the form says how to write.
func described(base string, description []byte, form string) []byte {
	return bytes.Replace(description, fmt.Appendf(nil, form, "/v1"), fmt.Appendf(nil, form, base+"/v1"), 1)
}

// probes returns the handlers that load balancers call on the public listener.
func probes(health *health) map[string]http.Handler {
	return map[string]http.Handler{"/healthz": http.HandlerFunc(health.alive), "/readyz": http.HandlerFunc(health.ready)}
}

func document(contentType string, body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Write(body)
	})
}
