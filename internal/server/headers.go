package server

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
)

// withHeaderWriter gives the handler a headerWriter for every request without TLS. Such a request is always HTTP/1. With
// TLS, the connection sees only encrypted bytes, so the handler gets the writer of net/http.
func withHeaderWriter(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil {
			c := r.Context().Value(connKey{}).(*clientConn)
			c.addedHeaders = buffers.Get().(*[]byte)
			*c.addedHeaders = (*c.addedHeaders)[:0]
			w = &headerWriter{w, c}
		}
		next.ServeHTTP(w, r)
	})
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// headerWriter is an http.ResponseWriter that collects headers as bytes. The connection sends these bytes between the status
// line and the headers of net/http. The alternative, net/http's own headers, puts each header into a map, copies the map,
// sorts it and writes it. For the ten headers of an answer, that took a fifth of the processor time.
type headerWriter struct {
	http.ResponseWriter
	conn *clientConn
}

// AddHeader adds a header that the answer does not have yet. The client gets the name exactly as given. Call AddHeader
// before WriteHeader.
func (w *headerWriter) AddHeader(name, value string) {
	switch {
	case handledByNetHTTP(name):
		w.Header()[name] = []string{value}
	case strings.IndexByte(value, '\r') >= 0 || strings.IndexByte(value, '\n') >= 0: // net/http replaces line breaks with spaces
		w.Header()[name] = []string{value}
	case w.conn.addedHeaders != nil:
		*w.conn.addedHeaders = append(append(append(append(*w.conn.addedHeaders, name...), ": "...), value...), "\r\n"...)
	}
}

// handledByNetHTTP reports whether net/http acts on a header, or sets the header itself if the handler does not.
func handledByNetHTTP(name string) bool {
	switch name {
	case "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Date", "Trailer", "Transfer-Encoding":
		return true
	}
	return strings.HasPrefix(name, http.TrailerPrefix)
}

// WriteString writes s without copying it.
func (w *headerWriter) WriteString(s string) (int, error) { return io.WriteString(w.ResponseWriter, s) }

// Unwrap lets http.ResponseController reach the writer of net/http.
func (w *headerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// beginAnswer writes the first bytes of an answer and inserts the added headers after the status line. These bytes begin
// with the status line, because net/http flushes each answer before the next. Only interim answers such as 100 Continue may
// come before the status line.
func (c *clientConn) beginAnswer(b []byte) (int, error) {
	const code = len("HTTP/1.1 ")
	if len(b) <= code || b[code] == '1' || !bytes.HasPrefix(b, []byte("HTTP/1.")) {
		return c.Conn.Write(b)
	}
	added, whole := c.addedHeaders, buffers.Get().(*[]byte)
	c.addedHeaders = nil
	status := bytes.IndexByte(b, '\n') + 1
	*whole = append(append(append((*whole)[:0], b[:status]...), *added...), b[status:]...)
	n, err := c.Conn.Write(*whole)
	n = max(0, n-len(*added))
	buffers.Put(added)
	buffers.Put(whole)
	return n, err
}
