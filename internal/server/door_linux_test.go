package server

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
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

// There is room for one connection, and it is in use until the server stops.
func TestAServerThatStopsAnswersWhoWaitsAtTheDoor(t *testing.T) {
	t.Parallel()
	slowly := func(w http.ResponseWriter, r *http.Request) {
		readBody(w, r)
		time.Sleep(20 * time.Millisecond) // so that the next one waits for room when the queue is empty
	}
	s := &Server{Handler: http.HandlerFunc(slowly), MaxConns: 1}
	address, stop := start(t, s)
	inUse := dial(t, address)
	io.WriteString(inUse, waiting)
	if !answers(inUse, time.Minute) {
		t.Fatal("the server does not ask for the body")
	}
	var queue []net.Conn
	for range 6 {
		conn := dial(t, address)
		io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		queue = append(queue, conn)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	s.awaitDraining(t)
	inUse.Close()
	for i, conn := range queue {
		conn.SetReadDeadline(time.Now().Add(time.Minute))
		if got, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 200 OK\r\n") {
			t.Errorf("client %d got %q, %v", i+1, got, err)
		}
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
