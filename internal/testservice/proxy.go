package testservice

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
)

// Proxy is a proxy between a server and its clients. A test can make the proxy lose the answer to a request.
type Proxy struct {
	// Address is the host and port that clients use instead of the server's address.
	Address string

	server string
	mu     sync.Mutex
	loss   *loss
	conns  []net.Conn
}

// loss makes the proxy lose the answer to the first request that contains the bytes in the field sent.
type loss struct {
	sent     []byte
	broken   bool // whether the proxy also closes the connection
	answered chan struct{}
}

// StartProxy starts a proxy to the server at the given address.
func StartProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	p := &Proxy{server: server}
	p.Address = accept(t, p.join, p.close)
	return p
}

// Silence makes the proxy lose the answer to the next request that contains the given text. The request reaches the server,
// but nothing that the server then sends on that connection reaches the client. The proxy closes the returned channel when
// the server has answered.
func (p *Proxy) Silence(sent string) (answered <-chan struct{}) { return p.lose(sent, false) }

// Break is like Silence, but the proxy also closes the connection when the server answers.
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
	var lost *loss // the loss is set before the request reaches the server
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

// takeLoss returns and removes the loss if the bytes in b trigger it. Otherwise takeLoss returns nil.
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

// lose returns an error that says why the proxy drops bytes from the server, or nil if the proxy forwards the bytes.
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

// forward copies bytes until either end is closed or inspect returns errBroken. It drops the bytes for which inspect
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
