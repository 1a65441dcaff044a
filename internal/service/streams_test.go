package service

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// follower reads the feed as a stream, and connects again whenever the stream ends.
type follower struct {
	url, key string
	seen     atomic.Int64 // the sequence of the last event
	resumed  atomic.Int64
}

func (f *follower) run(t *testing.T, stop *atomic.Bool) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	last := "" // the id of the last frame
	for !stop.Load() {
		var headers []string
		if last != "" {
			headers = append(headers, "Last-Event-ID: "+last)
		}
		stream, err := testservice.TryStream(client, f.url+"/v1/events", f.key, headers...)
		if err != nil || stream.Response.StatusCode != http.StatusOK {
			time.Sleep(10 * time.Millisecond) // the server is away
			continue
		}
		f.resumed.Add(1)
		for {
			frame, err := stream.TryNext()
			if err != nil {
				break
			}
			if frame.ID != "" {
				last = frame.ID
			}
			if frame.Data == "" {
				continue
			}
			var event struct{ Sequence int64 }
			if err := json.Unmarshal([]byte(frame.Data), &event); err != nil || event.Sequence != f.seen.Load()+1 {
				t.Errorf("after event %d comes %s: %v", f.seen.Load(), frame.Data, err)
			}
			f.seen.Store(event.Sequence)
		}
		stream.Close()
	}
}

func TestStreamResumesAcrossRestartsWithoutGapOrRepeat(t *testing.T) {
	t.Parallel()
	database, address := testservice.NewDatabase(t), testservice.FreeAddress(t)
	serve := func() *testservice.Instance { return testservice.Serve(t, "--listen", address, "--database", database) }
	s := serve()
	f := &follower{url: s.URL, key: s.Key}
	var stop atomic.Bool
	done := make(chan struct{})
	go func() { defer close(done); f.run(t, &stop) }()
	testservice.Eventually(t, "the stream is open", time.Minute, func() bool { return f.resumed.Load() > 0 })
	added := int64(0)
	add := func() {
		t.Helper()
		got, err := testservice.Request(s.URL, f.key, "POST", "/v1/pets", `{"name":"Rex","categoryId":1}`)
		if err != nil || got.Status != http.StatusCreated {
			t.Fatalf("%+v, %v", got, err)
		}
		added++
	}
	for round := range 4 {
		for range 50 {
			add()
		}
		if round%2 == 0 {
			if status := s.Stop(t); status != 0 {
				t.Errorf("the server stops with the status %d", status)
			}
		} else {
			s.Kill()
		}
		s = serve()
		s.Key = f.key
	}
	add()
	testservice.Eventually(t, "the stream has every event", time.Minute, func() bool { return f.seen.Load() == added || t.Failed() })
	stop.Store(true)
	s.Stop(t)
	<-done
	if f.resumed.Load() < 5 {
		t.Errorf("the stream was opened %d times in four restarts", f.resumed.Load())
	}
}

// The shutdown timeout is longer than the test, so the server would wait for the streams if it did not end them.
func TestStoppingServerEndsItsStreams(t *testing.T) {
	t.Parallel()
	secure, trusting := withTLS(t)
	for _, c := range []struct {
		name   string
		args   []string
		client *http.Client
		major  int
	}{
		{"HTTP/1.1", nil, &http.Client{Transport: &http.Transport{}}, 1},
		{"HTTP/2", secure, &http.Client{Transport: http2Transport(trusting)}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := testservice.Serve(t, append(c.args, "--shutdown-timeout", "1h", "--admin-listen", "127.0.0.1:0")...)
			var streams []*testservice.Stream
			for range 10 {
				stream := testservice.OpenStream(t, c.client, s.URL+"/v1/events", s.Key)
				if stream.Response.ProtoMajor != c.major {
					t.Fatalf("the stream has the protocol %s", stream.Response.Proto)
				}
				streams = append(streams, stream)
			}
			if metrics := s.Scrape(t); !strings.Contains(metrics, "\npetstore_event_streams 10\n") || !strings.Contains(metrics, "\npetstore_requests_in_flight 0\n") {
				t.Error("the metrics do not show 10 streams and no other request")
			}
			if status := s.Stop(t); status != 0 {
				t.Errorf("the server stops with the status %d", status)
			}
			for _, stream := range streams {
				frames := stream.ExpectEnd(t)
				if last := frames[len(frames)-1]; last.Retry == "" {
					t.Errorf("the stream ends with %+v", last)
				}
			}
		})
	}
}

func http2Transport(client *http.Client) *http.Transport {
	transport := client.Transport.(*http.Transport).Clone()
	transport.ForceAttemptHTTP2 = true
	return transport
}
