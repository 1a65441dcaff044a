package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
)

// Refusal is the complete HTTP/1 answer to bytes that the HTTP server refused with that status, before there was a
// request to handle. It is counted and logged like any other answer, without a method and a path. It tells the peer what
// is left for its address, but does not count as a request.
func (a *API) Refusal(peer string, status int, message string) []byte {
	w := &collected{header: make(http.Header)}
	r := &http.Request{URL: new(url.URL), Header: make(http.Header), Body: http.NoBody, RemoteAddr: peer}
	x := newExchange(w, r, a.Now())
	a.observed(a.rendered(a.crossOrigin(func(x *exchange) error {
		if err := a.peek(x); err != nil {
			return err
		}
		e := refusal{code: badRequest, message: message}
		x.set("Cache-Control", "no-store") // it may have been meant for a path under /v1
		x.respond(status, appended(func(b []byte) []byte { return appendError(b, e, status) }))
		x.send()
		return nil
	})))(x)
	w.header["Date"] = []string{x.start.UTC().Format(http.TimeFormat)}
	var raw bytes.Buffer
	(&http.Response{
		StatusCode: w.status, ProtoMajor: 1, ProtoMinor: 1, Header: w.header, Close: true,
		Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()),
	}).Write(&raw)
	return raw.Bytes()
}

// collected keeps an answer that net/http does not send.
type collected struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *collected) Header() http.Header         { return w.header }
func (w *collected) WriteHeader(status int)      { w.status = status }
func (w *collected) Write(b []byte) (int, error) { return w.body.Write(b) }
