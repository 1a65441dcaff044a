package petstore

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

var eventTime = time.Date(2026, time.November, 18, 12, 0, 0, 0, time.UTC)

// everyEvent returns events of every type.
func everyEvent() []Event {
	rex := Pet{ID: 7, NewPet: NewPet{Name: "Rex \"<the\\ 犬\n", CategoryID: -1, Status: Available}}
	renamed := rex
	renamed.Name, renamed.CategoryID = "Max", 0
	open := Order{ID: 3, PetID: 7, Status: Open, Reference: "Ann", CreatedAt: eventTime, ExpiresAt: eventTime.Add(time.Hour)}
	corrected := open
	corrected.Reference, corrected.ExpiresAt = "Anna", eventTime.Add(2*time.Hour)
	closed := func(status OrderStatus) Order {
		o := open
		o.Status, o.ClosedAt = status, eventTime.Add(time.Minute)
		return o
	}
	photo := Photo{ID: 1, Token: strings.Repeat("a", 32), Width: 4, Height: 3, CreatedAt: eventTime}
	profile := Profile{Facts: Facts{Breed: "Beagle", Tags: "calm\nold"}, Photos: []Photo{photo}}
	cats := Category{ID: 2, Name: "Cats"}
	events := []Event{
		PetChanged(nil, &rex),
		PetChanged(&rex, &renamed),
		PetChanged(&renamed, nil),
		ProfileChanged(7, Profile{Facts: Facts{Breed: "Dog"}}, profile),
		OrderChanged(nil, open),
		OrderChanged(&open, corrected),
		OrderChanged(&open, closed(Completed)),
		OrderChanged(&open, closed(Cancelled)),
		OrderChanged(&open, closed(Expired)),
		CategoryChanged(nil, &cats),
		CategoryChanged(&Category{ID: 2, Name: "cat"}, &cats),
		CategoryChanged(&cats, nil),
	}
	for i := range events {
		events[i].Sequence, events[i].At = int64(5+i), eventTime
		if events[i].Type != AllEventTypes[i] {
			panic(events[i].Type.String())
		}
	}
	return events
}

func TestARecordKeepsItsEvents(t *testing.T) {
	events := everyEvent()
	record := string(AppendEventRecord(nil, events))
	read, err := ReadEventRecord(record, 5, eventTime)
	if err != nil || !reflect.DeepEqual(read, events) {
		t.Errorf("%s was read as %+v, %v", record, read, err)
	}
}

func TestARemovedReferenceIsNotRecorded(t *testing.T) {
	before := Order{ID: 3, PetID: 7, Status: Open, Reference: "Ann", CreatedAt: eventTime, ExpiresAt: eventTime}
	after := before
	after.Reference = ""
	record := AppendEventRecord(nil, []Event{OrderChanged(&before, after)})
	if strings.Contains(string(record), "Ann") {
		t.Errorf("the record is %s", record)
	}
}

func FuzzReadEventRecord(f *testing.F) {
	f.Add(string(AppendEventRecord(nil, everyEvent())))
	for _, e := range everyEvent() {
		f.Add(string(AppendEventRecord(nil, []Event{e})))
	}
	f.Fuzz(func(t *testing.T, record string) {
		events, err := ReadEventRecord(record, 5, eventTime)
		if err != nil {
			return
		}
		again, err := ReadEventRecord(string(AppendEventRecord(nil, events)), 5, eventTime)
		if err != nil || len(again) != len(events) {
			t.Errorf("%q was read as %+v, then as %+v, %v", record, events, again, err)
		}
	})
}

func TestEventPositions(t *testing.T) {
	for _, text := range []string{"evt_4f7k_0", "evt_4f7k_1234", "evt_zzzz_9223372036854775806"} {
		if p, ok := ParseEventPosition(text); !ok || p.String() != text {
			t.Errorf("%s was read as %v, %v", text, p, ok)
		}
	}
	for _, text := range []string{"", "evt_", "evt_4f7k", "evt_4f7k_", "evt_4f7k_-1", "evt_4f7k_01", "evt_4f7k_+1", "evt_4F7K_1", "evt_4f7_1", "evt_4f7k2_1", "EVT_4f7k_1", "evt_4f7k_9223372036854775807", "evt_4f7k_99999999999999999999", " evt_4f7k_1"} {
		if p, ok := ParseEventPosition(text); ok {
			t.Errorf("%q was read as %v", text, p)
		}
	}
	if p, ok := ParseEventPosition(EventPosition{NewFeedName(), 1}.String()); !ok {
		t.Errorf("the position %v of a new feed cannot be read", p)
	}
}

func TestAFeedHasThePositionsFromItsOldestEventToItsNewest(t *testing.T) {
	feed := Feed{Name: "4f7k", Trimmed: 3, Last: 5}
	for sequence := range int64(8) {
		_, err := feed.Check(EventPosition{"4f7k", sequence})
		if want := sequence < 3 || sequence > 5; IsCode(err, EventsGone) != want || (err != nil) != want {
			t.Errorf("position %d: %v", sequence, err)
		}
	}
	if _, err := feed.Check(EventPosition{"4f7z", 4}); !IsCode(err, EventsGone) {
		t.Errorf("the position of another feed: %v", err)
	}
}

func TestSelectingTypes(t *testing.T) {
	for word, want := range map[string]int{"*": 12, "pet.*": 3, "order.*": 5, "profile.updated": 1, "category.deleted": 1, "": 0, "pet": 0, "pet*": 0, "pet.": 0, "p.*": 0, ".*": 0, "pet.create": 0, "webhook.ping": 0} {
		types, ok := EventTypes(0).Select(word)
		selected := 0
		for _, t := range AllEventTypes {
			if types != 0 && types.Has(t) {
				selected++
			}
		}
		if selected != want || ok != (want > 0) {
			t.Errorf("%q selects %d types, %v", word, selected, ok)
		}
	}
	if types := EventTypes(0); !types.Has(CategoryDeleted) {
		t.Error("the zero value does not select every type")
	}
}
