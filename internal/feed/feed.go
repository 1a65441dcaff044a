// Package feed follows the feed of events on behalf of all readers in this process, such as streams and deliveries of
// webhooks. One goroutine reads new events from the storage, encodes them and keeps the newest in memory. A Reader that is
// further behind reads from the storage at its own pace.
//
// The file window.go has what is in memory, follow.go the goroutine, and reader.go how readers go on.
package feed

import (
	"context"
	"log/slog"
	"sync"

	"petstore/internal/petstore"
)

// Encode returns an event as JSON. The argument feed is the name of the event's feed. The argument private says whether the
// JSON shows what is only for those who may write.
type Encode func(feed string, e petstore.Event, private bool) string

// Event is an encoded event.
type Event struct {
	// Position is the position after the event. It is spelled like the id of the event.
	Position petstore.EventPosition
	Type     petstore.EventType
	// Full is the JSON for those who may write, and Public the JSON for everybody.
	Full, Public string

	petID int64 // zero if the event is about no animal
}

// memory returns about how many bytes of memory the event takes.
func (e Event) memory() int {
	const rest = 96 // the struct itself
	if e.Public == e.Full {
		return rest + len(e.Full)
	}
	return rest + len(e.Full) + len(e.Public)
}

// Follower follows the feed while it has readers. Its methods are safe for concurrent use.
type Follower struct {
	storage petstore.Events
	encode  Encode
	log     *slog.Logger
	behind  chan struct{} // has a value for each reader that reads from the storage

	mu      sync.Mutex
	readers int
	current *window // nil without readers
	stop    context.CancelFunc
}

// maxBehind is how many readers read from the storage at the same time. The others wait, so that many readers that are behind
// leave the storage to other requests.
const maxBehind = 4

// New returns a Follower. It does nothing until it has a reader.
func New(storage petstore.Events, encode Encode, log *slog.Logger) *Follower {
	return &Follower{storage: storage, encode: encode, log: log, behind: make(chan struct{}, maxBehind)}
}

// NewReader returns a Reader. Whoever asked for it must close it.
func (f *Follower) NewReader() *Reader {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readers++
	if f.readers == 1 {
		ctx, stop := context.WithCancel(context.Background())
		f.current, f.stop = newWindow(), stop
		go f.follow(ctx, f.current)
	}
	return &Reader{follower: f, window: f.current}
}

// removeReader stops following when the last reader is gone.
func (f *Follower) removeReader() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readers--
	if f.readers == 0 {
		f.stop()
		f.current = nil
	}
}

// encoded returns the events of a page in both forms.
func (f *Follower) encoded(page petstore.EventPage) []Event {
	events := make([]Event, len(page.Events))
	for i, e := range page.Events {
		full := f.encode(page.Feed.Name, e, true)
		public := full
		if e.Order != nil || e.Profile != nil {
			public = f.encode(page.Feed.Name, e, false)
		}
		events[i] = Event{petstore.EventPosition{Feed: page.Feed.Name, Sequence: e.Sequence}, e.Type, full, public, e.PetID()}
	}
	return events
}
