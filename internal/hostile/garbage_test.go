package hostile

import (
	"bytes"
	"crypto/tls"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// noise returns n pseudorandom bytes, which are the same in every run.
func noise(n int) string {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(b)
	return string(b)
}

// hello returns the first message of a TLS handshake.
func hello() string {
	client, server := net.Pipe()
	go tls.Client(client, &tls.Config{ServerName: "127.0.0.1", NextProtos: []string{"h2"}}).Handshake()
	defer client.Close()
	b := make([]byte, 4096)
	n, _ := server.Read(b)
	return string(b[:n])
}

// garbage sends bytes that are not HTTP/1 to a port that speaks HTTP/1.
func garbage(t *testing.T, s *target) {
	for name, text := range map[string]string{
		"noise":                    noise(64 << 10),
		"null characters":          strings.Repeat("\x00", 64<<10),
		"line feeds":               strings.Repeat("\n", 64<<10),
		"a TLS hello":              hello(),
		"HTTP/0.9":                 "GET /v1/pets\r\n\r\n",
		"HTTP/0.9 with a version":  "GET /v1/pets HTTP/0.9\r\n\r\n",
		"HTTP/1.2":                 "GET /v1/pets HTTP/1.2\r\n\r\n",
		"HTTP/2 without TLS":       http2.ClientPreface + "\x00\x00\x00\x04\x00\x00\x00\x00\x00",
		"an upgrade to HTTP/2":     "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
		"another protocol":         "EHLO example.com\r\nMAIL FROM:<x@example.com>\r\n",
		"a proxy's greeting":       "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n\r\n",
		"CONNECT":                  "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nConnection: close\r\n\r\n",
		"TRACE":                    "TRACE / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		"a method nobody has":      "OPEN-SESAME / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		"a path that is an origin": "GET http://example.com/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
	} {
		s.expect(t, name, text+"\r\n\r\n", scaled(8), want{200, 400, 404, 405, 505})
	}
	preface := http2.ClientPreface
	halves := s.dialMany(t, scaled(100), func(i int) string { return preface[:1+i%(len(preface)/2)] })
	time.Sleep(attackDuration())
	checkHungUp(t, halves)
}

// secureGarbage sends bytes that are not TLS, and handshakes that fail or stall, to a port that speaks TLS.
func secureGarbage(t *testing.T, s *target) {
	s.expect(t, "HTTP", s.head("GET", "/v1/pets"), scaled(8), want{400})
	first := hello()
	broken := []byte(first)
	for i := range broken[60:] {
		broken[60+i] ^= byte(i)
	}
	for name, text := range map[string]string{
		"noise":             noise(64 << 10),
		"a broken hello":    string(broken),
		"a hello twice":     first + first,
		"an alert":          "\x15\x03\x01\x00\x02\x02\x28",
		"an empty record":   strings.Repeat("\x16\x03\x01\x00\x00", 10_000),
		"a record too long": "\x16\x03\x01\xff\xff" + strings.Repeat("a", 1<<16),
		"HTTP/2":            http2.ClientPreface,
	} {
		for range scaled(5) {
			conn := s.dial(t)
			go io.WriteString(conn, text)
			conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
			if got, _ := io.ReadAll(conn); bytes.Contains(got, []byte("HTTP/1.1 2")) {
				t.Errorf("%s is answered %.100q", name, got)
			}
			conn.Close()
		}
	}
	halves := s.dialMany(t, scaled(200), func(i int) string { return first[:1+i%(len(first)-1)] })
	time.Sleep(attackDuration())
	checkHungUp(t, halves)
}
