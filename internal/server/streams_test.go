package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"
)

func TestTooManyRequestsCloseTheBusiestConnectionOfTheBusiestAddress(t *testing.T) {
	const few, many, proxy = "192.0.2.1", "192.0.2.2", "192.0.2.3"
	var closed [5]bool
	l := listenerWith(time.Now(),
		quietConn{peer: few, state: http.StateActive, closed: &closed[0]},
		quietConn{peer: many, state: http.StateActive, closed: &closed[1]},
		quietConn{peer: many, state: http.StateActive, closed: &closed[2]},
		quietConn{peer: proxy, state: http.StateActive, trusted: true, closed: &closed[3]},
		quietConn{peer: few, state: http.StateIdle, closed: &closed[4]},
	)
	conns := make([]*clientConn, len(closed))
	for c := range l.conns {
		for i := range closed {
			if c.Conn.(quietConn).closed == &closed[i] {
				conns[i] = c
			}
		}
	}
	begin := func(i, requests int) (victim *clientConn) {
		t.Helper()
		for range requests {
			if victim != nil {
				t.Fatal("a connection was closed too early")
			}
			victim = l.beginRequest(conns[i])
		}
		return victim
	}
	for i, requests := range []int{100, 60, 80, maxRequests - 240} {
		if victim := begin(i, requests); victim != nil {
			t.Fatal("a connection was closed although there was room")
		}
	}
	for _, want := range []int{2, 0, 1} {
		victim := begin(4, 1)
		if victim != conns[want] {
			t.Fatalf("%v is to be closed, want connection %d", victim, want)
		}
		l.endRequest(conns[4])
		l.countRequests(conns[3], victim.requests) // the clients of the proxy take the room that becomes free
		victim.Close()
		if !closed[want] || l.requests != maxRequests {
			t.Fatalf("after connection %d is closed, %d requests are counted", want, l.requests)
		}
		l.endRequest(victim) // the victim's handlers end later
	}
	if victim := begin(4, 1); victim != conns[4] {
		t.Errorf("%v is to be closed, want the only connection that is not a trusted proxy's", victim)
	}
}

// Requests that last for long do not take the room of others, and closing their connection does not free room twice.
func TestLongLivedRequestsDoNotCount(t *testing.T) {
	var closed bool
	l := listenerWith(time.Now(), quietConn{peer: "192.0.2.1", state: http.StateActive, closed: &closed})
	var c *clientConn
	for c = range l.conns {
	}
	r := (&http.Request{ProtoMajor: 2, TLS: &tls.ConnectionState{}}).WithContext(context.WithValue(t.Context(), connKey{}, c))
	ended := make([]func(), 3*maxRequests)
	for i := range ended {
		if victim := l.beginRequest(c); victim != nil {
			t.Fatalf("with %d long-lived requests, a connection must make room", i)
		}
		ended[i] = LongLived(r)
	}
	if l.requests != 0 || l.longLived != len(ended) {
		t.Errorf("%d requests count, %d do not", l.requests, l.longLived)
	}
	ended[0]()
	if l.endRequest(c); l.requests != 0 || l.longLived != len(ended)-1 {
		t.Errorf("after the first has ended, %d requests count, %d do not", l.requests, l.longLived)
	}
	c.Close()
	for _, end := range ended[1:] {
		end()
		l.endRequest(c)
	}
	if l.requests != 0 || l.longLived != 0 || len(l.requestsOf) != 0 {
		t.Errorf("after all have ended, %d requests count, %d do not, of %v", l.requests, l.longLived, l.requestsOf)
	}
	plain := (&http.Request{ProtoMajor: 1}).WithContext(r.Context())
	if LongLived(plain)(); l.longLived != 0 {
		t.Error("an HTTP/1 request is counted")
	}
}

// What the kernel keeps counts as read, so a client that reads nothing is noticed only when the kernel keeps no more.
func TestALongLivedAnswerThatNobodyReadsSoonBlocks(t *testing.T) {
	t.Parallel()
	sent := make(chan int, 1)
	handler := func(w http.ResponseWriter, r *http.Request) {
		defer LongLived(r)()
		total := 0
		for {
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
			n, err := w.Write(make([]byte, 16<<10))
			if total += n; err != nil {
				sent <- total
				return
			}
		}
	}
	address, _ := start(t, &Server{Handler: http.HandlerFunc(handler)})
	conn := dial(t, address)
	noError(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if n := <-sent; n > 512<<10 {
		t.Errorf("the server could send %d bytes that nobody read", n)
	}
}
