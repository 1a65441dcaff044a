package httpapi_test

import (
	"io"
	"net"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
)

const longPage = "/v1/pets?limit=100"

// fillLong stores animals with long names. A page of a hundred has 600 kB, more than an unread connection holds.
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

// The bytes of unread answers are bounded. The client that has waited longest is cut off; a client that reads is not.
func TestUnreadAnswersBeyondTheirBudgetAreCutOffFromTheOldestOn(t *testing.T) {
	s := serve(t)
	key, other := s.key(petstore.Enterprise), s.key(petstore.Enterprise)
	s.fillLong()
	address := s.serveNarrow()
	others := s.stall(address, other, "others")
	const stalled = 120 // of 600 kB, where 64 MiB are kept
	var conns []net.Conn
	for i := range stalled {
		conns = append(conns, s.stall(address, key, "stalled-"+strconv.Itoa(i)))
		s.get(key, "/v1/pets?limit=1").is(t, 200, "")
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

// readUntil reads the rest of an answer's head and then that many bytes of its body.
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
