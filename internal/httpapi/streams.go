package httpapi

import (
	"sync"
	"time"

	"petstore/internal/petstore"
)

const (
	// streamsOfOwner is how many streams of events an owner may have open.
	streamsOfOwner = 10
	// keyCheckEvery is how often the keys of the streams are checked. The key cache looks a key up again at renewAge, so
	// that a stream ends within keyTTL after its key was changed.
	keyCheckEvery = (keyTTL - renewAge) / 2
)

// eventStreams has the streams of events that are open.
type eventStreams struct {
	most int // how many may be open; zero means any number
	// allowed reports whether a stream may go on. It is called for every stream again and again.
	allowed func(*eventStream) bool

	mu       sync.Mutex
	open     map[*eventStream]struct{}
	ofOwner  map[string]int
	draining bool
	stop     chan struct{} // closed when the last stream ends
}

func newEventStreams(most int, allowed func(*eventStream) bool) *eventStreams {
	return &eventStreams{most: most, allowed: allowed, open: make(map[*eventStream]struct{}), ofOwner: make(map[string]int)}
}

// add adds a stream, or refuses it. If the server drains, the stream ends at once.
func (s *eventStreams) add(stream *eventStream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ofOwner[stream.owner] >= streamsOfOwner:
		return newRefusal(tooManyStreams, "The owner of this API key already has 10 streams open on this server. Close one, or read the events page by page.")
	case s.most > 0 && len(s.open) >= s.most:
		return newRefusal(petstore.Unavailable, "The service has as many streams open as it can. Read the events page by page, or try again shortly.")
	case s.draining:
		stream.end(errDraining)
	}
	s.open[stream] = struct{}{}
	s.ofOwner[stream.owner]++
	if len(s.open) == 1 {
		s.stop = make(chan struct{})
		go s.keepChecking(s.stop)
	}
	return nil
}

func (s *eventStreams) remove(stream *eventStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, stream)
	if s.ofOwner[stream.owner]--; s.ofOwner[stream.owner] == 0 {
		delete(s.ofOwner, stream.owner)
	}
	if len(s.open) == 0 {
		close(s.stop)
	}
}

// mayFollow reports whether the key of a stream is still what it was when the stream began. While the storage fails, it is.
func (a *API) mayFollow(s *eventStream) bool {
	now := a.Now()
	key, _, fresh := a.keys.cached(s.keyHash, now)
	if !fresh {
		a.keys.lookup.Begin(s.keyHash) // the next check sees the result
		return true
	}
	return key.Usable(now) == nil && (a.CountOnly || !key.Banned(now)) && key.Access == s.access
}

func (s *eventStreams) checkKeys() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for stream := range s.open {
		if !s.allowed(stream) {
			stream.end(errKeyEnded)
		}
	}
}

func (s *eventStreams) keepChecking(stop chan struct{}) {
	every := time.NewTicker(keyCheckEvery)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			s.checkKeys()
		case <-stop:
			return
		}
	}
}

// EndStreams ends all streams of events, and each that is opened later. It is called when the server begins to stop.
func (a *API) EndStreams() {
	s := a.streams
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = true
	for stream := range s.open {
		stream.end(errDraining)
	}
}

func (s *eventStreams) count() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return float64(len(s.open))
}
