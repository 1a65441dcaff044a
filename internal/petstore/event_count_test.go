package petstore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// countable is a feed in memory.
type countable struct {
	records     []StoredEvents
	checkpoints []EventCheckpoint
	read        int64 // how many events were read
}

func (c *countable) OldestCheckpoint(from int64) (*EventCheckpoint, error) {
	for _, checkpoint := range c.checkpoints {
		if checkpoint.Sequence >= from {
			return &checkpoint, nil
		}
	}
	return nil, nil
}

func (c *countable) NewestCheckpoint() (*EventCheckpoint, error) {
	if len(c.checkpoints) == 0 {
		return nil, nil
	}
	return new(c.checkpoints[len(c.checkpoints)-1]), nil
}

func (c *countable) EachRecord(first, last int64, visit func(StoredEvents) error) error {
	for _, r := range c.records {
		if r.First > last || r.First+r.Count <= first {
			continue
		}
		c.read += r.Count
		if err := visit(r); err != nil {
			return err
		}
	}
	return nil
}

// addEvents appends records of random events and returns their types.
func (c *countable) addEvents(first int64, records int, random *rand.Rand) (types []EventType) {
	some := everyEvent()
	for range records {
		events := make([]Event, 1+random.IntN(100))
		for i := range events {
			events[i] = some[random.IntN(len(some))]
			types = append(types, events[i].Type)
		}
		c.records = append(c.records, StoredEvents{First: first, Count: int64(len(events)), Record: string(AppendEventRecord(nil, events))})
		first += int64(len(events))
	}
	return types
}

func (c *countable) countAll(t *testing.T, feed Feed) {
	t.Helper()
	for {
		_, next, err := NextCheckpoint(c, feed)
		if err != nil {
			t.Fatal(err)
		}
		if next == nil {
			return
		}
		c.checkpoints = append(c.checkpoints, *next)
	}
}

func TestEventsAfterAPositionAreCountedExactly(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var all countable
	types := all.addEvents(1, 1000, random)
	feed := Feed{Name: "4f7k", Last: int64(len(types))}
	all.countAll(t, feed)
	if want := len(types)/(checkpointStep+100) - 1; len(all.checkpoints) < want {
		t.Fatalf("%d events have %d checkpoints, want at least %d", len(types), len(all.checkpoints), want)
	}
	// Some events were trimmed, and some have come since.
	feed.Trimmed = all.records[300].First - 1
	all.records = all.records[300:]
	all.checkpoints = slices.DeleteFunc(all.checkpoints, func(c EventCheckpoint) bool { return c.Sequence < feed.Trimmed })
	types = append(types, all.addEvents(feed.Last+1, 50, random)...)
	feed.Last = int64(len(types))

	orders, _ := EventTypes(0).Select("order.*")
	created, _ := EventTypes(0).Select("pet.created")
	for _, selected := range []EventTypes{orders, created, orders | created, allEventTypes, 0} {
		for range 200 {
			position := feed.Trimmed + random.Int64N(feed.Last-feed.Trimmed+1)
			want := int64(0)
			for _, eventType := range types[position:] {
				if selected.Has(eventType) {
					want++
				}
			}
			all.read = 0
			if got, err := CountAfter(&all, feed, position, selected); err != nil || got != want {
				t.Fatalf("after %d of %+v there are %d events of %b (%v), want %d", position, feed, got, selected, err, want)
			}
			if most := int64(3*checkpointStep + 400); all.read > most {
				t.Fatalf("the count after %d of %+v has read %d events, want at most %d", position, feed, all.read, most)
			}
		}
	}
	if got, err := CountAfter(&all, feed, 0, orders); err != nil {
		t.Error(err)
	} else if want, _ := CountAfter(&all, feed, feed.Trimmed, orders); got != want {
		t.Errorf("from before the oldest event, %d are counted, want %d", got, want)
	}
}

func TestCountingGoesOnAfterEventsThatWereTrimmedUncounted(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var all countable
	types := all.addEvents(1, 200, random)
	feed := Feed{Last: int64(len(types))}
	all.countAll(t, feed)
	types = append(types, all.addEvents(feed.Last+1, 400, random)...)
	feed = Feed{Trimmed: all.records[300].First - 1, Last: int64(len(types))}
	all.records = all.records[300:]
	all.checkpoints = all.checkpoints[len(all.checkpoints)-1:]
	all.countAll(t, feed)
	deleted, _ := EventTypes(0).Select("pet.deleted")
	want := int64(0)
	for _, eventType := range types[feed.Trimmed:] {
		if deleted.Has(eventType) {
			want++
		}
	}
	if got, err := CountAfter(&all, feed, feed.Trimmed, deleted); err != nil || got != want {
		t.Errorf("%d events are counted (%v), want %d", got, err, want)
	}
}

func TestARecordIsCountedWithoutBeingRead(t *testing.T) {
	record := string(AppendEventRecord(nil, everyEvent()))
	for skip := range int64(len(AllEventTypes)) {
		var counts, want EventCounts
		if err := counts.addRecord(record, skip, 1); err != nil {
			t.Fatal(err)
		}
		want[AllEventTypes[skip]] = 1
		if counts != want {
			t.Errorf("event %d is counted as %v, want %v", skip, counts, want)
		}
		if parsed, err := ParseEventCounts(counts.String()); err != nil || parsed != counts {
			t.Errorf("%v was read as %v, %v", counts, parsed, err)
		}
	}
	for _, malformed := range []string{"", "[]", `[[1,"`, `[[13,1]]`, `[[0]]`, `[["a",1]]`, `[[`, fmt.Sprint(record[:20])} {
		if err := new(EventCounts).addRecord(malformed, 0, 13); err == nil {
			t.Errorf("%q was counted", malformed)
		}
	}
}
