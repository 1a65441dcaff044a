package testservice

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// NotHTTP lists requests that net/http refuses by itself, and the status of each refusal.
var NotHTTP = []struct {
	Name, Sends string
	Status      int
}{
	{"a path that is wrongly encoded", "GET /v1/pets/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400},
	{"something else", "HELO example.com\r\n\r\n", 400},
	{"no host", "GET /v1/pets HTTP/1.1\r\n\r\n", 400},
	{"two hosts", "GET /v1/pets HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400},
	{"a control character in a header", "GET /v1/pets HTTP/1.1\r\nHost: x\r\nX-A: \x01\r\n\r\n", 400},
	{"an unknown expectation", "GET /v1/pets HTTP/1.1\r\nHost: x\r\nExpect: foo\r\n\r\n", 417},
	{"an unknown expectation over HTTP/1.0", "GET /v1/pets HTTP/1.0\r\nHost: x\r\nExpect: foo\r\n\r\n", 417},
	{"headers without end", "GET /v1/pets HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("a", 1_200_000) + "\r\n\r\n", 431},
	{"an unknown transfer coding", "POST /v1/pets HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
	{"an unknown version", "GET /v1/pets HTTP/3.0\r\nHost: x\r\n\r\n", 505},
}

// SendRaw sends as much of text as the server accepts. It returns everything that the server sends before it hangs up.
func SendRaw(t testing.TB, address, text string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	noError(t, err)
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Minute))
	go io.WriteString(conn, text)
	got, err := io.ReadAll(conn)
	if err != nil && len(got) == 0 {
		t.Fatal(err)
	}
	return string(got)
}
