package testservice

import (
	"net"
	"sync"
	"testing"
	"time"
)

// Link is the network between a server and its clients. A test can make the link fail like a real network. Mend ends the
// fault.
type Link struct {
	// Address is the host and port that clients use instead of the server's address.
	Address string

	mu     sync.Mutex
	server string
	fault  linkFault
	delay  time.Duration
	mended chan struct{} // closed when the fault changes
	conns  map[net.Conn]bool
}

type linkFault int

const (
	whole linkFault = iota
	slow
	cut
	halving
	silent
)

// StartLink starts a link to the server at the given address.
func StartLink(t testing.TB, server string) *Link {
	t.Helper()
	l := &Link{server: server, mended: make(chan struct{}), conns: make(map[net.Conn]bool)}
	l.Address = accept(t, l.join, func() { l.set(cut, 0) })
	return l
}

// accept listens on a new address and calls the function join with every connection. When the test ends, accept calls stop
// and waits until every join has returned. The function stop must make every join return.
func accept(t testing.TB, join func(net.Conn), stop func()) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { join(client) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		stop()
		all.Wait()
	})
	return listener.Addr().String()
}

// Server returns the address that new connections lead to.
func (l *Link) Server() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.server
}

// To makes new connections lead to another server.
func (l *Link) To(server string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.server = server
}

// Delay delays everything that is sent, in either direction, by d.
func (l *Link) Delay(d time.Duration) { l.set(slow, d) }

// Cut resets all connections. It also resets each new connection as soon as somebody makes it.
func (l *Link) Cut() { l.set(cut, 0) }

// Halve makes each connection pass on half of the next message, and then end.
func (l *Link) Halve() { l.set(halving, 0) }

// Silence lets nothing through. As with TCP, bytes that were sent during the silence arrive after Mend.
func (l *Link) Silence() { l.set(silent, 0) }

// Mend ends the fault of the link.
func (l *Link) Mend() { l.set(whole, 0) }

func (l *Link) set(fault linkFault, delay time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.mended) // wakes the goroutines that wait in the method await
	l.fault, l.delay, l.mended = fault, delay, make(chan struct{})
	if fault == cut {
		for conn := range l.conns {
			resetConn(conn)
		}
	}
}

// resetConn ends a connection abruptly, as a failing network does.
func resetConn(conn net.Conn) {
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

func (l *Link) join(client net.Conn) {
	defer client.Close()
	l.mu.Lock()
	address := l.server
	l.mu.Unlock()
	server, err := net.Dial("tcp", address)
	if err != nil {
		resetConn(client)
		return
	}
	defer server.Close()
	if !l.enter(client, server) {
		return
	}
	defer l.leave(client, server)
	var both sync.WaitGroup
	both.Go(func() { l.pass(server, client) })
	both.Go(func() { l.pass(client, server) })
	both.Wait()
}

// enter registers both ends of a connection, so that Cut can reset them. If the link is already cut, enter resets both ends
// and returns false.
func (l *Link) enter(ends ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, end := range ends {
		if l.fault == cut {
			resetConn(end)
			continue
		}
		l.conns[end] = true
	}
	return l.fault != cut
}

func (l *Link) leave(ends ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, end := range ends {
		delete(l.conns, end)
	}
}

// pass forwards the bytes that one end sends to the other end, until either end is closed.
func (l *Link) pass(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			if l.await() == halving {
				to.Write(b[:n/2])
				return
			}
			if _, lost := to.Write(b[:n]); lost != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// await waits until the link may send something, and returns the fault of the link at that moment.
func (l *Link) await() linkFault {
	for {
		l.mu.Lock()
		fault, delay, mended := l.fault, l.delay, l.mended
		l.mu.Unlock()
		switch fault {
		case silent:
			<-mended
		case slow:
			select {
			case <-mended:
			case <-time.After(delay):
			}
			return fault
		default:
			return fault
		}
	}
}
