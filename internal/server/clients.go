package server

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// patience is how long a connection may be quiet while others wait for room.
	patience = time.Second
	// farewell is how long a connection may be quiet while the server stops. A client that uses the connection again
	// before that gets its answer.
	farewell = 500 * time.Millisecond
)

// clients is a listener that keeps track of its connections. It bounds their number: to accept one more, it closes a
// quiet one. It never closes connections of trusted proxies, because many clients share them.
type clients struct {
	net.Listener
	most    int
	trusted []netip.Prefix
	// refusal makes the answer that a peer gets instead of net/http's own refusal.
	refusal func(peer string, status int, message string) []byte

	mu         sync.Mutex
	conns      map[*clientConn]struct{}
	of         map[netip.Addr]int // the number of connections of each address
	requests   int                // the number of HTTP/2 requests in their handlers
	requestsOf map[netip.Addr]int // the number of these requests of each address
	left       chan struct{}      // signals that a connection has closed
	closed     chan struct{}
	close      func() error // closes the listener; later calls do nothing
}

func newClients(inner net.Listener, most int, trusted []netip.Prefix, refusal func(string, int, string) []byte) *clients {
	l := &clients{
		Listener: inner, most: most, trusted: trusted, refusal: refusal,
		conns: make(map[*clientConn]struct{}), of: make(map[netip.Addr]int), requestsOf: make(map[netip.Addr]int),
		left: make(chan struct{}, 1), closed: make(chan struct{}),
	}
	l.close = sync.OnceValue(func() error {
		close(l.closed)
		return inner.Close()
	})
	return l
}

// Accept waits for a client, and then for room for it.
func (l *clients) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &clientConn{Conn: inner, of: l}
	if peer, err := netip.ParseAddrPort(inner.RemoteAddr().String()); err == nil {
		c.peer = peer.Addr().Unmap().WithZone("")
	}
	c.trusted = slices.ContainsFunc(l.trusted, func(network netip.Prefix) bool { return network.Contains(c.peer) })
	c.heard.Store(time.Now().UnixNano())
	for !l.add(c) {
		if quiet := l.quietest(time.Now()); quiet != nil {
			quiet.Close()
			continue
		}
		select {
		case <-l.left:
		case <-time.After(patience / 20):
		case <-l.closed:
			inner.Close()
			return nil, net.ErrClosed
		}
	}
	c.heard.Store(time.Now().UnixNano()) // it may have waited for long
	return c, nil
}

// stop ends accepting. Before that it waits, at most until ctx ends, for the clients in the queue to be accepted: when
// the listener closes, the system breaks off their connections. The last of them may still wait for room.
func (l *clients) stop(ctx context.Context) {
	if door, ok := l.Listener.(syscall.Conn); ok {
		turnAway(ctx, door)
	}
	l.Listener.Close()
}

// Close ends accepting. Accepted connections stay open. The server may call Close again, which does nothing.
func (l *clients) Close() error { return l.close() }

func (l *clients) add(c *clientConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.conns) >= l.most {
		return false
	}
	l.conns[c] = struct{}{}
	l.of[c.peer]++
	return true
}

func (l *clients) remove(c *clientConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, there := l.conns[c]; !there {
		return
	}
	delete(l.conns, c)
	l.count(c, -c.requests)
	if l.of[c.peer]--; l.of[c.peer] == 0 {
		delete(l.of, c.peer)
	}
	select {
	case l.left <- struct{}{}:
	default:
	}
}

// quietest returns the connection to close when room is needed, or nil. Among the connections that have been quiet for
// longer than patience it takes those of the address with the most connections, and of these the quietest one.
func (l *clients) quietest(now time.Time) (found *clientConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		if c.trusted || c.quiet(now) < patience {
			continue
		}
		if found == nil || l.of[c.peer] > l.of[found.peer] ||
			l.of[c.peer] == l.of[found.peer] && c.quiet(now) > found.quiet(now) {
			found = c
		}
	}
	return found
}

// finish waits until every HTTP/1 connection is closed and every HTTP/2 connection has been quiet for as long as
// farewell, or until ctx ends. HTTP/1 connections in use close after their answer. http.Server.Shutdown closes HTTP/2
// connections, after it has told their clients.
func (l *clients) finish(ctx context.Context, since time.Time) {
	every := time.NewTicker(farewell / 20)
	defer every.Stop()
	for l.letGo(since, time.Now()) > 0 {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
	}
}

// letGo closes the HTTP/1 connections that have been quiet for as long as farewell, counted from since at the earliest.
// It returns how many connections have not been quiet for that long.
func (l *clients) letGo(since, now time.Time) (left int) {
	l.mu.Lock()
	var quiet []*clientConn
	for c := range l.conns {
		switch {
		case min(c.quiet(now), now.Sub(since)) < farewell:
			left++
		case !c.http2.Load():
			quiet = append(quiet, c)
		}
	}
	l.mu.Unlock()
	for _, c := range quiet {
		c.Close()
	}
	return left
}

// note follows the state of a connection. It is the server's ConnState.
func (l *clients) note(conn net.Conn, state http.ConnState) {
	secure, isSecure := conn.(*tls.Conn)
	if isSecure {
		conn = secure.NetConn()
	}
	c := conn.(*clientConn)
	before := http.ConnState(c.state.Swap(int32(state)))
	if state != http.StateActive { // while a request is being answered, nothing asks for the time
		c.heard.Store(time.Now().UnixNano())
	}
	if isSecure && before == http.StateNew && state == http.StateActive {
		c.http2.Store(secure.ConnectionState().NegotiatedProtocol == "h2")
	}
}

// clientConn is one connection of a client.
type clientConn struct {
	net.Conn
	of       *clients
	peer     netip.Addr
	trusted  bool
	http2    atomic.Bool
	state    atomic.Int32 // an http.ConnState
	heard    atomic.Int64 // when the connection last received something or answered, in Unix nanoseconds
	requests int          // the number of HTTP/2 requests in their handlers; guarded by the listener's lock
	lines    *[]byte      // headers of an answer that has not begun, see lineWriter; always nil with TLS
}

// quiet is how long the connection has received nothing. It is 0 while a request is being answered. A request counts
// only once its headers are complete.
func (c *clientConn) quiet(now time.Time) time.Duration {
	if http.ConnState(c.state.Load()) == http.StateActive {
		return 0
	}
	return time.Duration(now.UnixNano() - c.heard.Load())
}

func (c *clientConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.heard.Store(time.Now().UnixNano())
	}
	return n, err
}

func (c *clientConn) Write(b []byte) (int, error) {
	if c.lines != nil {
		return c.beginAnswer(b)
	}
	if status, message := refusedByServer(b); status != 0 {
		_, err := c.Conn.Write(c.of.refusal(c.RemoteAddr().String(), status, message))
		return len(b), err
	}
	return c.Conn.Write(b)
}

// Close is called by the server, and by the listener to make room.
func (c *clientConn) Close() error {
	err := c.Conn.Close()
	c.of.remove(c)
	return err
}
