package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"petstore/internal/petstore"
)

// store is a feed in memory.
type store struct {
	mu      sync.Mutex
	feed    petstore.Feed
	events  []petstore.Event // the first has the sequence 1
	changed chan struct{}
	reads   atomic.Int64 // the calls of ListEvents
	behind  atomic.Int64 // the calls of ListEvents that did not begin at the end
	failure error        // what ListEvents returns, if not nil
}

func newStore() *store {
	return &store{feed: petstore.Feed{Name: "test"}, changed: make(chan struct{})}
}

// add adds events and returns the position after them.
func (s *store) add(events ...petstore.Event) petstore.EventPosition {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range events {
		s.feed.Last++
		e.Sequence = s.feed.Last
		s.events = append(s.events, e)
	}
	close(s.changed)
	s.changed = make(chan struct{})
	return petstore.EventPosition{Feed: s.feed.Name, Sequence: s.feed.Last}
}

func (s *store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
}

func (s *store) ListEvents(_ context.Context, q petstore.EventQuery) (petstore.EventPage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads.Add(1)
	if s.failure != nil {
		return petstore.EventPage{}, s.failure
	}
	after := s.feed.Last
	if !q.FromEnd {
		var err error
		if after, err = s.feed.Check(*q.After); err != nil {
			return petstore.EventPage{}, err
		}
		if after < s.feed.Last {
			s.behind.Add(1)
		}
	}
	page := petstore.EventPage{Feed: s.feed}
	for ; after < s.feed.Last && len(page.Events) < q.Limit; after++ {
		if e := s.events[after]; q.Selects(e) {
			page.Events = append(page.Events, e)
		}
	}
	page.Next, page.End = petstore.EventPosition{Feed: s.feed.Name, Sequence: after}, after == s.feed.Last
	return page, nil
}

func (s *store) AwaitEvents(ctx context.Context, after int64) error {
	s.mu.Lock()
	changed, there := s.changed, s.feed.Last > after
	s.mu.Unlock()
	if there {
		return nil
	}
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Second):
		return nil
	}
}

func encode(feed string, e petstore.Event, private bool) string {
	text := fmt.Sprintf("%s_%d %s", feed, e.Sequence, e.Type)
	if e.Order != nil && private {
		text += " " + e.Order.Now.Reference
	}
	if e.Pet != nil {
		text += " " + e.Pet.Now.Name
	}
	return text
}

func follow(s *store) *Follower {
	return New(s, encode, slog.New(slog.NewTextHandler(io.Discard, nil)))
}

func pet(id int64, name string) petstore.Event {
	return petstore.PetChanged(nil, &petstore.Pet{ID: id, NewPet: petstore.NewPet{Name: name}})
}

func pets(n int) (events []petstore.Event) {
	for i := range n {
		events = append(events, pet(int64(i+1), "Rex"))
	}
	return events
}

func order(reference string) petstore.Event {
	return petstore.OrderChanged(nil, petstore.Order{ID: 1, PetID: 1, Reference: reference})
}

// read reads until it has the given number of events, and returns their positions and the position after them.
func read(t *testing.T, r *Reader, q petstore.EventQuery, after petstore.EventPosition, n int) (got []int64, next petstore.EventPosition) {
	t.Helper()
	for next = after; len(got) < n; {
		q.After = &next
		events, moved, err := r.Read(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			got = append(got, e.Position.Sequence)
		}
		next = moved
	}
	return got, next
}

func expectRun(t *testing.T, got []int64, first, n int64) {
	t.Helper()
	for i, sequence := range got {
		if sequence != first+int64(i) {
			t.Fatalf("event %d follows %d", sequence, first+int64(i)-1)
		}
	}
	if int64(len(got)) != n {
		t.Fatalf("got %d events, want %d", len(got), n)
	}
}

func TestReadersGoOnFromAnyPositionWithoutGapOrRepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		start := s.add()
		s.add(pets(250)...)
		f := follow(s)
		r := f.NewReader()
		defer r.Close()
		done := make(chan struct{})
		go func() {
			defer close(done)
			got, _ := read(t, r, petstore.EventQuery{}, start, 1250)
			expectRun(t, got, 1, 1250)
		}()
		for range 100 {
			synctest.Wait()
			s.add(pets(10)...)
		}
		<-done
	})
}

func TestOneGoroutineReadsForAllReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		end := s.add()
		f := follow(s)
		var readers sync.WaitGroup
		for range 100 {
			r := f.NewReader()
			readers.Go(func() {
				defer r.Close()
				got, _ := read(t, r, petstore.EventQuery{}, end, 10)
				expectRun(t, got, 1, 10)
			})
		}
		for range 10 {
			synctest.Wait()
			s.add(pets(1)...)
		}
		readers.Wait()
		if reads := s.reads.Load(); reads > 22 {
			t.Errorf("100 readers of 10 events read %d times", reads)
		}
	})
}

func TestFollowerStopsWhenNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		f := follow(s)
		a, b := f.NewReader(), f.NewReader()
		a.Close()
		time.Sleep(time.Minute)
		busy := s.reads.Load()
		b.Close()
		synctest.Wait()
		stopped := s.reads.Load()
		time.Sleep(time.Minute)
		if more := s.reads.Load() - stopped; busy < 10 || more != 0 {
			t.Errorf("the follower read %d times with a reader, and %d times without one", busy, more)
		}
	})
}

func TestFilteredReaderLearnsThePositionPastWhatItSkips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		end := s.add()
		f := follow(s)
		r := f.NewReader()
		defer r.Close()
		synctest.Wait()
		id := int64(7)
		for _, q := range []petstore.EventQuery{
			{Types: 1 << petstore.OrderPlaced}, {PetID: &id}, {PetID: new(int64)},
		} {
			s.add(pet(1, "Rex"), petstore.CategoryChanged(nil, &petstore.Category{ID: 7}))
			last := s.add(pet(2, "Rex"))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			q.After = &end
			events, next, err := r.Read(ctx, q)
			cancel()
			if len(events) > 0 || next != last || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%+v: got %d events, position %v, %v; want none and %v", q, len(events), next, err, last)
			}
		}
	})
}

// The reader with a filter would otherwise be woken by every event of the others.
func TestReaderIsNotWokenByEventsThatItDoesNotSelect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		end := s.add()
		f := follow(s)
		r := f.NewReader()
		defer r.Close()
		synctest.Wait()
		q := petstore.EventQuery{After: &end, Types: 1 << petstore.CategoryCreated}
		got := make(chan []Event)
		go func() {
			events, _, _ := r.Read(t.Context(), q)
			got <- events
		}()
		synctest.Wait()
		waiting := f.current.waiting[newSelection(q)]
		s.add(pets(100)...)
		synctest.Wait()
		if waiting == nil || f.current.waiting[newSelection(q)] != waiting {
			t.Error("the reader was woken")
		}
		s.add(petstore.CategoryChanged(nil, &petstore.Category{ID: 7}))
		if events := <-got; len(events) != 1 || events[0].Position.Sequence != 101 {
			t.Errorf("got %v", events)
		}
		if len(f.current.waiting) != 0 {
			t.Errorf("%v is still waited for", f.current.waiting)
		}
	})
}

func TestMemoryIsBoundedAndReadersBehindItReadFromTheStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		start := s.add()
		f := follow(s)
		r := f.NewReader()
		defer r.Close()
		synctest.Wait()
		name := strings.Repeat("x", 100_000)
		for range 200 {
			s.add(pet(1, name))
			synctest.Wait()
		}
		v := f.current.now()
		if v.memory > maxMemory || v.memory < maxMemory*3/4 || v.end().Sequence != 200 {
			t.Errorf("%d bytes up to event %d are in memory", v.memory, v.end().Sequence)
		}
		if held := len(v.events); held != int(v.end().Sequence-v.after.Sequence) || cap(v.events) > 2*held {
			t.Errorf("%d events after %d are in memory, with room for %d", held, v.after.Sequence, cap(v.events))
		}
		s.behind.Store(0)
		if got, _ := read(t, r, petstore.EventQuery{}, v.after, 200-int(v.after.Sequence)); s.behind.Load() != 0 || got[0] != v.after.Sequence+1 {
			t.Errorf("a reader of what is in memory read from the storage %d times", s.behind.Load())
		}
		got, _ := read(t, r, petstore.EventQuery{}, start, 200)
		expectRun(t, got, 1, 200)
		if s.behind.Load() == 0 {
			t.Error("a reader behind the memory did not read from the storage")
		}
	})
}

func TestReadReturnsABoundedNumberOfBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		start := s.add()
		f := follow(s)
		r := f.NewReader()
		defer r.Close()
		for range 50 {
			s.add(pet(1, strings.Repeat("x", 1000)), pet(2, strings.Repeat("x", 40_000)))
		}
		for next := start; next.Sequence < 100; {
			events, moved, err := r.Read(t.Context(), petstore.EventQuery{After: &next})
			if err != nil {
				t.Fatal(err)
			}
			size := 0
			for _, e := range events {
				size += len(e.Full)
			}
			if size > maxBatch && len(events) > 1 {
				t.Errorf("%d events have %d bytes", len(events), size)
			}
			next = moved
		}
	})
}

// The storage removes a reference from the events that have it. The copies in memory must not show it any longer.
func TestRemovedReferenceIsNotShownFromMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		start := s.add()
		f := follow(s)
		r := f.NewReader()
		defer r.Close()
		synctest.Wait()
		s.add(pet(1, "Rex"), order("Ann"))
		synctest.Wait()
		shown := func() string {
			var text strings.Builder
			for next := start; next.Sequence < s.feed.Last; {
				events, moved, err := r.Read(t.Context(), petstore.EventQuery{After: &next})
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range events {
					text.WriteString(e.Full)
					if strings.Contains(e.Public, "Ann") {
						t.Errorf("everybody sees %s", e.Public)
					}
				}
				next = moved
			}
			return text.String()
		}
		if text := shown(); !strings.Contains(text, "Ann") {
			t.Fatalf("the reference is not shown: %s", text)
		}
		s.events[1].Order.Now.Reference = ""
		removed := order("")
		removed.Type = petstore.OrderUpdated
		s.add(removed)
		synctest.Wait()
		if text := shown(); strings.Contains(text, "Ann") {
			t.Errorf("the reference is still shown: %s", text)
		}
	})
}

func TestReadersWaitWhileTheStorageFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		start := s.add()
		s.add(pets(10)...)
		s.fail(errors.New("away"))
		f := follow(s)
		r := f.NewReader()
		defer r.Close()
		go func() {
			time.Sleep(10 * time.Second)
			s.fail(nil)
			s.add(pets(10)...)
		}()
		got, _ := read(t, r, petstore.EventQuery{}, start, 20)
		expectRun(t, got, 1, 20)
	})
}

func TestPositionsOfAnotherFeedAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		end := s.add(pets(3)...)
		f := follow(s)
		r := f.NewReader()
		defer r.Close()
		synctest.Wait()
		s.mu.Lock()
		s.feed.Name = "next"
		s.mu.Unlock()
		end2 := s.add(pets(1)...)
		if _, _, err := r.Read(t.Context(), petstore.EventQuery{After: &end}); !petstore.IsCode(err, petstore.EventsGone) {
			t.Errorf("got %v", err)
		}
		go s.add(pets(1)...)
		got, _ := read(t, r, petstore.EventQuery{}, end2, 1)
		expectRun(t, got, 5, 1)
	})
}
