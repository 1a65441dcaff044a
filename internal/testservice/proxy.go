package testservice

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

// Proxy stands between a server and its clients, and can lose the answer to a request.
type Proxy struct {
	// Address is the host and port to use instead of the server's.
	Address string

	server string
	mu     sync.Mutex
	loss   *loss
	conns  []net.Conn
}

// loss is what the proxy does to the first connection on which a client sends these bytes.
type loss struct {
	sent     []byte
	broken   bool
	answered chan struct{}
}

// StartProxy starts a proxy to the server at that address.
func StartProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	p := &Proxy{server: server}
	p.Address = accept(t, p.join, p.close)
	return p
}

// Silence passes on the next request that contains these bytes. From then on it passes on nothing that the server sends on
// that connection. It closes the channel when the server has answered.
func (p *Proxy) Silence(sent string) (answered <-chan struct{}) { return p.lose(sent, false) }

// Break is like Silence, and also closes the connection when the server answers.
func (p *Proxy) Break(sent string) (answered <-chan struct{}) { return p.lose(sent, true) }

func (p *Proxy) lose(sent string, broken bool) <-chan struct{} {
	l := &loss{[]byte(sent), broken, make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loss = l
	return l.answered
}

func (p *Proxy) join(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	p.mu.Lock()
	p.conns = append(p.conns, client, server)
	p.mu.Unlock()

	var mu sync.Mutex
	var lost *loss // set before the server has the request
	var both sync.WaitGroup
	both.Go(func() {
		defer server.Close()
		forward(server, client, func(b []byte) error {
			if l := p.met(b); l != nil {
				mu.Lock()
				lost = l
				mu.Unlock()
			}
			return nil
		})
	})
	both.Go(func() {
		defer client.Close()
		forward(client, server, func([]byte) error {
			mu.Lock()
			defer mu.Unlock()
			return lost.happens()
		})
	})
	both.Wait()
}

// met returns the loss if these bytes trigger it, and removes it.
func (p *Proxy) met(b []byte) *loss {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.loss
	if l == nil || !bytes.Contains(b, l.sent) {
		return nil
	}
	p.loss = nil
	return l
}

var (
	errSwallowed = errors.New("the answer is lost")
	errBroken    = errors.New("the connection breaks")
)

func (l *loss) happens() error {
	if l == nil {
		return nil
	}
	select {
	case <-l.answered:
	default:
		close(l.answered)
	}
	if l.broken {
		return errBroken
	}
	return errSwallowed
}

// forward passes bytes on until either end is closed or look returns an error.
func forward(to io.Writer, from io.Reader, look func([]byte) error) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		switch look(b[:n]) {
		case nil:
			_, lost := to.Write(b[:n])
			err = errors.Join(err, lost)
		case errBroken:
			return
		}
		if err != nil {
			return
		}
	}
}

func (p *Proxy) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.conns {
		conn.Close()
	}
}
