package httpapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// stream opens a stream of events.
func (s *service) stream(key, query string, headers ...string) *testservice.Stream {
	s.Helper()
	return testservice.OpenStream(s, streamClient, "http://"+s.address+"/v1/events"+query, key, headers...)
}

// streamClient opens a connection for each stream.
var streamClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// rename makes an event.
func (s *service) rename(petID int64, name string) {
	s.Helper()
	noError(s, writeError(s.storage.UpdatePet(s.Context(), petID, petstore.PetPatch{Name: &name}, nil)))
}

// add adds an animal, which makes an event.
func (s *service) add(name string) petstore.Pet {
	s.Helper()
	pet, _, err := s.storage.CreatePet(s.Context(), petstore.NewPet{Name: name, CategoryID: 1, Status: petstore.Available}, nil)
	noError(s, err)
	return pet
}

func TestStreamSendsTheEventsOfThePages(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		s := serve(t, on(open(t)))
		s.makeEvents(3)
		key := s.key(petstore.Free)
		fromNow := s.stream(key, "?limit=nonsense", "X-Request-Id: now")
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "X-Accel-Buffering": "no", "Content-Type": "text/event-stream", "X-Request-Id": "now",
			"X-RateLimit-Remaining": "59", "Content-Encoding": "", "Link": "", "Access-Control-Allow-Origin": "*",
		} {
			if got := fromNow.Response.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if f := fromNow.Next(t); f != (testservice.Frame{Retry: "3000"}) {
			t.Errorf("the stream begins with %+v", f)
		}
		before, _ := s.walk(key, "/v1/events")
		last := before[len(before)-1]
		if f := fromNow.Next(t); f != (testservice.Frame{ID: last.ID}) {
			t.Errorf("the stream begins at %+v, want %s", f, last.ID)
		}
		s.makeEvents(1)
		page := s.get(key, "/v1/events")
		var want []json.RawMessage
		noError(t, json.Unmarshal([]byte(page.body), &want))
		first := before[0].ID[:len("evt_0000_")] + "0"
		for _, c := range []struct {
			stream *testservice.Stream
			from   int
		}{
			{fromNow, len(before)},
			{s.stream(key, "?after="+last.ID), len(before)},
			{s.stream(key, "?after="+first), 0},
			{s.stream(key, "?after=now", "Last-Event-ID: "+before[4].ID), 5},
		} {
			for _, e := range want[c.from:] {
				var shown shownEvent
				noError(t, json.Unmarshal(e, &shown))
				if f := c.stream.NextEvent(t); f != (testservice.Frame{ID: shown.ID, Event: shown.Type, Data: string(e)}) {
					t.Fatalf("got  %+v\nwant %s", f, e)
				}
			}
		}
	})
}

func TestStreamHidesWhatKeysThatOnlyReadMayNotSee(t *testing.T) {
	s := serve(t)
	reader := s.keyNamed("reader")
	_, next := s.walk(reader, "/v1/events?types=profile.*,order.*")
	stream := s.stream(reader, "?types=profile.*,order.*")
	s.makeEvents(4)
	order := int64(1)
	noError(t, writeError(s.storage.UpdateOrder(t.Context(), order, petstore.OrderPatch{Reference: new("Bob")}, nil)))
	noError(t, writeError(s.storage.UpdateProfile(t.Context(), 1, petstore.ProfilePatch{Notes: new("Bites men.")}, nil)))
	behind := testservice.OpenStream(t, streamClient, "http://"+s.address+next, reader)
	pages, _ := s.walk(reader, "/v1/events?types=profile.*,order.*")
	page := s.get(reader, "/v1/events?types=profile.*,order.*")
	for i := range pages {
		text := stream.NextEvent(t).Data + behind.NextEvent(t).Data
		for _, private := range []string{"Ann", "Bob", "Bites", "reference", "notes"} {
			if strings.Contains(text+page.body, private) {
				t.Errorf("event %d shows %s: %s", i, private, text)
			}
		}
	}
	if writer := s.get(s.key(petstore.Free), "/v1/events"); !strings.Contains(writer.body, `"previous":{"reference":"Ann"}`) || !strings.Contains(writer.body, `"previous":{"profile":{"notes":"Bites."}}`) {
		t.Errorf("a key that may write does not see everything: %s", writer.body)
	}
}

// A reference that was removed is not shown any longer, not even to a stream that begins before the removal.
func TestRemovedReferenceLeavesTheStreamToo(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		s := serve(t, on(open(t)))
		key := s.key(petstore.Free)
		first := s.stream(key, "")
		start := first.Next(t).ID + first.Next(t).ID
		pet := s.add("Rex")
		order, _, err := s.storage.PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID, Reference: "Ann", Hold: petstore.DefaultHold}, nil)
		noError(t, err)
		for first.NextEvent(t).Event != "order.placed" {
		}
		noError(t, writeError(s.storage.UpdateOrder(t.Context(), order.ID, petstore.OrderPatch{Reference: new("")}, nil)))
		for first.NextEvent(t).Event != "order.updated" {
		}
		for again := s.stream(key, "?after="+start); ; {
			f := again.NextEvent(t)
			if strings.Contains(f.Data, "Ann") {
				t.Errorf("the stream shows %s", f.Data)
			}
			if f.Event == "order.updated" {
				break
			}
		}
	})
}

func TestQuietStreamTellsFilteredReadersHowFarTheyAre(t *testing.T) {
	s := serve(t, func(c *httpapi.Config) { c.Stream.Bookmark = 20 * time.Millisecond })
	key := s.key(petstore.Free)
	stream := s.stream(key, "?types=category.*")
	for range 3 {
		s.add("Rex")
		_, next := s.walk(key, "/v1/events")
		for {
			f := stream.Next(t)
			if f.Data != "" || f.Event != "" {
				t.Fatalf("got %+v", f)
			}
			if f.ID != "" && strings.Contains(next, "after="+f.ID+"&") {
				break
			}
		}
	}
}

func TestStreamHoldsNoSlot(t *testing.T) {
	s := serve(t, func(c *httpapi.Config) { c.MaxWorking = 1 })
	key := s.key(petstore.Enterprise)
	for range 5 {
		s.stream(key, "").Next(t)
	}
	s.get(key, "/v1/pets").is(t, 200, "")
	s.post(key, `{"name":"Rex","categoryId":1}`).is(t, 201, "")
}

func TestOwnerHasAtMostTenStreams(t *testing.T) {
	s := serve(t)
	key, other := s.key(petstore.Enterprise), s.key(petstore.Enterprise)
	var open []*testservice.Stream
	for range 10 {
		open = append(open, s.stream(key, ""))
	}
	refused := s.get(key, "/v1/events", "Accept: text/event-stream")
	refused.is(t, 409, "too_many_streams")
	s.send(request("HEAD", "/v1/events", key, "Accept: text/event-stream")).has(t, "Content-Type", "text/event-stream")
	s.get(key, "/v1/events").is(t, 200, "")
	s.stream(other, "").Next(t)
	open[3].Close()
	testservice.Eventually(t, "there is room for another stream", time.Minute, func() bool {
		again, err := testservice.TryStream(streamClient, "http://"+s.address+"/v1/events", key)
		noError(t, err)
		defer again.Close()
		return again.Response.StatusCode == 200
	})
}

func TestServerHasABoundedNumberOfStreams(t *testing.T) {
	s := serve(t, func(c *httpapi.Config) { c.MaxStreams = 3 })
	for range 3 {
		s.stream(s.key(petstore.Free), "").Next(t)
	}
	refused := s.get(s.key(petstore.Free), "/v1/events", "Accept: text/event-stream")
	refused.is(t, 503, "unavailable")
	refused.has(t, "Retry-After", "1")
	s.get(s.key(petstore.Free), "/v1/events").is(t, 200, "")
}

func TestStreamEndsWhenItsKeyMayNoLongerFollow(t *testing.T) {
	for name, change := range map[string]func(s *service, key petstore.Key) error{
		"revoked": func(s *service, key petstore.Key) error {
			return writeError(s.storage.RevokeKey(s.Context(), key.ID, petstore.ByOperator(s.clock.now())))
		},
		"expired": func(s *service, key petstore.Key) error {
			s.clock.step(time.Hour)
			return nil
		},
		"banned": func(s *service, key petstore.Key) error {
			_, err := s.storage.BanOwner(s.Context(), key.Owner, s.clock.now())
			return err
		},
		"lowered": func(s *service, key petstore.Key) error {
			_, _, err := s.storage.UpdateKey(s.Context(), key.ID, petstore.KeyChange{Access: new(petstore.ReadOnly)}, petstore.ByOperator(s.clock.now()))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			limits, _ := petstore.Free.Limits(0, 0)
			secret, key := s.createKey(petstore.NewKey("test", petstore.Free, limits, s.clock.now(), time.Hour))
			stream, other := s.stream(secret, ""), s.stream(s.key(petstore.Free), "")
			stream.Next(t)
			stream.Next(t)
			noError(t, change(s, key))
			s.clock.step(4 * time.Second) // the key cache looks keys up again, and the stream ends within five seconds
			if frames := stream.ExpectEnd(t); len(frames) > 0 {
				t.Errorf("before its end, the stream has %+v", frames)
			}
			s.add("Rex")
			if f := other.NextEvent(t); f.Event != "pet.created" {
				t.Errorf("another owner's stream has %+v", f)
			}
		})
	}
}

func TestStreamEndsWithARetryOfItsOwnWhenTheServerDrains(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Enterprise)
	stream := s.stream(key, "")
	stream.Next(t)
	stream.Next(t)
	s.api.EndStreams()
	retries := map[string]bool{}
	expectRetry := func(frames []testservice.Frame) {
		t.Helper()
		retry := frames[len(frames)-1].Retry
		if n, _ := strconv.Atoi(retry); n < 1000 || n > 5000 {
			t.Errorf("the stream ends with %+v", frames)
		}
		retries[retry] = true
	}
	expectRetry(stream.ExpectEnd(t))
	for range 9 { // streams that are opened later end too
		expectRetry(s.stream(key, "").ExpectEnd(t))
	}
	if len(retries) == 1 {
		t.Errorf("ten streams have the same %v", retries)
	}
}

func TestStreamEndsAfterItsLife(t *testing.T) {
	s := serve(t, func(c *httpapi.Config) { c.Stream.Life = 100 * time.Millisecond })
	stream := s.stream(s.key(petstore.Free), "", "X-Request-Id: short")
	stream.ExpectEnd(t)
	if line := s.log.lineOf("short"); !strings.Contains(line, `"status":200`) || !strings.Contains(line, `"route":"listEvents"`) || strings.Contains(line, "cut") {
		t.Errorf("the log has %s", line)
	}
}

// A client that does not read is cut off, and goes on later without a gap.
func TestUnreadStreamIsCutOffAndCanResume(t *testing.T) {
	s := serve(t)
	hasty := serve(t, on(s.storage), func(c *httpapi.Config) { c.Stream.Unread = 300 * time.Millisecond })
	key := s.key(petstore.Enterprise)
	pet := s.add("Rex")
	stalled := dial(t, hasty.serveSmallBuffers())
	stalled.SetReadBuffer(32 << 10)
	io.WriteString(stalled, request("GET", "/v1/events", key, "Accept: text/event-stream", "X-Request-Id: stalled"))
	if !readsFull(stalled, make([]byte, 1)) {
		t.Fatal("the stream does not begin")
	}
	_, next := s.walk(key, "/v1/events")
	const events = 500 // with long names, which fill the buffers of the connection
	for i := range events {
		s.rename(pet.ID, fmt.Sprint(i)+strings.Repeat("<", 900))
	}
	if line := hasty.log.lineOf("stalled"); !strings.Contains(line, `"cut":true`) {
		t.Errorf("the stream was not cut off: %s", line)
	}
	resumed := testservice.OpenStream(t, streamClient, "http://"+s.address+next, key)
	for i := range events {
		if f := resumed.NextEvent(t); !strings.Contains(f.Data, fmt.Sprintf(`"name":"%d\u003c`, i)) {
			t.Fatalf("event %d is %.200s", i, f.Data)
		}
	}
}

// To mirror the store, a client takes the position of after=now, lists the animals and then follows the stream.
func TestAfterNowThenFollowMirrorsTheStore(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		s := serve(t, on(open(t)))
		key := s.key(petstore.Enterprise)
		for i := range 20 {
			s.add(fmt.Sprint(i))
		}
		var writing sync.WaitGroup
		change := func(worker int) {
			for i := range 40 {
				id := int64(1 + (worker*7+i*3)%25)
				switch i % 4 {
				case 0:
					s.storage.CreatePet(t.Context(), petstore.NewPet{Name: "new", CategoryID: 1, Status: petstore.Available}, nil)
				case 1:
					s.storage.DeletePet(t.Context(), id, nil)
				default:
					s.storage.UpdatePet(t.Context(), id, petstore.PetPatch{Name: new(fmt.Sprint(worker, i))}, nil)
				}
			}
		}
		for worker := range 4 {
			writing.Go(func() { change(worker) })
		}
		_, next := s.walk(key, "/v1/events?after=now")
		mirror := map[int64]petstore.Pet{}
		for _, pet := range s.pets() {
			mirror[pet.ID] = pet
		}
		stream := testservice.OpenStream(t, streamClient, "http://"+s.address+next, key)
		writing.Wait()
		last := s.add("last")
		for seen := int64(0); seen != last.ID; {
			f := stream.NextEvent(t)
			var e struct {
				Data struct {
					ID, CategoryID int64
					Name, Status   string
				}
			}
			noError(t, json.Unmarshal([]byte(f.Data), &e))
			status, _ := petstore.ParseStatus(e.Data.Status)
			if seen = e.Data.ID; f.Event == "pet.deleted" {
				delete(mirror, seen)
			} else {
				mirror[seen] = petstore.Pet{ID: seen, NewPet: petstore.NewPet{Name: e.Data.Name, CategoryID: e.Data.CategoryID, Status: status}}
			}
		}
		pets := s.pets()
		for _, pet := range pets {
			if mirror[pet.ID] != pet {
				t.Errorf("the mirror has %+v, the store %+v", mirror[pet.ID], pet)
			}
		}
		if len(mirror) != len(pets) {
			t.Errorf("the mirror has %d animals, the store %d", len(mirror), len(pets))
		}
	})
}

// A stream outlasts the timeouts for requests, and has no deadline while it is quiet.
func TestStreamOverHTTP2(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *httpapi.Config) { c.Stream.Unread, c.Stream.Bookmark = time.Second, 1500*time.Millisecond })
	server := httptest.NewUnstartedServer(s.api)
	server.EnableHTTP2 = true
	server.Config.WriteTimeout, server.Config.ReadTimeout = time.Second, time.Second
	server.StartTLS()
	t.Cleanup(server.Close)
	key := s.key(petstore.Enterprise)
	stream := testservice.OpenStream(t, server.Client(), server.URL+"/v1/events", key)
	if stream.Response.ProtoMajor != 2 {
		t.Fatalf("the stream has the protocol %s", stream.Response.Proto)
	}
	for bookmarks := 0; bookmarks < 3; {
		if f := stream.Next(t); f.Event == "" && f.ID != "" {
			bookmarks++
		}
	}
	s.add("Rex")
	if f := stream.NextEvent(t); !strings.Contains(f.Data, `"name":"Rex"`) {
		t.Errorf("got %+v", f)
	}
	s.api.EndStreams()
	stream.ExpectEnd(t)
}

// HAProxy ends a connection on which nothing happens for a while. Bookmarks come more often.
func TestQuietStreamOutlastsTheTimeoutsOfTheBalancer(t *testing.T) {
	t.Parallel()
	ready := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	s := serve(t, func(c *httpapi.Config) {
		c.Stream.Bookmark = 500 * time.Millisecond
		c.Probes = map[string]http.Handler{"/readyz": ready}
	})
	text, err := os.ReadFile("../../deploy/haproxy.cfg")
	noError(t, err)
	config := string(text)
	for _, side := range []string{"client", "server"} { // a thirtieth of what they are, like the time between bookmarks
		if config = strings.Replace(config, "timeout "+side+" 60s", "timeout "+side+" 2s", 1); !strings.Contains(config, "timeout "+side+" 2s") {
			t.Errorf("the timeout of the %s is not four times the 15 seconds between bookmarks", side)
		}
	}
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	noError(t, os.WriteFile(file, []byte(config), 0o600))
	balancer := testservice.StartBalancer(t, file, []string{s.address, s.address, s.address})
	stream := testservice.OpenStream(t, streamClient, balancer.URL+"/v1/events", s.key(petstore.Enterprise))
	for bookmarks := 0; bookmarks < 10; bookmarks++ { // for longer than the timeouts
		stream.Next(t)
	}
	s.add("Rex")
	if f := stream.NextEvent(t); f.Event != "pet.created" {
		t.Errorf("got %+v", f)
	}
}
