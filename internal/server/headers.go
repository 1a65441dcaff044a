package server

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
)

// lined gives the handler a lineWriter for every request without TLS. An answer over TLS cannot be seen on its connection,
// so it keeps the writer of net/http.
func lined(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil {
			c := r.Context().Value(connKey{}).(*clientConn)
			c.lines, c.unanswered = c.lines[:0], true
			w = &lineWriter{w, c}
		}
		next.ServeHTTP(w, r)
	})
}

// lineWriter is an http.ResponseWriter that takes headers as lines. The connection sends them between the status line and
// the headers of net/http, which would put each into a map, copy the map, sort it and write it. With the ten headers of an
// answer, that took a fifth of the processor time.
type lineWriter struct {
	http.ResponseWriter
	conn *clientConn
}

// AddHeader adds a header to the answer, exactly as it is spelled. After the first bytes of the answer it does nothing.
func (w *lineWriter) AddHeader(name, value string) {
	switch {
	case name == "Content-Type" || name == "Content-Length" || name == "Connection" || name == "Date": // net/http goes by these
		w.Header()[name] = []string{value}
	case strings.IndexByte(value, '\r') >= 0 || strings.IndexByte(value, '\n') >= 0: // net/http makes them spaces
		w.Header()[name] = append(w.Header()[name], value)
	default:
		w.conn.lines = append(append(append(append(w.conn.lines, name...), ": "...), value...), "\r\n"...)
	}
}

// WriteString passes a text on without copying it.
func (w *lineWriter) WriteString(s string) (int, error) { return io.WriteString(w.ResponseWriter, s) }

// Unwrap is for http.ResponseController.
func (w *lineWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// firstBytes are for the first bytes of answers while they are written.
var firstBytes = sync.Pool{New: func() any { return new([]byte) }}

// begin writes the first bytes of an answer, which net/http writes by themselves, with the lines behind the status line. A
// 100 Continue is no answer yet.
func (c *clientConn) begin(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte("HTTP/1.1 1")) {
		return c.Conn.Write(b)
	}
	c.unanswered = false
	status := bytes.IndexByte(b, '\n') + 1
	whole := firstBytes.Get().(*[]byte)
	defer firstBytes.Put(whole)
	*whole = append(append(append((*whole)[:0], b[:status]...), c.lines...), b[status:]...)
	n, err := c.Conn.Write(*whole)
	return max(0, n-len(c.lines)), err
}
