package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
)

// AnswerMalformed returns the complete HTTP/1 answer to bytes that net/http refused with that status before there was a request
// to handle. It is measured and logged like any other answer, but without a method and a path. It has the rate-limit
// headers for the peer's address, but is not counted against the limit.
func (a *API) AnswerMalformed(peer string, status int, message string) []byte {
	w := &responseBuffer{header: make(http.Header)}
	r := &http.Request{URL: new(url.URL), Header: make(http.Header), Body: http.NoBody, RemoteAddr: peer}
	x := newExchange(w, r, a.Now())
	a.observed(a.rendered(a.crossOrigin(func(x *exchange) error {
		if err := a.peek(x); err != nil {
			return err
		}
		e := refusal{code: badRequest, message: message}
		x.set("Cache-Control", "no-store") // the path may have been under /v1
		x.respond(status, buildString(func(b []byte) []byte { return appendError(b, e, status) }))
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

// responseBuffer is an http.ResponseWriter that keeps the answer in memory.
type responseBuffer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *responseBuffer) Header() http.Header         { return w.header }
func (w *responseBuffer) WriteHeader(status int)      { w.status = status }
func (w *responseBuffer) Write(b []byte) (int, error) { return w.body.Write(b) }
