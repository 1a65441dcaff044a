package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"strings"

	"petstore/bench/report"
)

// answers holds some of petstore's answers, byte for byte, and the headers that ServeHTTP adds to each answer.
type answers struct {
	List, Pet, Created, Inventory []byte
	Headers                       http.Header
}

// ServeHTTP writes these bytes and does nothing else: it has no key, no limit, no log and no storage. No net/http handler
// can be faster.
func (a *answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	maps.Copy(w.Header(), a.Headers)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/v1/inventory":
		w.Write(a.Inventory)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/complete"):
		w.Write(a.Created)
	case r.Method == http.MethodPost:
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusCreated)
		w.Write(a.Created)
	case strings.HasPrefix(r.URL.Path, "/v1/pets/"):
		w.Write(a.Pet)
	default:
		w.Write(a.List)
	}
}

// bare starts the bare handler with the answers of a petstore. If the subject is report.Dressed, the handler also sends the
// headers of the hot page.
func (b *bench) bare(petstore *service, subject report.Subject, requests lines) (*service, error) {
	s := b.newService(subject, requests)
	var a answers
	for _, part := range []struct {
		line string
		body *[]byte
	}{{report.Hot, &a.List}, {report.Get, &a.Pet}, {report.Create, &a.Created}, {report.Inventory, &a.Inventory}} {
		answer, body, err := petstore.lines[part.line][0].Ask(petstore.address, rows)
		if err != nil {
			return nil, err
		}
		*part.body = body
		if part.line == report.Hot && s.ID == report.Dressed {
			a.Headers = answer.Header
			a.Headers.Del("Date") // net/http itself adds these two headers
			a.Headers.Del("Content-Length")
		}
	}
	cmd := selfCommand("bare", s.address)
	cmd.Stdin = bytes.NewReader(must(json.Marshal(a)))
	return s.launch(cmd)
}

// runBare reads answers from standard input and serves them. The address to listen on is in args.
func runBare(args []string) error {
	var a answers
	if err := json.NewDecoder(os.Stdin).Decode(&a); err != nil {
		return err
	}
	return http.ListenAndServe(args[0], &a)
}
