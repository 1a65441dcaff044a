// Package baseline holds what petstore is measured against.
package baseline

import (
	"io"
	"maps"
	"net/http"
	"strings"

	"petstore/bench/report"
)

// Answers are some of petstore: the bodies by line, byte for byte, and headers that all have.
type Answers struct {
	Bodies  map[string][]byte
	Headers http.Header
}

// Bare writes those bytes and does nothing else: no key, no limit, no log, no store. It is as much as net/http can do.
func Bare(a Answers) http.Handler {
	list, get, created, inventory := a.Bodies[report.Hot], a.Bodies[report.Get], a.Bodies[report.Create], a.Bodies[report.Inventory]
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		maps.Copy(w.Header(), a.Headers)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/v1/inventory":
			w.Write(inventory)
		case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/complete"):
			w.Write(created)
		case r.Method == http.MethodPost:
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusCreated)
			w.Write(created)
		case strings.HasPrefix(r.URL.Path, "/v1/pets/"):
			w.Write(get)
		default:
			w.Write(list)
		}
	})
}
