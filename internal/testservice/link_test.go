package testservice

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// echo starts a server that sends back whatever it receives.
func echo(t *testing.T) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				io.Copy(conn, conn)
			}()
		}
	}()
	return listener.Addr().String()
}

func TestALinkHasEachFaultUntilItIsMended(t *testing.T) {
	t.Parallel()
	l := StartLink(t, echo(t))
	dial := func() (net.Conn, *bufio.Reader) {
		conn, err := net.Dial("tcp", l.Address)
		noError(t, err)
		t.Cleanup(func() { conn.Close() })
		return conn, bufio.NewReader(conn)
	}
	answers := func(conn net.Conn, from *bufio.Reader) {
		t.Helper()
		conn.SetReadDeadline(time.Now().Add(serviceTimeout))
		conn.Write([]byte("hello\n"))
		if line, err := from.ReadString('\n'); line != "hello\n" {
			t.Errorf("a whole link passes %q: %v", line, err)
		}
	}
	conn, from := dial()
	answers(conn, from)

	l.Silence()
	conn.Write([]byte("wait\n"))
	conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if line, err := from.ReadString('\n'); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a silent link passes %q: %v", line, err)
	}
	l.Mend()
	conn.SetReadDeadline(time.Now().Add(serviceTimeout))
	if line, err := from.ReadString('\n'); line != "wait\n" {
		t.Errorf("a mended link passes on %q of what it held: %v", line, err)
	}

	l.Delay(20 * time.Millisecond)
	began := time.Now()
	answers(conn, from)
	if took := time.Since(began); took < 40*time.Millisecond {
		t.Errorf("the round trip over a slow link takes only %v", took)
	}

	l.Halve()
	conn.Write([]byte("half"))
	if got, err := io.ReadAll(from); string(got) == "half" {
		t.Errorf("a link that halves passes %q: %v", got, err)
	}

	l.Mend()
	conn, from = dial()
	answers(conn, from)
	l.Cut()
	if _, err := from.ReadByte(); err == nil {
		t.Error("a link that was cut passes something")
	}
	if conn, err := net.Dial("tcp", l.Address); err == nil {
		conn.SetReadDeadline(time.Now().Add(serviceTimeout))
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a new connection over a link that was cut: %v", err)
		}
	}
	l.Mend()
	answers(dial())
}
