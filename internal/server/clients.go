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
	// quietTimeout is how long a connection must be quiet before the server may close it to make room for another
	// connection.
	quietTimeout = time.Second
	// drainingQuietTimeout is how long a connection must be quiet before the server closes it during a shutdown. A client
	// that sends a request before then gets its answer.
	drainingQuietTimeout = 500 * time.Millisecond
)

// clients is a listener that keeps track of its connections and bounds their number. When all places are taken, it closes a
// quiet connection to accept another. It never closes a connection from a trusted proxy, because many clients share that
// connection.
type clients struct {
	net.Listener
	maxOpen int
	trusted []netip.Prefix
	// refusal returns the answer that the client gets instead of net/http's own refusal.
	refusal func(peer string, status int, message string) []byte

	mu         sync.Mutex
	conns      map[*clientConn]struct{}
	connsOf    map[netip.Addr]int // the number of connections from each address
	requests   int                // the number of HTTP/2 requests that handlers are working on
	requestsOf map[netip.Addr]int // the number of those HTTP/2 requests from each address
	longLived  int                // the number of HTTP/2 requests that are not counted because they last for long
	freed      chan struct{}      // signals that a connection has closed
	closed     chan struct{}
	close      func() error // closes the listener; later calls do nothing
}

func newClients(inner net.Listener, maxOpen int, trusted []netip.Prefix, refusal func(string, int, string) []byte) *clients {
	l := &clients{
		Listener: inner, maxOpen: maxOpen, trusted: trusted, refusal: refusal,
		conns: make(map[*clientConn]struct{}), connsOf: make(map[netip.Addr]int), requestsOf: make(map[netip.Addr]int),
		freed: make(chan struct{}, 1), closed: make(chan struct{}),
	}
	l.close = sync.OnceValue(func() error {
		close(l.closed)
		return inner.Close()
	})
	return l
}

// Accept waits for a connection, and then until there is room for the connection.
func (l *clients) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &clientConn{Conn: inner, listener: l}
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
		case <-l.freed:
		case <-time.After(quietTimeout / 20):
		case <-l.closed:
			inner.Close()
			return nil, net.ErrClosed
		}
	}
	c.heard.Store(time.Now().UnixNano()) // the connection may have waited long for room
	return c, nil
}

// stop stops accepting connections. Before that, it waits until all connections in the accept queue are accepted, because
// the system drops queued connections when the listener closes. The wait ends at the latest when ctx ends. The last accepted
// connection may still wait for room when stop returns.
func (l *clients) stop(ctx context.Context) {
	if listener, ok := l.Listener.(syscall.Conn); ok {
		drainAcceptQueue(ctx, listener)
	}
	l.Listener.Close()
}

// Close stops accepting connections. Accepted connections stay open. Later calls do nothing.
func (l *clients) Close() error { return l.close() }

func (l *clients) add(c *clientConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.conns) >= l.maxOpen {
		return false
	}
	l.conns[c] = struct{}{}
	l.connsOf[c.peer]++
	return true
}

func (l *clients) remove(c *clientConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, there := l.conns[c]; !there {
		return
	}
	delete(l.conns, c)
	l.countRequests(c, -c.requests)
	if l.connsOf[c.peer]--; l.connsOf[c.peer] == 0 {
		delete(l.connsOf, c.peer)
	}
	select {
	case l.freed <- struct{}{}:
	default:
	}
}

// quietest returns the connection to close when room is needed, or nil if there is none. It considers only connections that
// have been quiet for quietTimeout. Of these, it returns the quietest connection from the address with the most connections.
func (l *clients) quietest(now time.Time) (found *clientConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		if c.trusted || c.quiet(now) < quietTimeout {
			continue
		}
		if found == nil || l.connsOf[c.peer] > l.connsOf[found.peer] ||
			l.connsOf[c.peer] == l.connsOf[found.peer] && c.quiet(now) > found.quiet(now) {
			found = c
		}
	}
	return found
}

// drain waits until every HTTP/1 connection is closed and every HTTP/2 connection has been quiet for drainingQuietTimeout,
// or until ctx ends. An HTTP/1 connection in use closes after its answer. The method http.Server.Shutdown notifies the
// clients of HTTP/2 connections before it closes the connections.
func (l *clients) drain(ctx context.Context, since time.Time) {
	every := time.NewTicker(drainingQuietTimeout / 20)
	defer every.Stop()
	for l.closeQuiet(since, time.Now()) > 0 {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
	}
}

// closeQuiet closes the HTTP/1 connections that have been quiet for drainingQuietTimeout. Quiet time before the time since
// does not count. It returns the number of connections that have not been quiet for that long.
func (l *clients) closeQuiet(since, now time.Time) (left int) {
	l.mu.Lock()
	var quiet []*clientConn
	for c := range l.conns {
		switch {
		case min(c.quiet(now), now.Sub(since)) < drainingQuietTimeout:
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

// trackState records the state of a connection. The HTTP server calls it as its ConnState.
func (l *clients) trackState(conn net.Conn, state http.ConnState) {
	secure, isSecure := conn.(*tls.Conn)
	if isSecure {
		conn = secure.NetConn()
	}
	c := conn.(*clientConn)
	before := http.ConnState(c.state.Swap(int32(state)))
	if state != http.StateActive { // an active connection is never quiet, so its time is not needed
		c.heard.Store(time.Now().UnixNano())
	}
	if isSecure && before == http.StateNew && state == http.StateActive {
		c.http2.Store(secure.ConnectionState().NegotiatedProtocol == "h2")
	}
}

// clientConn is one connection from a client.
type clientConn struct {
	net.Conn
	listener *clients
	peer     netip.Addr
	trusted  bool
	http2    atomic.Bool
	state    atomic.Int32 // an http.ConnState
	heard    atomic.Int64 // the time when the connection last received or sent something, in Unix nanoseconds
	requests int          // the number of HTTP/2 requests that handlers are working on; guarded by the listener's lock
	// addedHeaders are the headers for an answer that has not begun; see headerWriter. With TLS, the field is always nil.
	addedHeaders *[]byte
}

// quiet returns how long the connection has received nothing. It returns 0 while the server answers a request. A request
// counts only when its headers are complete.
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
	if c.addedHeaders != nil {
		return c.beginAnswer(b)
	}
	if status, message := refusedByServer(b); status != 0 {
		_, err := c.Conn.Write(c.listener.refusal(c.RemoteAddr().String(), status, message))
		return len(b), err
	}
	return c.Conn.Write(b)
}

// Close closes the connection. The HTTP server calls Close, and so does the listener when it needs room.
func (c *clientConn) Close() error {
	err := c.Conn.Close()
	c.listener.remove(c)
	return err
}
