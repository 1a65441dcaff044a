package clienttest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"petstore/client"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// eventsOf returns the events that a query selects.
func eventsOf(t *testing.T, store *client.Client, q client.EventQuery) (events []client.Event) {
	t.Helper()
	for e, err := range store.Events(t.Context(), q) {
		noError(t, err)
		events = append(events, e)
	}
	return events
}

// typesOf returns the numbers and types of events.
func typesOf(events []client.Event) string {
	var words []string
	for _, e := range events {
		words = append(words, fmt.Sprint(e.Sequence, " ", e.Type))
	}
	return strings.Join(words, ", ")
}

func TestTheFeedTellsOfEveryChange(t *testing.T) {
	store, s := online(t)
	ctx := t.Context()
	start := must(store.ListEvents(ctx, client.EventQuery{After: client.Now}))(t)
	if len(start.Items) != 0 || !start.End || !strings.HasSuffix(start.Next, "_0") {
		t.Errorf("a new feed begins with %+v", start)
	}
	pet := must(store.CreatePet(ctx, client.NewPet{Name: "Rex & <co>", CategoryID: 1}))(t)
	must(store.UpdateProfile(ctx, pet.ID, client.ProfilePatch{Breed: new("Beagle"), Notes: new("shy")}))(t)
	order := must(store.PlaceOrder(ctx, client.NewOrder{PetID: pet.ID, Reference: "shop 7"}))(t)
	must(store.NameCategory(ctx, 1, "Dogs"))(t)
	must(store.CreatePet(ctx, client.NewPet{Name: "Tom", CategoryID: 1}))(t)

	events := eventsOf(t, store, client.EventQuery{After: start.Next, Limit: 2})
	const all = "1 pet.created, 2 profile.updated, 3 order.placed, 4 pet.updated, 5 category.created, 6 pet.created"
	if typesOf(events) != all || typesOf(eventsOf(t, store, client.EventQuery{})) != all {
		t.Fatalf("the feed has %s", typesOf(events))
	}
	created, err := events[0].Pet()
	wantResult(t, created, err, pet)
	placed, err := events[2].Order()
	wantResult(t, placed, err, order)
	named, err := events[4].Category()
	wantResult(t, named, err, client.Category{ID: 1, Name: "Dogs"})
	id, profile, err := events[1].Profile()
	if err != nil || id != pet.ID || profile.Breed != "Beagle" || profile.Notes != "shy" {
		t.Errorf("the profile of animal %d is %+v, %v", id, profile, err)
	}
	if previous := string(events[3].Previous); previous != `{"status":"available"}` || time.Since(events[3].Timestamp) > time.Hour {
		t.Errorf("before %+v was %s", events[3], previous)
	}
	for want, q := range map[string]client.EventQuery{
		"6 pet.created":                 {After: events[4].ID},
		"3 order.placed, 4 pet.updated": {Types: []client.EventType{"order.*", client.PetUpdated}},
		"5 category.created":            {Types: []client.EventType{client.CategoryCreated}, Limit: 1},
		"1 pet.created, 2 profile.updated, 3 order.placed, 4 pet.updated": {PetID: &pet.ID},
	} {
		if got := typesOf(eventsOf(t, store, q)); got != want {
			t.Errorf("%+v selects %s, want %s", q, got, want)
		}
	}

	secret, err := s.key(ctx, petstore.Enterprise, petstore.ReadOnly, 1_000_000, 100_000_000)
	noError(t, err)
	for _, e := range eventsOf(t, through(t, s, secret), client.EventQuery{}) {
		if strings.Contains(string(e.Data), "shop 7") || strings.Contains(string(e.Data), "shy") {
			t.Errorf("a key that may only read gets %s", e.Data)
		}
	}
	_, err = store.ListEvents(ctx, client.EventQuery{Types: []client.EventType{"pet"}})
	wantRefusal(t, err, client.ErrInvalidParameter, 400)
	_, err = store.ListEvents(ctx, client.EventQuery{After: strings.Replace(start.Next, "_0", "_7", 1)})
	wantRefusal(t, err, client.ErrEventsGone, 410)
}

// follower follows a feed in a goroutine.
type follower struct {
	events chan client.Event
	done   chan error // gets the error that ends the iteration
	opens  chan struct{}
	breaks atomic.Int64
}

func startFollowing(ctx context.Context, store *client.Client, o client.FollowOptions) *follower {
	f := &follower{events: make(chan client.Event, 100), done: make(chan error, 1), opens: make(chan struct{}, 100)}
	o.OnOpen = func() { f.opens <- struct{}{} }
	o.OnBreak = func(error, time.Duration) { f.breaks.Add(1) }
	go func() {
		for e, err := range store.Follow(ctx, o) {
			if err != nil {
				f.done <- err
				return
			}
			f.events <- e
		}
	}()
	return f
}

// wantNext fails the test unless the next events have these sequences.
func (f *follower) wantNext(t *testing.T, sequences ...int64) {
	t.Helper()
	for _, want := range sequences {
		select {
		case e := <-f.events:
			if e.Sequence != want {
				t.Fatalf("event %d follows, want %d", e.Sequence, want)
			}
		case err := <-f.done:
			t.Fatalf("Follow ended with %v, want event %d", err, want)
		case <-time.After(time.Minute):
			t.Fatalf("event %d does not come", want)
		}
	}
}

func addPets(t *testing.T, store *client.Client, n int) {
	t.Helper()
	for range n {
		must(store.CreatePet(t.Context(), client.NewPet{Name: "Rex", CategoryID: 1}))(t)
	}
}

func TestFollowMissesNothingAcrossRestartsOfTheServer(t *testing.T) {
	folder := t.TempDir()
	const key = "a-key-for-the-test-of-restarts"
	server := testservice.NewServer(t, testservice.Build(t), "--database", "sqlite:"+filepath.Join(folder, "pets.db"))
	server.Set("PETSTORE_API_KEY=" + key)
	server.Start(t)
	store := newClient(t, server.URL, key)
	f := startFollowing(t.Context(), store, client.FollowOptions{Types: []client.EventType{"pet.*"}})
	<-f.opens
	addPets(t, store, 2)
	f.wantNext(t, 1, 2)

	server.Stop(t) // the server drains, and ends its streams
	server.Start(t)
	addPets(t, store, 2)
	f.wantNext(t, 3, 4)
	<-f.opens
	server.Kill(t)
	server.Start(t)
	must(store.NameCategory(t.Context(), 1, "Dogs"))(t) // not of these types
	addPets(t, store, 1)
	f.wantNext(t, 6)
	if f.breaks.Load() < 2 {
		t.Errorf("Follow told of %d breaks", f.breaks.Load())
	}
}

// feedOf returns the storage's own view of the feed.
func (s *service) feedOf(t *testing.T) petstore.EventUpkeep {
	t.Helper()
	return s.storage.(petstore.EventUpkeep)
}

func TestFollowTellsOfEventsThatAreNoLongerKept(t *testing.T) {
	store, s := online(t)
	addPets(t, store, 3)
	first := eventsOf(t, store, client.EventQuery{})[0]
	for {
		removed, err := s.feedOf(t).TrimEvents(t.Context(), petstore.EventsKept{Age: time.Hour, Bytes: 1})
		noError(t, err)
		if removed == 0 {
			break
		}
	}
	addPets(t, store, 1)
	for _, err := range store.Follow(t.Context(), client.FollowOptions{After: first.ID}) {
		wantRefusal(t, err, client.ErrEventsGone, 410)
	}
	gaps := make(chan string, 10)
	f := startFollowing(t.Context(), store, client.FollowOptions{After: first.ID, OnGap: func(after string, refusal *client.Error) { gaps <- after }})
	if after := <-gaps; after != first.ID {
		t.Errorf("the gap is after %s, want %s", after, first.ID)
	}
	<-f.opens
	addPets(t, store, 1)
	last := int64(0)
	for last != 5 {
		select {
		case e := <-f.events:
			if last != 0 && e.Sequence != last+1 {
				t.Errorf("event %d follows %d", e.Sequence, last)
			}
			last = e.Sequence
		case err := <-f.done:
			t.Fatal(err)
		}
	}

	noError(t, s.feedOf(t).ResetFeed(t.Context()))
	addPets(t, store, 1)
	select {
	case <-gaps:
	case err := <-f.done:
		t.Fatal(err)
	}
}

// quietOnce is a handler whose first stream says nothing more after its head, as if the network had swallowed it.
type quietOnce struct {
	http.Handler
	streams atomic.Int64
}

func (q *quietOnce) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Accept") == "text/event-stream" && q.streams.Add(1) == 1 {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	}
	q.Handler.ServeHTTP(w, r)
}

func TestAStreamThatTheNetworkSwallowsIsOpenedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testService(t)
		key := s.generousKey(t)
		f := startFollowing(t.Context(), through(t, &quietOnce{Handler: s}, key), client.FollowOptions{})
		<-f.opens
		addPets(t, through(t, s, key), 2)
		begin := time.Now()
		f.wantNext(t, 1, 2)
		if waited := time.Since(begin); waited < 39*time.Second || waited > 45*time.Second {
			t.Errorf("the events came after %s", waited)
		}
	})
}

func TestAQuietStreamStaysOpenByItsBookmarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testService(t)
		store := through(t, s, s.generousKey(t))
		f := startFollowing(t.Context(), store, client.FollowOptions{})
		<-f.opens
		time.Sleep(29 * time.Minute)
		addPets(t, store, 1)
		f.wantNext(t, 1)
		if f.breaks.Load() > 0 {
			t.Errorf("the stream broke %d times", f.breaks.Load())
		}
		time.Sleep(2 * time.Minute) // the service ends a stream after 30 minutes
		addPets(t, store, 1)
		f.wantNext(t, 2)
		if f.breaks.Load() != 1 {
			t.Errorf("the stream broke %d times", f.breaks.Load())
		}
	})
}

func TestOpeningAStreamWaitsForTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testService(t)
		key := s.keyOf(t, petstore.Free, 0, 0)
		for range 60 {
			_, err := through(t, s, key).GetInventory(t.Context())
			noError(t, err)
		}
		counted := count(s)
		f := startFollowing(t.Context(), through(t, counted, key), client.FollowOptions{})
		begin := time.Now()
		<-f.opens
		if waited := time.Since(begin); waited < time.Second || waited > time.Minute+10*time.Second || counted.statuses[429] > 1 {
			t.Errorf("the stream was open after %s and the answers %v", waited, counted.statuses)
		}
	})
}

func TestFollowEndsWithItsKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		admin, s := administered(t)
		made := must(admin.CreateKey(t.Context(), client.NewKey{Name: "shop"}))(t)
		f := startFollowing(t.Context(), through(t, s, made.Secret), client.FollowOptions{})
		<-f.opens
		must(admin.RevokeKey(t.Context(), made.ID))(t)
		begin := time.Now()
		wantRefusal(t, <-f.done, client.ErrUnauthorized, 401)
		if waited := time.Since(begin); waited > 20*time.Second {
			t.Errorf("Follow ended after %s", waited)
		}
	})
}

func TestAnOwnerHasTenStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testService(t)
		store := through(t, s, s.generousKey(t))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for range 10 {
			<-startFollowing(ctx, store, client.FollowOptions{}).opens
		}
		wantRefusal(t, <-startFollowing(t.Context(), store, client.FollowOptions{}).done, client.ErrTooManyStreams, 409)
	})
}

func TestFollowEndsWithTheContext(t *testing.T) {
	store, _ := online(t)
	ctx, cancel := context.WithCancel(t.Context())
	f := startFollowing(ctx, store, client.FollowOptions{})
	<-f.opens
	cancel()
	if err := <-f.done; !errors.Is(err, context.Canceled) {
		t.Errorf("Follow ended with %v", err)
	}
}
