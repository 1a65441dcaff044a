package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// listenerWith makes a listener that has these connections.
func listenerWith(now time.Time, conns ...quietConn) *clients {
	l := newClients(nil, len(conns), nil, nil)
	for _, q := range conns {
		c := &clientConn{Conn: q, listener: l, peer: netip.MustParseAddr(q.peer), trusted: q.trusted}
		c.state.Store(int32(q.state))
		c.http2.Store(q.http2)
		c.heard.Store(now.Add(-q.quiet).UnixNano())
		l.add(c)
	}
	return l
}

type quietConn struct {
	net.Conn
	peer    string
	state   http.ConnState
	quiet   time.Duration
	trusted bool
	http2   bool
	closed  *bool
}

func (c quietConn) Close() error {
	*c.closed = true
	return nil
}

func TestTheQuietestConnectionOfTheAddressWithMostConnectionsIsClosedToMakeRoom(t *testing.T) {
	now := time.Now()
	few, many, proxy := "192.0.2.1", "192.0.2.2", "192.0.2.3"
	l := listenerWith(now,
		quietConn{peer: few, state: http.StateIdle, quiet: time.Hour},
		quietConn{peer: many, state: http.StateIdle, quiet: 2 * time.Second},
		quietConn{peer: many, state: http.StateNew, quiet: 3 * time.Second},
		quietConn{peer: many, state: http.StateActive, quiet: time.Hour},
		quietConn{peer: many, state: http.StateNew, quiet: quietTimeout / 2},
		quietConn{peer: proxy, state: http.StateIdle, quiet: time.Hour, trusted: true},
		quietConn{peer: proxy, state: http.StateIdle, quiet: time.Hour, trusted: true},
		quietConn{peer: proxy, state: http.StateIdle, quiet: time.Hour, trusted: true},
		quietConn{peer: proxy, state: http.StateIdle, quiet: time.Hour, trusted: true},
		quietConn{peer: proxy, state: http.StateIdle, quiet: time.Hour, trusted: true},
	)
	for _, want := range []string{many + " 3s", many + " 2s", few + " 1h0m0s", ""} {
		got := ""
		if c := l.quietest(now); c != nil {
			got = fmt.Sprint(c.peer, " ", c.quiet(now))
			l.remove(c)
		}
		if got != want {
			t.Errorf("%q is closed to make room, want %q", got, want)
		}
	}
}

// If the listener closes a connection to make room, the HTTP server closes the same connection later.
func TestClosingAConnectionTwiceRemovesItOnce(t *testing.T) {
	const peer = "192.0.2.1"
	l := listenerWith(time.Now(), quietConn{peer: peer, closed: new(bool)}, quietConn{peer: peer, closed: new(bool)})
	for c := range l.conns {
		c.Close()
		c.Close()
		break
	}
	if left := l.connsOf[netip.MustParseAddr(peer)]; left != 1 || len(l.conns) != 1 {
		t.Errorf("the address counts %d connections and has %d, want 1", left, len(l.conns))
	}
}

func TestShutdownClosesOnlyConnectionsThatHaveBeenQuiet(t *testing.T) {
	now := time.Now()
	const peer = "192.0.2.1"
	var closed [6]bool
	conns := []quietConn{
		{peer: peer, state: http.StateIdle, quiet: time.Hour, closed: &closed[0]},
		{peer: peer, state: http.StateNew, quiet: drainingQuietTimeout, closed: &closed[1]},
		{peer: peer, state: http.StateIdle, quiet: drainingQuietTimeout / 2, closed: &closed[2]},
		{peer: peer, state: http.StateActive, quiet: time.Hour, closed: &closed[3]},
		{peer: peer, state: http.StateIdle, quiet: time.Hour, http2: true, closed: &closed[4]},
		{peer: peer, state: http.StateIdle, quiet: drainingQuietTimeout / 2, http2: true, closed: &closed[5]},
	}
	l := listenerWith(now, conns...)
	if left := l.closeQuiet(now.Add(-drainingQuietTimeout/2), now); left != 6 || closed != [6]bool{} {
		t.Errorf("before the timeout %d connections are left, and these are closed: %v", left, closed)
	}
	if left := l.closeQuiet(now.Add(-drainingQuietTimeout), now); left != 3 || closed != [6]bool{true, true} {
		t.Errorf("after the timeout %d connections are left, and these are closed: %v", left, closed)
	}
}

// The method http.Server.Shutdown closes the listener a second time. It fails if the second Close fails.
func TestAListenerMayBeClosedTwice(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	l := newClients(inner, 1, nil, nil)
	if first, second := l.Close(), l.Close(); first != nil || second != nil {
		t.Errorf("closed with %v, then with %v", first, second)
	}
	if _, err := l.Accept(); err == nil {
		t.Error("a closed listener accepts")
	}
}

func TestMostConnsReservesFilesForEverythingElse(t *testing.T) {
	for files, want := range map[int]int{1: 1, 2: 1, 100: 50, 128: 64, 256: 192, 1024: 960, 16448: 16384, 1 << 20: maxConns} {
		if got := MostConns(files); got != want {
			t.Errorf("with %d files MostConns returns %d, want %d", files, got, want)
		}
	}
}

// exhausted is a listener whose first Accept fails because the process has too many open files. Later calls fail because the
// listener is closed.
type exhausted struct {
	net.Listener
	accepts int
}

func (l *exhausted) Accept() (net.Conn, error) {
	if l.accepts++; l.accepts == 1 {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return nil, net.ErrClosed
}

func TestAcceptErrorsAreLoggedAsWarnings(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	server := NewHTTP(http.NotFoundHandler(), slog.New(slog.NewTextHandler(&log, nil)))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	defer listener.Close()
	server.Serve(&exhausted{Listener: listener})
	server.ErrorLog.Printf("http: TLS handshake error from 192.0.2.1:4711: EOF")
	if text := log.String(); !strings.Contains(text, "level=WARN") || !strings.Contains(text, "Accept error") || strings.Contains(text, "handshake") {
		t.Errorf("the log has %q", text)
	}
}
