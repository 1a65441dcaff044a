package history

import (
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// seen is when somebody else first saw what a write did, or never if nobody did.
func (s *subject) seen(write *event) time.Duration {
	switch write.kind {
	case born:
		return s.firstSeen(func(e *event) bool {
			return e != write && e.called >= write.called && (e.kind == shown || e.kind == patched || e.kind == ordered)
		})
	case patched:
		if write.fields.Name == nil {
			return write.returned
		}
		return s.firstSeen(func(e *event) bool {
			return e != write && (e.kind == shown || e.kind == patched) && e.pet.Name == *write.fields.Name
		})
	case deleted:
		return s.firstSeen(func(e *event) bool { return e.kind == hidden && e.status == "" && e.called >= write.called })
	case ordered:
		return s.firstSeen(func(e *event) bool {
			return (e.kind == orderShown || e.kind == closed || e.kind == reserved) && e.order == write.order
		})
	case closed:
		return s.firstSeen(func(e *event) bool {
			return e != write && (e.kind == orderShown || e.kind == closed) && e.order == write.order && e.status == write.status
		})
	}
	return write.returned
}

// withoutUnseen returns the animal without the writes that nobody ever saw, as if their outcome were unknown.
func (s *subject) withoutUnseen() (without *subject, some bool) {
	copied := *s
	copied.events, copied.floats = nil, slices.Clone(s.floats)
	for _, e := range s.events {
		if e.looks() || s.seen(e) != never {
			copied.events = append(copied.events, e)
			continue
		}
		some = true
		if e.kind == patched {
			f := float{e.called, *e.fields}
			f.Name = nil
			copied.floats = append(copied.floats, f)
		}
	}
	return &copied, some
}

// late returns the events with longer spans for the writes: each write may now happen after its answer, until somebody
// saw it.
func (s *subject) late() (events []*event) {
	for _, e := range s.events {
		if !e.looks() {
			later := *e
			if seen := s.seen(e); seen != never {
				later.returned = max(e.returned, seen)
			}
			e = &later
		}
		events = append(events, e)
	}
	return events
}

// readsOnly reports whether the history of an animal is possible without a few reads.
func (c *checker) readsOnly(s *subject) bool {
	rest := *s
	for range 100 {
		culprit, _ := c.firstImpossible(&rest)
		if !culprit.looks() {
			return false
		}
		rest.events = slices.DeleteFunc(slices.Clone(rest.events), func(e *event) bool { return e == culprit })
		if rest.linearizable(rest.events, c.patience()) == porcupine.Ok {
			return true
		}
	}
	return false
}
