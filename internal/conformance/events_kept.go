package conformance

import (
	"fmt"
	"math"
	"strings"
	"time"

	"petstore/internal/petstore"
)

// trim removes events until no more are to be removed, and returns their number.
func (t storageTest) trim(kept petstore.EventsKept) (removed int64) {
	t.Helper()
	for {
		n, err := t.TrimEvents(t.Context(), kept)
		t.noError(err)
		if n == 0 {
			return removed
		}
		removed += n
	}
}

func (t storageTest) feedStats() petstore.FeedStats {
	t.Helper()
	t.noError(t.NumberEvents(t.Context()))
	stats, err := t.FeedStats(t.Context())
	t.noError(err)
	return stats
}

// records returns all records of events as one text.
func (t storageTest) records() (text string) {
	t.Helper()
	var after petstore.StoredEvents
	for {
		events, err := t.StoredEvents(t.Context(), after, 100)
		t.noError(err)
		if len(events) == 0 {
			return text
		}
		for _, e := range events {
			text += e.Record + "\n"
			after = e
		}
	}
}

var eventsKeptCases = []storageCase{
	{"events that are too old are removed", func(t storageTest) {
		t.addMany(30)
		before := t.feed()
		t.same("removed", t.trim(petstore.EventsKept{Age: time.Hour, Bytes: math.MaxInt64}), int64(0))
		t.same("the feed", t.feed(), before)
		t.same("removed", t.trim(petstore.EventsKept{Age: 0, Bytes: math.MaxInt64}), int64(30))
		stats := t.feedStats()
		t.same("the feed", stats, petstore.FeedStats{Feed: petstore.Feed{Name: stats.Name, Trimmed: 30, Last: 30}})
		t.same("events", len(t.feed()), 0)
		t.add(rex)
		t.same("the next event", t.feed()[0].Sequence, int64(31))
		t.gone(petstore.EventPosition{Feed: stats.Name, Sequence: 29})
	}},
	{"the oldest events are removed until the rest takes few enough bytes", func(t storageTest) {
		var pets []petstore.Pet
		for range 60 {
			pet := t.add(rex)
			t.patch(pet.ID, withName("Max"))
			pets = append(pets, pet)
		}
		t.createCategory("Dogs")
		before, all := t.feedStats(), t.feed()
		if before.Bytes < int64(10*len(all)) || before.Bytes > int64(200*len(all)) {
			t.Errorf("%d events take %d bytes", len(all), before.Bytes)
		}
		t.same("removed", t.trim(petstore.EventsKept{Age: time.Hour, Bytes: before.Bytes}), int64(0))
		for _, share := range []int64{3, 2} { // of four parts
			limit := before.Bytes * share / 4
			t.trim(petstore.EventsKept{Age: time.Hour, Bytes: limit})
			after := t.feedStats()
			if after.Bytes > limit || after.Bytes < limit*8/10 {
				t.Errorf("%d bytes are kept, and the limit is %d", after.Bytes, limit)
			}
			t.same("the end", after.Last, before.Last)
			if after.Trimmed == 0 {
				t.Error("nothing is trimmed")
			}
			t.same("what is kept", t.feed(), all[after.Trimmed:])
			oldest := petstore.EventPosition{Feed: after.Name, Sequence: after.Trimmed}
			t.same("after the oldest position", t.page(petstore.EventQuery{After: &oldest, Limit: 1}).Events, all[after.Trimmed:after.Trimmed+1])
			oldest.Sequence--
			t.gone(oldest)
			for _, pet := range pets {
				var want []petstore.Event
				for _, e := range all[after.Trimmed:] {
					if e.PetID() == pet.ID {
						want = append(want, e)
					}
				}
				t.same("of an animal", t.follow(petstore.EventQuery{PetID: &pet.ID, Limit: 10}), want)
			}
		}
		t.trim(petstore.EventsKept{Age: time.Hour})
		t.same("what is left", t.feedStats(), petstore.FeedStats{Feed: petstore.Feed{Name: before.Name, Trimmed: before.Last, Last: before.Last}})
	}},
	{"several processes can remove events at once, beside writes", func(t storageTest) {
		t.addMany(50)
		t.concurrently(8, func(i int) error {
			if i%2 == 0 {
				for range 20 {
					if _, _, err := t.CreatePet(t.Context(), rex, nil); err != nil {
						return err
					}
				}
				return nil
			}
			for range 20 {
				if _, err := t.TrimEvents(t.Context(), petstore.EventsKept{Age: time.Hour, Bytes: 500}); err != nil {
					return err
				}
			}
			return nil
		})
		t.trim(petstore.EventsKept{Age: time.Hour, Bytes: 500})
		stats, events := t.feedStats(), t.feed()
		t.same("the end", stats.Last, int64(130))
		t.same("what is kept", int64(len(events)), stats.Last-stats.Trimmed)
		if stats.Bytes > 500 {
			t.Errorf("%d bytes are kept", stats.Bytes)
		}
	}},
	{"every committed event is counted by the facts about the feed", func(t storageTest) {
		t.addMany(5)
		t.noError(t.NumberEvents(t.Context()))
		stats := t.feedStats()
		t.same("the feed", stats, petstore.FeedStats{Feed: petstore.Feed{Name: stats.Name, Last: 5}, Bytes: int64(len(t.records()) - strings.Count(t.records(), "\n"))})
	}},
	{"a reference that is removed is gone from the feed", func(t storageTest) {
		pet, other := t.add(rex), t.add(rex)
		order, place := petstore.Order{}, func(petID int64, reference string) petstore.Order {
			order, _, err := t.PlaceOrder(t.Context(), petstore.NewOrder{PetID: petID, Reference: reference, Hold: time.Hour}, nil)
			t.noError(err)
			return order
		}
		set := func(reference string) { t.updateOrder(order.ID, petstore.OrderPatch{Reference: &reference}) }
		place(other.ID, "Zoe")
		t.closeOrder(place(pet.ID, "Kim").ID, petstore.Cancelled)
		order = place(pet.ID, "Ann Secret")
		t.updateProfile(pet.ID, withFacts(fullFacts))
		set("Bob \"Secret\"")
		t.createCategory("Secretaries")
		set("Eve Secret")
		t.closeOrder(order.ID, petstore.Completed)
		before := t.feed()
		text := t.records()
		for _, word := range []string{"Ann Secret", "Bob ", "Eve Secret"} {
			if !strings.Contains(text, word) {
				t.Fatalf("the feed does not have %q", word)
			}
		}
		set("")
		if text := t.records(); strings.Contains(text, "Secret\"") || strings.Contains(text, "Bob") {
			t.Fatalf("the feed still has a reference:\n%s", text)
		}
		after := t.feed()
		t.same("events", len(after), len(before)+1)
		for i, e := range before {
			if e.Order != nil && e.Order.Now.ID == order.ID {
				e.Order.Now.Reference = ""
				if e.Order.Before != nil {
					e.Order.Before.Reference = ""
				}
			}
			t.same(fmt.Sprint("event ", e.Sequence), showEvents(after[i:i+1]), showEvents([]petstore.Event{e}))
			t.same("its time", after[i].At, e.At)
		}
		last := after[len(after)-1]
		t.same("the last event", last.Type, petstore.OrderUpdated)
		t.same("what is known of the reference", last.Order.Now.Reference+last.Order.Before.Reference, "")
		if text := t.records(); !strings.Contains(text, "Zoe") || !strings.Contains(text, "Kim") {
			t.Errorf("the feed has lost the references of other orders:\n%s", text)
		}
		t.same("of the animal", len(t.follow(petstore.EventQuery{PetID: &pet.ID, Limit: 100})), 1+4+2+1+1+1+2+1)
		_, err := t.TrimEvents(t.Context(), petstore.EventsKept{Age: time.Hour, Bytes: math.MaxInt64})
		t.noError(err)
	}},
	{"a feed with a new name has its events, but none of the positions of before", func(t storageTest) {
		t.addMany(3)
		before, end := t.feed(), t.end()
		t.noError(t.ResetFeed(t.Context()))
		for sequence := range int64(5) {
			t.gone(petstore.EventPosition{Feed: end.Feed, Sequence: sequence})
		}
		t.same("events", t.feed(), before)
		t.add(rex)
		if now := t.end(); now.Feed == end.Feed || now.Sequence != 4 {
			t.Errorf("the feed ended at %v and ends at %v", end, now)
		}
	}},
}
