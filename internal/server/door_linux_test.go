package server

import (
	"net"
	"sync"
	"syscall"
	"testing"
)

// door is a listener that says when it is about to be closed.
type door struct {
	*net.TCPListener
	closing func()
}

func (d door) SyscallConn() (syscall.RawConn, error) {
	defer d.closing()
	return d.TCPListener.SyscallConn()
}

func (d door) Close() error {
	defer d.closing()
	return d.TCPListener.Close()
}

// When a listener closes, the system breaks off the connections that still wait there.
func TestAStopLetsInWhoWaitsAtTheDoor(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const waiting = 20
	closing := make(chan struct{})
	l := newClients(door{inner.(*net.TCPListener), sync.OnceFunc(func() { close(closing) })}, waiting, nil, nil)
	for range waiting {
		conn, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	go l.stop(t.Context())
	<-closing
	accepted := 0
	for ; ; accepted++ {
		conn, err := l.Accept()
		if err != nil {
			break
		}
		defer conn.Close()
	}
	if accepted != waiting {
		t.Errorf("of %d clients that waited %d were let in", waiting, accepted)
	}
}
