package petstore

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// This file counts events by type without reading each of them. A storage keeps checkpoints: how many events of each type
// there were up to some sequence. Between two checkpoints only the events beside them need to be read.

// checkpointStep is how many events there are between two checkpoints, and at most a record more.
const checkpointStep = 4096

// EventCounts has the number of events of each type.
type EventCounts [len(eventTypeNames)]int64

// String returns the counts as databases keep them.
func (c EventCounts) String() string {
	text, _ := json.Marshal(c)
	return string(text)
}

// ParseEventCounts reads counts as String returns them.
func ParseEventCounts(text string) (c EventCounts, err error) {
	err = json.Unmarshal([]byte(text), &c)
	return c, err
}

// of returns how many events of these types there are.
func (c EventCounts) of(types EventTypes) (n int64) {
	for _, t := range AllEventTypes {
		if types.Has(t) {
			n += c[t]
		}
	}
	return n
}

// EventCheckpoint has the number of events of each type up to and including that sequence, since counting began.
type EventCheckpoint struct {
	Sequence int64
	Counts   EventCounts
}

// CountableEvents is what a storage tells about the events of its feed, so that they can be counted.
type CountableEvents interface {
	// OldestCheckpoint returns the oldest checkpoint that has the sequence or a higher one, and NewestCheckpoint the newest of
	// all. They return nil if there is none.
	OldestCheckpoint(from int64) (*EventCheckpoint, error)
	NewestCheckpoint() (*EventCheckpoint, error)
	// EachRecord calls visit with the records of the events from first to last, oldest first. The outermost records may
	// contain more events.
	EachRecord(first, last int64, visit func(StoredEvents) error) error
}

// CountAfter returns how many events of these types follow a position in a feed. It reads at most the events of two steps
// between checkpoints, and those that CountEvents has yet to count.
func CountAfter(events CountableEvents, feed Feed, position int64, types EventTypes) (int64, error) {
	position = max(position, feed.Trimmed)
	if position >= feed.Last {
		return 0, nil
	}
	if types == 0 || types == allEventTypes {
		return feed.Last - position, nil
	}
	oldest, err := events.OldestCheckpoint(position)
	if err != nil {
		return 0, err
	}
	if oldest == nil || oldest.Sequence > feed.Last {
		counts, err := countBetween(events, position, feed.Last)
		return counts.of(types), err
	}
	newest, err := events.NewestCheckpoint()
	if err != nil {
		return 0, err
	}
	before, err := countBetween(events, position, oldest.Sequence)
	if err != nil {
		return 0, err
	}
	after, err := countBetween(events, newest.Sequence, feed.Last)
	return before.of(types) + newest.Counts.of(types) - oldest.Counts.of(types) + after.of(types), err
}

var allEventTypes, _ = EventTypes(0).Select("*")

// countBetween counts the events after one sequence, up to and including another.
func countBetween(events CountableEvents, after, upTo int64) (counts EventCounts, err error) {
	if after >= upTo {
		return counts, nil
	}
	err = events.EachRecord(after+1, upTo, func(r StoredEvents) error {
		first, last := max(after+1, r.First), min(upTo, r.First+r.Count-1)
		return counts.addRecord(r.Record, first-r.First, last-first+1)
	})
	return counts, err
}

// NextCheckpoint returns the checkpoint that is missing after the newest one, or nil if there are too few events for one. The
// newest checkpoint is base, or nil if there is none. Trimmed events count for nothing, because no position is before them.
func NextCheckpoint(events CountableEvents, feed Feed) (base, next *EventCheckpoint, err error) {
	if base, err = events.NewestCheckpoint(); err != nil {
		return nil, nil, err
	}
	next = &EventCheckpoint{Sequence: feed.Trimmed}
	if base != nil {
		*next = EventCheckpoint{max(base.Sequence, feed.Trimmed), base.Counts}
	}
	if feed.Last-next.Sequence < checkpointStep {
		return base, nil, nil
	}
	counted := next.Sequence
	err = events.EachRecord(counted+1, counted+checkpointStep, func(r StoredEvents) error {
		skip := max(counted+1-r.First, 0)
		next.Sequence = r.First + r.Count - 1
		return next.Counts.addRecord(r.Record, skip, r.Count-skip)
	})
	if err != nil || next.Sequence == counted { // or the events were trimmed meanwhile
		return base, nil, err
	}
	return base, next, nil
}

// addRecord counts some events of a record: as many as take, after the first ones, which it skips.
func (c *EventCounts) addRecord(record string, skip, take int64) error {
	depth := 0
	for i := 0; i < len(record) && take > 0; i++ {
		switch record[i] {
		case '"':
			end := endOfString(record[i+1:])
			if end < 0 {
				return malformedRecord(record)
			}
			i += 1 + end
		case '[', '{':
			depth++
			if depth != 2 {
				continue
			}
			if skip > 0 {
				skip--
				continue
			}
			digits, _, _ := strings.Cut(record[i+1:min(i+4, len(record))], ",")
			t, err := strconv.Atoi(digits)
			if err != nil || t < 1 || t >= len(c) {
				return malformedRecord(record)
			}
			c[t]++
			take--
		case ']', '}':
			depth--
		}
	}
	if take > 0 {
		return malformedRecord(record)
	}
	return nil
}

// endOfString returns the index of the quotation mark that ends a JSON string, or -1.
func endOfString(s string) int {
	for from := 0; ; {
		end := strings.IndexByte(s[from:], '"')
		if end < 0 {
			return -1
		}
		end += from
		if text := s[:end]; (len(text)-len(strings.TrimRight(text, `\`)))%2 == 0 {
			return end
		}
		from = end + 1
	}
}

func malformedRecord(record string) error {
	return fmt.Errorf("a record of %d bytes is malformed or has too few events", len(record))
}
