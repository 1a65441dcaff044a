package main

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"runtime"
)

// maxRequests is how many HTTP/2 requests may be in their handlers at once, those of all connections together, and how
// many may wait behind them for clients to take short answers. One keeps about 20 kB, and costs its client next to nothing.
const maxRequests = 2 * maxWorking

// connKey is the key of a request's connection in its context.
type connKey struct{}

// context tells the requests of a connection that may speak HTTP/2 which one that is; it is the server's ConnContext.
func (l *clients) context(ctx context.Context, conn net.Conn) context.Context {
	if secure, ok := conn.(*tls.Conn); ok {
		return context.WithValue(ctx, connKey{}, secure.NetConn())
	}
	return ctx
}

// bounded bounds the HTTP/2 requests that are open at once. net/http sends a short answer when its handler has returned and
// does not tell when it was taken, so in a crowd the handler waits for that.
func (l *clients) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 || r.TLS == nil { // PRI * HTTP/2.0 without TLS is a request of HTTP/1
			next.ServeHTTP(w, r)
			return
		}
		c := r.Context().Value(connKey{}).(*clientConn)
		if victim := l.begin(c); victim != nil {
			victim.Close()
		}
		defer l.end(c)
		next.ServeHTTP(w, r)
		if l.crowded() {
			http.NewResponseController(w).Flush()
		}
	})
}

// crowded tells by the goroutines whether many answers wait for their clients: there is one for each open HTTP/2 request,
// and there are up to three for a connection.
func (l *clients) crowded() bool {
	n := runtime.NumGoroutine() - maxRequests
	if n <= 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return n > 3*len(l.conns)
}

// begin counts a request and returns the connection that makes room for it, if one has to: of the address with the most
// requests, the one with the most. Only closing it ends all that it keeps, whether its client reads or not.
func (l *clients) begin(c *clientConn) (victim *clientConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, there := l.conns[c]; !there {
		return nil
	}
	l.count(c, 1)
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

func (l *clients) end(c *clientConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, there := l.conns[c]; there {
		l.count(c, -1)
	}
}

// count notes that a connection has so many more HTTP/2 requests. It is called with the lock held.
func (l *clients) count(c *clientConn, more int) {
	c.requests += more
	l.requests += more
	if l.requestsOf[c.peer] += more; l.requestsOf[c.peer] == 0 {
		delete(l.requestsOf, c.peer)
	}
}
