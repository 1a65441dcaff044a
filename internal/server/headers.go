package server

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
)

// lined gives the handler a lineWriter for every request without TLS, which is always HTTP/1. An answer over TLS cannot be
// seen on its connection, so it keeps the writer of net/http.
func lined(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil {
			c := r.Context().Value(connKey{}).(*clientConn)
			c.lines = buffers.Get().(*[]byte)
			*c.lines = (*c.lines)[:0]
			w = &lineWriter{w, c}
		}
		next.ServeHTTP(w, r)
	})
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// lineWriter is an http.ResponseWriter that takes headers as lines. The connection sends them between the status line and
// the headers of net/http, which would put each into a map, copy the map, sort it and write it. With the ten headers of an
// answer, that took a fifth of the processor time.
type lineWriter struct {
	http.ResponseWriter
	conn *clientConn
}

// AddHeader adds a header that the answer does not have yet, exactly as it is spelled. It comes before WriteHeader.
func (w *lineWriter) AddHeader(name, value string) {
	switch {
	case knownByServer(name):
		w.Header()[name] = []string{value}
	case strings.IndexByte(value, '\r') >= 0 || strings.IndexByte(value, '\n') >= 0: // net/http makes them spaces
		w.Header()[name] = []string{value}
	case w.conn.lines != nil:
		*w.conn.lines = append(append(append(append(*w.conn.lines, name...), ": "...), value...), "\r\n"...)
	}
}

// knownByServer reports whether net/http goes by a header, or sets it unless the handler does.
func knownByServer(name string) bool {
	switch name {
	case "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Date", "Trailer", "Transfer-Encoding":
		return true
	}
	return strings.HasPrefix(name, http.TrailerPrefix)
}

// WriteString passes a text on without copying it.
func (w *lineWriter) WriteString(s string) (int, error) { return io.WriteString(w.ResponseWriter, s) }

// Unwrap is for http.ResponseController.
func (w *lineWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// beginAnswer writes the first bytes of an answer, with the lines behind the status line. net/http flushes each answer
// before the next, so these bytes begin with the status line. Only a 100 Continue may come before them.
func (c *clientConn) beginAnswer(b []byte) (int, error) {
	const code = len("HTTP/1.1 ")
	if len(b) <= code || b[code] == '1' || !bytes.HasPrefix(b, []byte("HTTP/1.")) {
		return c.Conn.Write(b)
	}
	lines, whole := c.lines, buffers.Get().(*[]byte)
	c.lines = nil
	status := bytes.IndexByte(b, '\n') + 1
	*whole = append(append(append((*whole)[:0], b[:status]...), *lines...), b[status:]...)
	n, err := c.Conn.Write(*whole)
	n = max(0, n-len(*lines))
	buffers.Put(lines)
	buffers.Put(whole)
	return n, err
}
