package server

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"runtime"
)

// maxRequests is how many HTTP/2 requests of all connections may be in handlers at once. As many again may have left their
// handlers and wait until clients read their short answers. A request costs the server about 20 kB, and its client next to
// nothing.
const maxRequests = 2 * MaxWorking

// connKey is the key of a request's connection in its context.
type connKey struct{}

// connContext puts a connection into the context of its requests. It is the server's ConnContext.
func (l *clients) connContext(ctx context.Context, conn net.Conn) context.Context {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	return context.WithValue(ctx, connKey{}, conn)
}

// limitRequests bounds the number of open HTTP/2 requests. net/http sends a short answer only after the handler has
// returned, and does not report when the client has read it. When many answers wait, limitRequests therefore sends the
// answer itself before it returns.
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
// goroutines: each open HTTP/2 request has one, and each connection has up to three.
func (l *clients) manyAnswersWait() bool {
	n := runtime.NumGoroutine() - maxRequests
	if n <= 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return n > 3*len(l.conns)
}

// beginRequest counts a request. If there are too many, it returns a connection to close: of the address with the most
// requests, the connection with the most. Only closing the connection frees everything that its requests occupy, even if
// the client does not read.
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

// countRequests adds more to the number of HTTP/2 requests of a connection. The caller holds the lock.
func (l *clients) countRequests(c *clientConn, more int) {
	c.requests += more
	l.requests += more
	if l.requestsOf[c.peer] += more; l.requestsOf[c.peer] == 0 {
		delete(l.requestsOf, c.peer)
	}
}
