package hostile

import (
	"io"
	"net"
	"testing"
	"time"
)

// drip writes a byte to each connection over and over, until it has done so for the time an attack lasts.
func drip(conns []*net.TCPConn, b string) {
	for end := time.Now().Add(hold()); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		for _, conn := range conns {
			io.WriteString(conn, b)
		}
	}
}

// slowHeaders never ends the head of its requests.
func slowHeaders(t *testing.T, s *target) {
	drip(s.crowd(t, scaled(500), func(int) string { return "GET /v1/pets HTTP/1.1\r\nHost: x\r\nX-A: " }), "a")
}
