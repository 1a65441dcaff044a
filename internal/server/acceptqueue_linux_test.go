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

// watchedListener is a listener that calls the function closing just before it closes.
type watchedListener struct {
	*net.TCPListener
	closing func()
}

func (d watchedListener) SyscallConn() (syscall.RawConn, error) {
	defer d.closing()
	return d.TCPListener.SyscallConn()
}

func (d watchedListener) Close() error {
	defer d.closing()
	return d.TCPListener.Close()
}

// When a listener closes, the system drops the connections that are still in its queue.
func TestShutdownAcceptsQueuedConnections(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	const queued = 20
	closing := make(chan struct{})
	l := newClients(watchedListener{inner.(*net.TCPListener), sync.OnceFunc(func() { close(closing) })}, queued, nil, nil)
	for range queued {
		conn, err := net.Dial("tcp", inner.Addr().String())
		noError(t, err)
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
	if accepted != queued {
		t.Errorf("of %d queued clients %d were accepted", queued, accepted)
	}
}

// The server has room for one connection, which is in use until the server stops.
func TestShutdownAnswersQueuedConnections(t *testing.T) {
	t.Parallel()
	slowly := func(w http.ResponseWriter, r *http.Request) {
		readBody(w, r)
		time.Sleep(20 * time.Millisecond) // makes sure that the last client still waits for room when the queue is empty
	}
	s := &Server{Handler: http.HandlerFunc(slowly), MaxConns: 1}
	address, stop := start(t, s)
	inUse := dial(t, address)
	io.WriteString(inUse, unfinishedRequest)
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
