package feed

import (
	"slices"
	"sync"

	"petstore/internal/petstore"
)

// maxMemory is how many bytes of events a window has.
const maxMemory = 8 << 20

// window holds the newest events of the feed. One goroutine adds events, and any number of goroutines wait for them. Those
// that wait for other events are not woken, so that many readers with filters cost next to nothing.
type window struct {
	mu      sync.Mutex
	latest  view
	waiting map[selection]*wait
}

// view is what a window has at one moment. Its events never change.
type view struct {
	// after is the position before the first of the events. Its Feed is empty until the end of the feed is known.
	after  petstore.EventPosition
	events []Event // without gaps; the last one is the newest that is known
	memory int     // what the events take
}

// selection is what a reader waits for: events of some types, and of one animal if byPet is set.
type selection struct {
	types petstore.EventTypes
	byPet bool
	petID int64
}

// wait is for all readers that wait for the same selection.
type wait struct {
	over    chan struct{} // closed when there may be events for them
	readers int
}

func newWindow() *window { return &window{waiting: make(map[selection]*wait)} }

// now returns what the window has.
func (w *window) now() view {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.latest
}

// reset replaces all that the window has, and ends all waits.
func (w *window) reset(v view) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.latest = v
	w.wake(func(selection) bool { return true })
}

// add adds events that follow the newest one, and drops the oldest if there is no more room.
func (w *window) add(added []Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := &w.latest
	v.events = append(v.events, added...)
	for _, e := range added {
		v.memory += e.memory()
	}
	v.shorten()
	w.wake(func(s selection) bool { return slices.ContainsFunc(added, s.selects) })
}

// wake ends the waits for selections for which there is something.
func (w *window) wake(has func(selection) bool) {
	for s, waiting := range w.waiting {
		if has(s) {
			close(waiting.over)
			delete(w.waiting, s)
		}
	}
}

// await returns what the window has and, if that has nothing for a reader at the position after, how the reader waits.
func (w *window) await(s selection, after petstore.EventPosition) (view, *wait) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if found, inMemory := w.latest.since(after); w.latest.known() && (!inMemory || len(found) > 0) {
		return w.latest, nil
	}
	waiting := w.waiting[s]
	if waiting == nil {
		waiting = &wait{over: make(chan struct{})}
		w.waiting[s] = waiting
	}
	waiting.readers++
	return w.latest, waiting
}

// leave ends the wait of a reader at the position after. It returns the position up to which there is nothing for the reader.
func (w *window) leave(s selection, waiting *wait, after petstore.EventPosition) petstore.EventPosition {
	w.mu.Lock()
	defer w.mu.Unlock()
	waiting.readers--
	if w.waiting[s] != waiting { // there is something
		return after
	}
	if waiting.readers == 0 {
		delete(w.waiting, s)
	}
	if _, inMemory := w.latest.since(after); inMemory && w.latest.end().Sequence > after.Sequence {
		return w.latest.end()
	}
	return after
}

// shorten drops the oldest events if there is no more room. It leaves room for more, so that events are rarely copied.
func (v *view) shorten() {
	if v.memory <= maxMemory {
		return
	}
	dropped := 0
	for ; v.memory > maxMemory*7/8 && dropped < len(v.events)-1; dropped++ {
		v.memory -= v.events[dropped].memory()
	}
	if dropped > 0 {
		v.after = v.events[dropped-1].Position
		v.events = slices.Clone(v.events[dropped:])
	}
}

// end returns the position after the newest event that is known.
func (v *view) end() petstore.EventPosition {
	if len(v.events) == 0 {
		return v.after
	}
	return v.events[len(v.events)-1].Position
}

// known reports whether the end of the feed is known.
func (v *view) known() bool { return v.after.Feed != "" }

// since returns the events after a position. It reports false if the window does not have all of them.
func (v *view) since(p petstore.EventPosition) ([]Event, bool) {
	if p.Feed != v.after.Feed || p.Sequence < v.after.Sequence {
		return nil, false
	}
	return v.events[min(int(p.Sequence-v.after.Sequence), len(v.events)):], true
}
