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

// addLongNames stores a hundred animals with long names. A page with all of them has 600 kB, more than a connection can
// buffer while its client does not read.
func (s *service) addLongNames() {
	s.Helper()
	for range 100 {
		if _, _, err := s.storage.CreatePet(s.Context(), petstore.NewPet{Name: strings.Repeat("<", 1000), CategoryID: 1, Status: petstore.Available}, nil); err != nil {
			s.Fatal(err)
		}
	}
}

// smallBuffers is a listener whose connections have small buffers, so that an unread answer blocks soon.
type smallBuffers struct{ net.Listener }

func (n smallBuffers) Accept() (net.Conn, error) {
	conn, err := n.Listener.Accept()
	if err == nil {
		err = conn.(*net.TCPConn).SetWriteBuffer(32 << 10)
	}
	return conn, err
}

// serveSmallBuffers serves the same API on another port, with small buffers.
func (s *service) serveSmallBuffers() (address string) {
	server := httptest.NewUnstartedServer(s.api)
	server.Listener = smallBuffers{server.Listener}
	server.Start()
	s.Cleanup(server.CloseClientConnections)
	return server.Listener.Addr().String()
}

// stall requests the long page, waits for the first byte of the answer, and reads no further.
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

func TestUnreadAnswersTakeNoSlots(t *testing.T) {
	s := serve(t, func(c *httpapi.Config) { c.MaxWorking = 4 })
	key := s.key(petstore.Enterprise)
	s.addLongNames()
	address := s.serveSmallBuffers()
	for i := range 8 {
		s.stall(address, key, "stalled-"+strconv.Itoa(i))
	}
	s.get(key, longPage).is(t, 200, "")
	s.get(s.key(petstore.Free), longPage).is(t, 200, "")
	s.post(key, `{"name":"Rex","categoryId":1}`).is(t, 201, "")
}

// When unread answers exceed their budget, the API cuts off the oldest answers. A client that reads its answer gets the
// whole answer.
func TestUnreadAnswersBeyondTheBudgetAreCutOffOldestFirst(t *testing.T) {
	s := serve(t)
	key, other := s.key(petstore.Enterprise), s.key(petstore.Enterprise)
	s.addLongNames()
	address := s.serveSmallBuffers()
	others := s.stall(address, other, "others")
	const stalled = 120 // 120 answers of 600 kB exceed the budget of 64 MiB
	var conns []net.Conn
	for i := range stalled {
		conns = append(conns, s.stall(address, key, "stalled-"+strconv.Itoa(i)))
		s.get(key, "/v1/pets?limit=1").is(t, 200, "")
	}
	page := len(s.get(key, longPage).body)
	whole := 0
	for i, conn := range conns {
		rest, err := io.ReadAll(bodyReader(conn, page))
		if err == nil && len(rest) == page {
			whole++
		} else if whole > 0 {
			t.Errorf("answer %d is cut off, although an older one is not", i)
		}
	}
	if whole == 0 || whole == stalled {
		t.Errorf("of %d unread answers, %d are complete", stalled, whole)
	}
	if line := s.log.lineOf("stalled-0"); !strings.Contains(line, `"cut":true`) {
		t.Errorf("the log does not show that the answer was cut off: %s", line)
	}
	if rest, err := io.ReadAll(bodyReader(others, page)); err != nil || len(rest) != page {
		t.Errorf("another owner's answer is cut off after %d bytes: %v", len(rest), err)
	}
}

// bodyReader skips the rest of an answer's head. It returns a reader for the body, which has that many bytes.
func bodyReader(conn net.Conn, body int) io.Reader {
	for tail := ""; !strings.HasSuffix(tail, "\r\n\r\n"); {
		b := make([]byte, 1)
		if !readsFull(conn, b) {
			break
		}
		tail += string(b)
	}
	return io.LimitReader(conn, int64(body))
}
