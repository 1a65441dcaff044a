package main

import (
	"net/http"

	"petstore/api"
	"petstore/internal/web"
)

// pages are what the public listener serves without a key, besides the API.
func pages(health *health) map[string]http.Handler {
	pages := web.Pages()
	pages["/openapi.yaml"] = document("application/yaml", api.YAML)
	pages["/openapi.json"] = document("application/json", api.JSON)
	pages["/healthz"] = http.HandlerFunc(health.alive)
	pages["/readyz"] = http.HandlerFunc(health.ready)
	return pages
}

func document(contentType string, body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Write(body)
	})
}
