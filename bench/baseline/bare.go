// Package baseline holds what petstore is measured against.
package baseline

import (
	"io"
	"net/http"
	"strings"
)

// Bodies are answers of petstore, byte for byte.
type Bodies struct{ List, Get, Created, Inventory []byte }

// Dressed is a handler whose answers have these headers too.
func Dressed(handler http.Handler, headers http.Header) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		for name, values := range headers {
			h[name] = values
		}
		handler.ServeHTTP(w, r)
	})
}

// Bare writes those bytes and does nothing else: no key, no limit, no log, no store. It is as much as net/http can do.
func Bare(b Bodies) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/v1/inventory":
			w.Write(b.Inventory)
		case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/complete"):
			w.Write(b.Created)
		case r.Method == http.MethodPost:
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusCreated)
			w.Write(b.Created)
		case strings.HasPrefix(r.URL.Path, "/v1/pets/"):
			w.Write(b.Get)
		default:
			w.Write(b.List)
		}
	})
}
