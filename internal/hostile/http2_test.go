package hostile

import (
	"bytes"
	"crypto/tls"
	"io"
	"math"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// h2 is an HTTP/2 connection on which a test can send any frame.
type h2 struct {
	*http2.Framer
	conn    *tls.Conn
	encoder *hpack.Encoder
	block   bytes.Buffer
	stream  uint32 // the number of the next stream
}

// dialH2 opens an HTTP/2 connection with the given settings.
func (s *target) dialH2(t *testing.T, settings ...http2.Setting) *h2 {
	t.Helper()
	config := s.tls.Clone()
	config.ServerName, config.NextProtos = "127.0.0.1", []string{"h2"}
	conn := tls.Client(s.dial(t), config)
	if err := conn.Handshake(); err != nil {
		t.Fatal(err)
	}
	io.WriteString(conn, http2.ClientPreface)
	c := &h2{Framer: http2.NewFramer(conn, conn), conn: conn, stream: 1}
	c.encoder = hpack.NewEncoder(&c.block)
	c.WriteSettings(settings...)
	return c
}

// headers encodes the headers of a request.
func (c *h2) headers(method, path string, more ...hpack.HeaderField) []byte {
	c.block.Reset()
	for _, f := range append([]hpack.HeaderField{
		{Name: ":method", Value: method}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: "x"},
		{Name: ":path", Value: path}, {Name: "authorization", Value: "Bearer " + key},
	}, more...) {
		c.encoder.WriteField(f)
	}
	return c.block.Bytes()
}

// ask opens a stream and sends the head of a request. The argument end says whether the request ends there, without a body.
func (c *h2) ask(method, path string, end bool) (stream uint32, err error) {
	stream = c.stream
	c.stream += 2
	return stream, c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: c.headers(method, path), EndStream: end, EndHeaders: true})
}

// awaitAnswers reads until n answers have begun or been cut off, or until the server hangs up.
func (c *h2) awaitAnswers(n int) {
	for n > 0 {
		frame, err := c.ReadFrame()
		if err != nil {
			return
		}
		switch frame.(type) {
		case *http2.RSTStreamFrame, *http2.HeadersFrame:
			n--
		}
	}
}

// maxStreams is how many HTTP/2 requests the server keeps open, over all connections.
const maxStreams = 4096

// streams opens the given number of connections. On each connection it opens as many streams as the server allows. All
// streams have the same request.
func (s *target) streams(t *testing.T, conns int, method, path string, settings ...http2.Setting) (opened []*h2) {
	t.Helper()
	for range conns {
		c := s.dialH2(t, settings...)
		for range 100 {
			if _, err := c.ask(method, path, method == "GET"); err != nil {
				break // the server has hung up
			}
		}
		opened = append(opened, c)
	}
	return opened
}

// streamsWithoutRoom requests short answers, but leaves the server no flow-control window to send them.
func streamsWithoutRoom(t *testing.T, s *target) {
	opened := s.streams(t, scaled(50), "GET", "/v1/pets?limit=5", http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	for _, c := range opened {
		c.awaitAnswers(100)
	}
	s.checkStreams(t, len(opened))
	time.Sleep(attackDuration())
}

// checkStreams fails the test if too many streams are open. It estimates the number of streams from the number of
// goroutines: the server has one goroutine for each stream and three for each connection.
func (s *target) checkStreams(t *testing.T, conns int) {
	t.Helper()
	text, err := s.adminGet("/metrics")
	if n := metric(text, "go_goroutines"); err != nil || n > int64(maxStreams+3*conns+100) {
		t.Errorf("there are %d goroutines for %d connections, more than for %d streams: %v", n, conns, maxStreams, err)
	}
}

// streamsWithLittleRoom reads long answers slowly: it lets the server send one byte at a time.
func streamsWithLittleRoom(t *testing.T, s *target) {
	s.addLongNames(t)
	opened := s.streams(t, scaled(2), "GET", longPage, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1})
	for end := time.Now().Add(attackDuration()); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		for _, c := range opened {
			for stream := uint32(1); stream < c.stream; stream += 2 {
				c.WriteWindowUpdate(stream, 1)
			}
		}
	}
}

// unreadStreams requests long answers with the largest flow-control window, and reads no answer.
func unreadStreams(t *testing.T, s *target) {
	s.addLongNames(t)
	for _, c := range s.streams(t, scaled(10), "GET", longPage, http2.Setting{ID: http2.SettingInitialWindowSize, Val: math.MaxInt32}) {
		c.WriteWindowUpdate(0, math.MaxInt32-65535)
	}
	time.Sleep(attackDuration())
}

// slowStreams sends bodies one byte at a time.
func slowStreams(t *testing.T, s *target) {
	opened := s.streams(t, scaled(10), "POST", "/v1/pets")
	for end := time.Now().Add(attackDuration()); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		for _, c := range opened {
			for stream := uint32(1); stream < c.stream; stream += 2 {
				c.WriteData(stream, false, []byte(" "))
			}
		}
	}
	s.checkStreams(t, len(opened))
}

// idleSecureConnections opens HTTP/2 connections. It uses every second connection once, and the others never.
func idleSecureConnections(t *testing.T, s *target) {
	for i := range scaled(100) {
		if c := s.dialH2(t); i%2 == 0 {
			c.ask("GET", "/v1/inventory", true)
			c.awaitAnswers(1)
		}
	}
	time.Sleep(attackDuration())
}
