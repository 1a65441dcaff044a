package server

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"runtime"
)

// maxRequests is how many HTTP/2 requests handlers may work on at the same time, over all connections. The same number of
// requests may have left their handlers and wait until clients read their short answers. A request costs the server about 20
// kB, and costs its client next to nothing.
const maxRequests = 2 * MaxWorking

// connKey is the key under which the context of a request has the request's connection.
type connKey struct{}

// connContext puts a connection into the context of its requests. The HTTP server calls it as its ConnContext.
func (l *clients) connContext(ctx context.Context, conn net.Conn) context.Context {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	return context.WithValue(ctx, connKey{}, conn)
}

// limitRequests bounds the number of open HTTP/2 requests. For a short answer, net/http begins to send only after the
// handler has returned, and does not report when the client has read the answer. When many answers wait, limitRequests
// therefore sends the answer itself before it returns.
func (l *clients) limitRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 || r.TLS == nil { // without TLS, "PRI * HTTP/2.0" is an HTTP/1 request
			next.ServeHTTP(w, r)
			return
		}
		c := r.Context().Value(connKey{}).(*clientConn)
		if victim := l.beginRequest(c); victim != nil {
			victim.Close()
		}
		defer l.endRequest(c)
		next.ServeHTTP(w, r)
		if l.manyAnswersWait() {
			http.NewResponseController(w).Flush()
		}
	})
}

// manyAnswersWait reports whether many answers wait until clients read them. It estimates this from the number of
// goroutines: each open HTTP/2 request has one goroutine, and each connection has up to three. Requests that last for long are
// not waiting.
func (l *clients) manyAnswersWait() bool {
	n := runtime.NumGoroutine() - maxRequests
	if n <= 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return n > 3*len(l.conns)+l.longLived
}

// beginRequest counts a request. If there are too many requests, it returns a connection to close. It chooses the address
// with the most requests, and of this address the connection with the most requests. Only closing the connection frees
// everything that its requests occupy, even if the client does not read.
func (l *clients) beginRequest(c *clientConn) (victim *clientConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, there := l.conns[c]; !there {
		return nil
	}
	l.countRequests(c, 1)
	if l.requests <= maxRequests {
		return nil
	}
	for other := range l.conns {
		if other.trusted || other.requests == 0 {
			continue
		}
		if victim == nil || l.requestsOf[other.peer] > l.requestsOf[victim.peer] ||
			other.peer == victim.peer && other.requests > victim.requests {
			victim = other
		}
	}
	return victim
}

func (l *clients) endRequest(c *clientConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, there := l.conns[c]; there {
		l.countRequests(c, -1)
	}
}

// countRequests adds delta, which may be negative, to the number of HTTP/2 requests on a connection. The caller holds the
// lock.
func (l *clients) countRequests(c *clientConn, delta int) {
	c.requests += delta
	l.requests += delta
	if l.requestsOf[c.peer] += delta; l.requestsOf[c.peer] == 0 {
		delete(l.requestsOf, c.peer)
	}
}

// longLivedBuffer is how many bytes the kernel may keep for a client of a long-lived HTTP/1 answer, which Linux doubles.
// Without a bound it keeps up to 4 MiB, and an answer that nobody reads seems to be read until these are full.
const longLivedBuffer = 64 << 10

// LongLived makes an HTTP/2 request count no longer among the requests that handlers work on, because it lasts for long and
// the handler bounds the number of such requests itself; see MostStreams. Of an HTTP/1 request it bounds what the kernel
// keeps. The handler must call ended before it returns.
func LongLived(r *http.Request) (ended func()) {
	c, ok := r.Context().Value(connKey{}).(*clientConn)
	switch {
	case !ok:
		return func() {}
	case r.ProtoMajor == 2 && r.TLS != nil:
		c.listener.addLongLived(c, 1)
		return func() { c.listener.addLongLived(c, -1) }
	}
	if d, ok := c.Conn.(*deadlineConn); ok {
		_ = d.Conn.(*net.TCPConn).SetWriteBuffer(longLivedBuffer)
	}
	return func() {}
}

// addLongLived moves n requests on a connection from those that count to those that last for long.
func (l *clients) addLongLived(c *clientConn, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.longLived += n
	if _, there := l.conns[c]; there {
		l.countRequests(c, -n)
	}
}
