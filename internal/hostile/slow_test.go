package hostile

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// drip writes a text to each connection again and again, for the duration of an attack.
func drip(conns []*net.TCPConn, text string) {
	for end := time.Now().Add(attackDuration()); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		for _, conn := range conns {
			io.WriteString(conn, text)
		}
	}
}

// checkHungUp fails the test if the server keeps a connection open although the attack has lasted longer than the server's
// timeouts.
func checkHungUp(t *testing.T, conns []*net.TCPConn) {
	t.Helper()
	if !*hard {
		return
	}
	for i, conn := range conns {
		conn.SetDeadline(time.Now().Add(waitTimeout)) // opening the connections may have taken long
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("connection %d of %d is still open", i, len(conns))
		}
	}
}

// slowHeaders sends requests whose headers never end.
func slowHeaders(t *testing.T, s *target) {
	conns := s.dialMany(t, scaled(500), func(int) string { return "GET /v1/pets HTTP/1.1\r\nHost: x\r\nX-A: " })
	drip(conns, "a")
	checkHungUp(t, conns)
}

// slowBodies announces a body, with a length or in chunks, and sends it one byte at a time.
func slowBodies(t *testing.T, s *target) {
	conns := s.dialMany(t, scaled(500), func(i int) string {
		if i%2 == 0 {
			return s.head("POST", "/v1/pets", "Content-Length: 100000")
		}
		return s.head("POST", "/v1/pets", "Transfer-Encoding: chunked")
	})
	drip(conns, "1\r\n{\r\n")
}

// slowRefusedBodies slowly sends the bodies of requests that the server refuses immediately.
func slowRefusedBodies(t *testing.T, s *target) {
	drip(s.dialMany(t, scaled(500), func(int) string { return "POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" }), " ")
}

// addLongNames adds animals with very long names, so that a page of a hundred animals has 600 kB. That is more than fits
// into the buffers of a connection that nobody reads.
func (s *target) addLongNames(t *testing.T) {
	t.Helper()
	client := s.client(false)
	defer client.CloseIdleConnections()
	long := habit{method: "POST", path: "/v1/pets", body: fmt.Sprintf(`{"name":"%s","categoryId":1}`, strings.Repeat("<", 1000))}
	for range 100 {
		if problem := long.ask(s, client); problem != "" {
			t.Fatal(problem)
		}
	}
}

const longPage = "/v1/pets?limit=100"

// unreadAnswers requests many long answers on each connection, and reads nothing.
func unreadAnswers(t *testing.T, s *target) {
	s.addLongNames(t)
	for range scaled(100) {
		conn := s.dial(t)
		conn.SetReadBuffer(4 << 10)
		io.WriteString(conn, strings.Repeat(s.head("GET", longPage), 20))
	}
	time.Sleep(attackDuration())
}

// slowReaders requests long answers, and reads a few bytes of each answer at a time.
func slowReaders(t *testing.T, s *target) {
	s.addLongNames(t)
	conns := s.dialMany(t, scaled(50), func(int) string { return s.head("GET", longPage) })
	few := make([]byte, 16)
	for end := time.Now().Add(attackDuration()); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		for _, conn := range conns {
			conn.Read(few)
		}
	}
}

// idleConnections opens connections and leaves them idle: before a request, in the middle of a request, or after a request.
func idleConnections(t *testing.T, s *target) {
	sends := []string{"", "GE", s.head("GET", "/v1/inventory"), "\r\n"}
	s.dialMany(t, scaled(1000), func(i int) string { return sends[i%len(sends)] })
	time.Sleep(attackDuration())
}

// halfClosedConnections closes the sending side of connections. It does so in the middle of a request, or after a complete
// request, and does not read the answer.
func halfClosedConnections(t *testing.T, s *target) {
	sends := []string{"", "GET /v1/pets HT", s.head("POST", "/v1/pets", "Content-Length: 100") + "{", s.head("GET", "/v1/inventory")}
	for _, conn := range s.dialMany(t, scaled(1000), func(i int) string { return sends[i%len(sends)] }) {
		conn.CloseWrite()
	}
	time.Sleep(attackDuration())
}

// brokenConnections resets connections before a request, in the middle of a request, or before the answer.
func brokenConnections(t *testing.T, s *target) {
	sends := []string{"", "GET /v1/pets HT", s.head("POST", "/v1/pets", "Content-Length: 100") + "{", s.head("GET", "/v1/inventory")}
	for i := range scaled(2000) {
		conn := s.dial(t)
		io.WriteString(conn, sends[i%len(sends)])
		conn.SetLinger(0)
		conn.Close()
	}
}
