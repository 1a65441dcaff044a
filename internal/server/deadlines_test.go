package server

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// The duration soon is short enough to pass during a test. The duration far never passes during a test.
const (
	soon = 20 * time.Millisecond
	far  = time.Hour
)

// deadlinePair returns both ends of a connection. The timers of the server's end run at most for horizon.
func deadlinePair(t *testing.T, horizon time.Duration) (server, client net.Conn) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	defer inner.Close()
	if client, err = net.Dial("tcp", inner.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = (deadlineListener{inner.(*net.TCPListener), horizon}).Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close(); client.Close() })
	return server, client
}

// readLater reads bytes that arrive after several timers have expired.
func readLater(t *testing.T, server, client net.Conn) {
	t.Helper()
	time.AfterFunc(5*soon, func() { client.Write([]byte("late")) })
	got := make([]byte, 4)
	if _, err := io.ReadFull(server, got); err != nil || string(got) != "late" {
		t.Errorf("read %q, %v", got, err)
	}
}

func TestADeadlineMovedLaterDoesNotExpireEarly(t *testing.T) {
	for name, later := range map[string]func() time.Time{
		"later": func() time.Time { return time.Now().Add(far) },
		"never": func() time.Time { return time.Time{} },
	} {
		t.Run(name, func(t *testing.T) {
			server, client := deadlinePair(t, soon)
			server.SetReadDeadline(time.Now().Add(soon))
			server.SetReadDeadline(later())
			readLater(t, server, client)
		})
	}
}

func TestAConnectionWithoutADeadlineNeverTimesOut(t *testing.T) {
	server, client := deadlinePair(t, soon)
	server.SetDeadline(time.Time{})
	readLater(t, server, client)
}

func TestADeadlineExpires(t *testing.T) {
	server, _ := deadlinePair(t, soon)
	for name, set := range map[string]func(){
		"within the horizon":    func() { server.SetReadDeadline(time.Now().Add(soon / 2)) },
		"beyond the horizon":    func() { server.SetReadDeadline(time.Now().Add(3 * soon)) },
		"moved to be earlier":   func() { server.SetReadDeadline(time.Now().Add(far)); server.SetReadDeadline(time.Now().Add(soon)) },
		"already past":          func() { server.SetReadDeadline(time.Unix(1, 0)) },
		"of both, in one call":  func() { server.SetDeadline(time.Now().Add(soon)) },
		"set while one expires": func() { server.SetReadDeadline(time.Now()); server.SetReadDeadline(time.Now().Add(soon)) },
	} {
		set()
		if n, err := server.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: read %d, %v", name, n, err)
		}
	}
}

// When net/http writes an answer, it interrupts a read in this way and later reads from the connection again.
func TestAPastDeadlineInterruptsAWaitingReadButNotTheNextOne(t *testing.T) {
	server, client := deadlinePair(t, far)
	server.SetReadDeadline(time.Now().Add(far))
	for range 10 {
		cut := make(chan error)
		go func() {
			_, err := server.Read(make([]byte, 1))
			cut <- err
		}()
		time.Sleep(soon) // by now the read usually waits
		server.SetReadDeadline(time.Unix(1, 0))
		if err := <-cut; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		server.SetReadDeadline(time.Time{})
	}
	readLater(t, server, client)
}

func TestALongWriteOutlastsItsTimersAndLosesNothing(t *testing.T) {
	server, client := deadlinePair(t, soon)
	sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	server.SetWriteDeadline(time.Now().Add(far))
	written := make(chan error)
	go func() {
		n, err := server.Write(sent)
		if err == nil && n != len(sent) {
			err = io.ErrShortWrite
		}
		server.Close()
		written <- err
	}()
	time.Sleep(5 * soon) // the client reads nothing, so the write waits
	got, err := io.ReadAll(client)
	if writeErr := <-written; writeErr != nil || err != nil || !bytes.Equal(got, sent) {
		t.Errorf("wrote %v, read %d bytes of %d, %v", writeErr, len(got), len(sent), err)
	}
}

func TestAWriteThatTheClientDoesNotReadTimesOut(t *testing.T) {
	server, _ := deadlinePair(t, soon)
	server.SetWriteDeadline(time.Now().Add(3 * soon))
	for {
		if _, err := server.Write(make([]byte, 1<<20)); err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error(err)
			}
			return
		}
	}
}
