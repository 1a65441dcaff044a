package feed

import (
	"sync/atomic"

	"petstore/internal/petstore"
)

// maxMemory is how many bytes of events a window has.
const maxMemory = 8 << 20

// window holds the newest events of the feed. One goroutine adds events, and any number of goroutines look at them.
type window struct{ latest atomic.Pointer[view] }

// view is the window at one moment. It never changes.
type view struct {
	// after is the position before the first of the events. Its Feed is empty until the end of the feed is known.
	after   petstore.EventPosition
	events  []Event // without gaps; the last one is the newest that is known
	memory  int     // what the events take
	changed chan struct{}
}

func newWindow() *window {
	w := &window{}
	w.latest.Store(&view{changed: make(chan struct{})})
	return w
}

// replace replaces the view and wakes up whoever waits for a change.
func (w *window) replace(next view) {
	next.changed = make(chan struct{})
	close(w.latest.Swap(&next).changed)
}

// add adds events that follow the newest one, and drops the oldest if there is no more room.
func (w *window) add(added []Event) {
	next := *w.latest.Load()
	next.events = append(next.events, added...)
	for _, e := range added {
		next.memory += e.memory()
	}
	if next.memory > maxMemory {
		next = next.shortened()
	}
	w.replace(next)
}

// shortened returns the view without its oldest events. It leaves room for more, so that events are rarely copied.
func (v view) shortened() view {
	dropped := 0
	for ; v.memory > maxMemory*7/8 && dropped < len(v.events)-1; dropped++ {
		v.memory -= v.events[dropped].memory()
	}
	if dropped > 0 {
		v.after = v.events[dropped-1].Position
		v.events = append([]Event(nil), v.events[dropped:]...)
	}
	return v
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
