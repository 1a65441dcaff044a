package hostile

import (
	"bytes"
	"crypto/tls"
	"io"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// h2 is an HTTP/2 connection whose client sends what it likes.
type h2 struct {
	*http2.Framer
	conn    *tls.Conn
	encoder *hpack.Encoder
	block   bytes.Buffer
	stream  uint32 // the next one
}

// dialH2 opens an HTTP/2 connection with these settings.
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

// headers is the block of a request's head.
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

// ask begins a stream with a request.
func (c *h2) ask(method, path string, end bool) (stream uint32, err error) {
	stream = c.stream
	c.stream += 2
	return stream, c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: c.headers(method, path), EndStream: end, EndHeaders: true})
}

// begun reads until so many answers have begun or were cut off, or the server hangs up.
func (c *h2) begun(n int) {
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

// mostStreams is how many HTTP/2 requests the server keeps open, of all connections together.
const mostStreams = 4096

// streamsWithoutRoom asks on as many streams as it may and gives the answers no room.
func streamsWithoutRoom(t *testing.T, s *target) {
	conns := scaled(50)
	for range conns {
		c := s.dialH2(t, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
		for range 100 {
			if _, err := c.ask("GET", "/v1/pets?limit=5", true); err != nil {
				break
			}
		}
		c.begun(100)
	}
	s.checkStreams(t, conns)
	time.Sleep(hold())
}

// checkStreams finds more open streams than there may be by their goroutines: one each, and three for a connection.
func (s *target) checkStreams(t *testing.T, conns int) {
	t.Helper()
	text, err := s.look("/metrics")
	if n := metric(text, "go_goroutines"); err != nil || n > int64(mostStreams+3*conns+100) {
		t.Errorf("there are %d goroutines for %d connections, more than for %d streams: %v", n, conns, mostStreams, err)
	}
}
