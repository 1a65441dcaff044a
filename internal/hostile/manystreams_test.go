package hostile

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// memoryOfStream is how much resident memory a stream may take, in bytes, with all that the server keeps for its connection.
const memoryOfStream = 128 << 10

func TestStreamsOfManyOwnersGetEveryEventInBoundedMemory(t *testing.T) {
	s := start(t, attack{})
	keys := s.newKeys(t, scaled(100))
	before := s.gauges(t)
	var streams []*bufio.Reader
	for _, own := range keys {
		head := strings.Replace(s.head("GET", "/v1/events", "Accept: text/event-stream", "", ""), key, own, 1)
		for _, conn := range s.dialMany(t, streamsOfOwner, func(int) string { return head }) {
			streams = append(streams, bufio.NewReaderSize(conn, 1<<10))
			readUntil(t, streams[len(streams)-1], "retry:") // the stream has begun
		}
	}
	create := habit{method: "POST", path: "/v1/pets", body: `{"name":"Rex","categoryId":1}`}
	client := s.client(false)
	defer client.CloseIdleConnections()
	const events = 20
	began := time.Now()
	for range events {
		if problem := create.ask(s, client); problem != "" {
			t.Fatal(problem)
		}
	}
	for _, stream := range streams {
		for range events {
			readUntil(t, stream, "event: pet.created")
		}
	}
	took := time.Since(began)
	during := s.gauges(t)
	each := (during.resident - before.resident) / int64(len(streams))
	t.Logf("%d streams of %d owners: resident %d MiB before and %d with them, %d KiB a stream; the last one had %d events after %s",
		len(streams), len(keys), before.resident>>20, during.resident>>20, each>>10, events, took.Round(time.Millisecond))
	if each > memoryOfStream {
		t.Errorf("a stream takes %d bytes of memory", each)
	}
	s.hangUp()
	s.awaitRecovery(t, gauges{during.resident, before.heap, before.goroutines, before.files})
}

// newKeys makes keys, each of another owner.
func (s *target) newKeys(t *testing.T, n int) (keys []string) {
	t.Helper()
	admin := s.newKey("--access", "admin")
	for range n {
		got, err := testservice.Request(s.URL, admin, http.MethodPost, "/v1/keys", `{"name":"follower","access":"read"}`)
		var made struct{ Secret string }
		if err != nil || got.Status != http.StatusCreated || json.Unmarshal([]byte(got.Body), &made) != nil {
			t.Fatalf("a key cannot be made: %v %d %s", err, got.Status, got.Body)
		}
		keys = append(keys, made.Secret)
	}
	return keys
}

// readUntil reads lines until one begins with the text.
func readUntil(t *testing.T, r *bufio.Reader, begin string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended: %v", err)
		}
		if strings.HasPrefix(line, begin) {
			return
		}
	}
}
