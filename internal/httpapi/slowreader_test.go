package httpapi_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
)

const longPage = "/v1/pets?limit=100"

// fillLong stores so much that a page of a hundred animals has 600 kB, more than a connection holds that nobody reads.
func (s *service) fillLong() {
	s.Helper()
	for range 100 {
		if _, _, err := s.storage.CreatePet(s.Context(), petstore.NewPet{Name: strings.Repeat("<", 1000), CategoryID: 1, Status: petstore.Available}, nil); err != nil {
			s.Fatal(err)
		}
	}
}

// narrow gives every connection small buffers, so that an answer that is not read soon stops.
type narrow struct{ net.Listener }

func (n narrow) Accept() (net.Conn, error) {
	conn, err := n.Listener.Accept()
	if err == nil {
		err = conn.(*net.TCPConn).SetWriteBuffer(32 << 10)
	}
	return conn, err
}

// serveNarrow serves the same API on another port, with small buffers.
func (s *service) serveNarrow() (address string) {
	server := httptest.NewUnstartedServer(s.api)
	server.Listener = narrow{server.Listener}
	server.Start()
	s.Cleanup(server.CloseClientConnections)
	return server.Listener.Addr().String()
}

// stall asks for the long page, sees its answer begin, and reads no further.
func (s *service) stall(address, key, id string) net.Conn {
	s.Helper()
	conn := dial(s.T, address)
	conn.SetReadBuffer(32 << 10)
	io.WriteString(conn, request("GET", longPage, key, "X-Request-Id: "+id))
	if !readsFull(conn, make([]byte, 1)) {
		s.Fatal("the answer does not begin")
	}
	return conn
}

func TestClientsThatDoNotReadTakeNoPlaceFromOthers(t *testing.T) {
	s := serve(t, func(c *httpapi.Config) { c.MaxWorking = 4 })
	key := s.key(petstore.Enterprise)
	s.fillLong()
	address := s.serveNarrow()
	for i := range 8 {
		s.stall(address, key, "stalled-"+strconv.Itoa(i))
	}
	s.get(key, longPage).is(t, 200, "")
	s.get(s.key(petstore.Free), longPage).is(t, 200, "")
	s.post(key, `{"name":"Rex","categoryId":1}`).is(t, 201, "")
}

func TestStreamsThatAreNotReadTakeNoPlaceFromOthers(t *testing.T) {
	s := serve(t, func(c *httpapi.Config) { c.MaxWorking = 4 })
	key := s.key(petstore.Enterprise)
	s.fillLong()
	server := httptest.NewUnstartedServer(s.api)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	stalled := stallStreams(t, server.Listener.Addr().String(), key, 8)
	s.get(key, longPage).is(t, 200, "")
	s.get(s.key(petstore.Free), longPage).is(t, 200, "")
	s.post(key, `{"name":"Rex","categoryId":1}`).is(t, 201, "")
	stalled.Close()
}

// stallStreams asks for the long page on many streams of one connection, sees every answer begin, and lets none of
// them go on.
func stallStreams(t *testing.T, address, key string, streams int) net.Conn {
	t.Helper()
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	io.WriteString(conn, http2.ClientPreface)
	framer := http2.NewFramer(conn, conn)
	framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	var block bytes.Buffer
	header := hpack.NewEncoder(&block)
	for i := range streams {
		block.Reset()
		for _, field := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":authority", "x"}, {":path", longPage}, {"authorization", "Bearer " + key}} {
			header.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
		}
		if err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(2*i + 1), BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true}); err != nil {
			t.Fatal(err)
		}
	}
	for begun := 0; begun < streams; {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatalf("%d of %d answers began: %v", begun, streams, err)
		}
		switch frame := frame.(type) {
		case *http2.HeadersFrame:
			begun++
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				framer.WriteSettingsAck()
			}
		}
	}
	return conn
}

// An owner's unread answers are bounded in bytes. Who has waited longest is cut off; who reads is not.
func TestUnreadAnswersBeyondTheirShareAreCutOffFromTheOldestOn(t *testing.T) {
	s := serve(t)
	key, other := s.key(petstore.Enterprise), s.key(petstore.Enterprise)
	s.fillLong()
	address := s.serveNarrow()
	others := s.stall(address, other, "others")
	const stalled = 20
	var conns []net.Conn
	for i := range stalled {
		conns = append(conns, s.stall(address, key, "stalled-"+strconv.Itoa(i)))
		s.get(key, longPage).is(t, 200, "")
	}
	page := len(s.get(key, longPage).body)
	whole := 0
	for i, conn := range conns {
		rest, err := io.ReadAll(readUntil(conn, page))
		if err == nil && len(rest) == page {
			whole++
		} else if whole > 0 {
			t.Errorf("answer %d is cut off, though one that waited longer is not", i)
		}
	}
	if whole == 0 || whole == stalled {
		t.Errorf("of %d unread answers %d are whole", stalled, whole)
	}
	if line := s.journal.of("stalled-0"); !strings.Contains(line, `"cut":true`) {
		t.Errorf("the log does not tell that an answer was cut off: %s", line)
	}
	if rest, err := io.ReadAll(readUntil(others, page)); err != nil || len(rest) != page {
		t.Errorf("another owner's answer is cut off after %d bytes: %v", len(rest), err)
	}
}

// readUntil reads the rest of an answer's head and then as much of its body as that.
func readUntil(conn net.Conn, body int) io.Reader {
	for tail := ""; !strings.HasSuffix(tail, "\r\n\r\n"); {
		b := make([]byte, 1)
		if !readsFull(conn, b) {
			break
		}
		tail += string(b)
	}
	return io.LimitReader(conn, int64(body))
}
