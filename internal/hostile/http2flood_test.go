package hostile

import (
	"encoding/binary"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// eachH2 runs the attack on the given number of connections at the same time. On each connection, the attack ends when it
// is complete or when the server hangs up. If listens is true, eachH2 reads what the server sends, so that the server can
// continue.
func (s *target) eachH2(t *testing.T, conns int, listens bool, attack func(c *h2) error) {
	t.Helper()
	var attackers sync.WaitGroup
	for range conns {
		c := s.dialH2(t)
		if listens {
			go io.Copy(io.Discard, c.conn)
		}
		attackers.Go(func() { attack(c) }) // an error means that the server hung up
	}
	attackers.Wait()
}

// repeat calls do n times, or until do fails.
func repeat(n int, do func() error) (err error) {
	for range n {
		if err = do(); err != nil {
			return err
		}
	}
	return nil
}

// rapidResets sends requests, and resets each request immediately.
func rapidResets(t *testing.T, s *target) {
	s.eachH2(t, scaled(10), true, func(c *h2) error {
		return repeat(2000, func() error {
			stream, err := c.ask("GET", longPage, true)
			if err != nil {
				return err
			}
			return c.WriteRSTStream(stream, http2.ErrCodeCancel)
		})
	})
}

// serverResets sends requests with an error that makes the server reset the stream.
func serverResets(t *testing.T, s *target) {
	zero := make([]byte, 4)
	s.eachH2(t, scaled(10), true, func(c *h2) error {
		return repeat(2000, func() error {
			stream, err := c.ask("POST", "/v1/pets", false)
			if err != nil {
				return err
			}
			return c.WriteRawFrame(http2.FrameWindowUpdate, 0, stream, zero)
		})
	})
}

// continuationFlood sends headers that never end, in continuation frames with or without content.
func continuationFlood(t *testing.T, s *target) {
	for _, piece := range [][]byte{nil, []byte(strings.Repeat("\x00\x01a\x01b", 2000))} {
		s.eachH2(t, scaled(5), true, func(c *h2) error {
			if err := c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.headers("GET", "/healthz"), EndStream: true}); err != nil {
				return err
			}
			return repeat(2000, func() error { return c.WriteContinuation(1, false, piece) })
		})
	}
}

// headerBombs sends a few bytes that the server expands to many: references to the same long header in the compression
// table.
func headerBombs(t *testing.T, s *target) {
	long := hpack.HeaderField{Name: "x-long", Value: strings.Repeat("a", 3000)}
	s.eachH2(t, scaled(10), true, func(c *h2) error {
		c.headers("GET", "/healthz", long) // puts the long header into the compression table
		stream := c.stream
		c.stream += 2
		if err := c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: c.block.Bytes(), EndStream: true, EndHeaders: true}); err != nil {
			return err
		}
		reference := c.headers("GET", "/healthz", long)
		bomb := append([]byte(nil), reference...)
		for len(bomb) < 16<<10 {
			bomb = append(bomb, reference[len(reference)-1])
		}
		return repeat(50, func() error {
			stream := c.stream
			c.stream += 2
			return c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: bomb, EndStream: true, EndHeaders: true})
		})
	})
	s.eachH2(t, scaled(5), true, func(c *h2) error { // makes the compression table alternately large and small
		return repeat(200, func() error {
			sizes := strings.Repeat("\x3f\xe1\x1f\x20", 1000)
			stream := c.stream
			c.stream += 2
			return c.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte(sizes), EndStream: true, EndHeaders: true})
		})
	})
}

// controlFloods floods the server with each kind of control frame, once with and once without reading the answers.
func controlFloods(t *testing.T, s *target) {
	for _, frame := range []func(c *h2) error{
		func(c *h2) error { return c.WritePing(false, [8]byte{}) },
		func(c *h2) error { return c.WriteSettings() },
		func(c *h2) error {
			return c.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: uint32(time.Now().UnixNano() & 0xffff)})
		},
		func(c *h2) error { return c.WriteWindowUpdate(0, 1) },
		func(c *h2) error { return c.WritePriority(c.stream, http2.PriorityParam{StreamDep: 0, Weight: 1}) },
		func(c *h2) error { return c.WriteRawFrame(0xee, 0, 0, []byte("unknown")) },
	} {
		for _, listens := range []bool{false, true} {
			s.eachH2(t, scaled(1), listens, func(c *h2) error {
				return repeat(15_000, func() error { return frame(c) })
			})
		}
	}
	s.eachH2(t, scaled(2), true, func(c *h2) error { // empty data frames
		stream, err := c.ask("POST", "/v1/pets", false)
		if err != nil {
			return err
		}
		return repeat(15_000, func() error { return c.WriteData(stream, false, nil) })
	})
}

// wrongFrames breaks a different rule of HTTP/2 on each connection.
func wrongFrames(t *testing.T, s *target) {
	overflow := binary.BigEndian.AppendUint32(nil, 1<<31-1)
	for _, wrong := range []func(c *h2) error{
		func(c *h2) error { return c.WriteRawFrame(http2.FrameData, 0, 0, []byte("on no stream")) },
		func(c *h2) error { return c.WriteRawFrame(http2.FrameData, 0, 99, []byte("on an idle stream")) },
		func(c *h2) error { return c.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 2, nil) },
		func(c *h2) error { return c.WriteRawFrame(http2.FrameHeaders, 0xff, 1, []byte{255, 0}) },
		func(c *h2) error { return c.WriteRawFrame(http2.FrameSettings, 0, 0, []byte("12345")) },
		func(c *h2) error { return c.WriteRawFrame(http2.FramePing, 0, 0, []byte("short")) },
		func(c *h2) error { return c.WriteRawFrame(http2.FrameContinuation, 0, 1, nil) },
		func(c *h2) error { return c.WriteRawFrame(http2.FramePushPromise, 0, 1, []byte("\x00\x00\x00\x02")) },
		func(c *h2) error { return c.WriteRawFrame(http2.FrameWindowUpdate, 0, 0, overflow) },
		func(c *h2) error {
			return c.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, []byte(noise(1000)))
		},
		func(c *h2) error {
			_, err := io.WriteString(c.conn, "\xff\xff\xff\x00\x00\x00\x00\x00\x01")
			return err
		},
		func(c *h2) error { _, err := io.WriteString(c.conn, noise(64<<10)); return err },
		func(c *h2) error { _, err := io.WriteString(c.conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); return err },
		func(c *h2) error {
			block := c.headers("GET", "/healthz", hpack.HeaderField{Name: "transfer-encoding", Value: "chunked"}, hpack.HeaderField{Name: "Upper", Value: "x"})
			return c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndStream: true, EndHeaders: true})
		},
		func(c *h2) error {
			block := c.headers("GET", "/healthz", hpack.HeaderField{Name: ":path", Value: "/smuggled"}, hpack.HeaderField{Name: "x", Value: "a\r\nb: c"})
			return c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block, EndStream: true, EndHeaders: true})
		},
	} {
		s.eachH2(t, scaled(2), true, wrong)
	}
}
