package testservice

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

// Proxy is a proxy between a server and its clients. It can lose the answer to a request.
type Proxy struct {
	// Address is the host and port to use instead of the server's.
	Address string

	server string
	mu     sync.Mutex
	loss   *loss
	conns  []net.Conn
}

// loss makes the proxy lose the answer to the first request that contains certain bytes.
type loss struct {
	sent     []byte
	broken   bool // whether the connection breaks too
	answered chan struct{}
}

// StartProxy starts a proxy to the server at that address.
func StartProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	p := &Proxy{server: server}
	p.Address = accept(t, p.join, p.close)
	return p
}

// Silence makes the proxy pass on the next request that contains these bytes, but nothing that the server sends on that
// connection afterwards. It closes the channel when the server has answered.
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
			if l := p.takeLoss(b); l != nil {
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
			return lost.lose()
		})
	})
	both.Wait()
}

// takeLoss returns the loss if these bytes trigger it, and removes it.
func (p *Proxy) takeLoss(b []byte) *loss {
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

// lose returns why bytes of the server are lost, or nil if they are not.
func (l *loss) lose() error {
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

// forward passes on bytes until either end is closed or inspect returns errBroken. It drops the bytes for which inspect
// returns errSwallowed.
func forward(to io.Writer, from io.Reader, inspect func([]byte) error) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		switch inspect(b[:n]) {
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
