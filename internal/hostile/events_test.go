package hostile

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// streamsOfOwner is how many streams of events the server lets one owner open.
const streamsOfOwner = 10

// longFeed makes 600 kB of events, and returns the path of a stream of all of them.
func (s *target) longFeed(t *testing.T) (path string) {
	t.Helper()
	s.addLongNames(t)
	request, err := http.NewRequest(http.MethodGet, s.URL+"/v1/events?limit=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	client := s.client(true)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	next := response.Header.Get("Link") // </v1/events?after=evt_4f7k_1&limit=1>; rel="next"
	at := strings.Index(next, "evt_")
	if at < 0 {
		t.Fatalf("the page of events has the link %q", next)
	}
	return "/v1/events?after=" + next[at:at+len("evt_4f7k_")] + "0"
}

// openStreams opens as many streams as some owners may have, and a few more, which the server refuses.
func (s *target) openStreams(t *testing.T) (conns []*net.TCPConn) {
	t.Helper()
	path := s.longFeed(t)
	for owner := range scaled(3) {
		own := key
		if owner > 0 {
			own = s.newKey()
		}
		head := strings.Replace(s.head("GET", path, "Accept: text/event-stream"), key, own, 1)
		conns = append(conns, s.dialMany(t, streamsOfOwner+2, func(int) string { return head })...)
	}
	return conns
}

// unreadEvents opens streams of events, and reads nothing while the well-behaved client makes more.
func unreadEvents(t *testing.T, s *target) {
	conns := s.openStreams(t)
	for _, conn := range conns {
		conn.SetReadBuffer(4 << 10)
	}
	time.Sleep(attackDuration())
	checkHungUp(t, conns)
}

// slowlyReadEvents opens streams of events, and reads a few bytes of each at a time.
func slowlyReadEvents(t *testing.T, s *target) {
	conns := s.openStreams(t)
	few := make([]byte, 16)
	for end := time.Now().Add(attackDuration()); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		for _, conn := range conns {
			conn.Read(few)
		}
	}
}

// reopenedEvents opens streams of events and hangs up at once, again and again.
func reopenedEvents(t *testing.T, s *target) {
	path := s.longFeed(t)
	for i := range scaled(300) {
		conn := s.dial(t)
		io.WriteString(conn, s.head("GET", path, "Accept: text/event-stream"))
		if i%2 == 0 {
			conn.Read(make([]byte, 16))
		}
		conn.Close()
	}
}

// unreadSecureEvents opens streams of events over HTTP/2 without room for a single byte of them.
func unreadSecureEvents(t *testing.T, s *target) {
	path := s.longFeed(t)
	for range scaled(10) {
		c := s.dialH2(t, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
		for range 30 {
			block := c.headers("GET", path, hpack.HeaderField{Name: "accept", Value: "text/event-stream"})
			c.WriteHeaders(http2.HeadersFrameParam{StreamID: c.stream, BlockFragment: block, EndStream: true, EndHeaders: true})
			c.stream += 2
		}
		c.awaitAnswers(streamsOfOwner)
	}
	time.Sleep(attackDuration())
}
