package petstore

import (
	"context"
	"crypto/rand"
	"math"
	"strconv"
	"strings"
	"time"
)

// EventType says what happened to what. Databases store the number of a type, so the numbers must never change.
type EventType uint8

// The types of events.
const (
	PetCreated      EventType = 1
	PetUpdated      EventType = 2
	PetDeleted      EventType = 3
	ProfileUpdated  EventType = 4
	OrderPlaced     EventType = 5
	OrderUpdated    EventType = 6
	OrderCompleted  EventType = 7
	OrderCancelled  EventType = 8
	OrderExpired    EventType = 9
	CategoryCreated EventType = 10
	CategoryUpdated EventType = 11
	CategoryDeleted EventType = 12
)

var eventTypeNames = [...]string{
	PetCreated: "pet.created", PetUpdated: "pet.updated", PetDeleted: "pet.deleted",
	ProfileUpdated: "profile.updated",
	OrderPlaced:    "order.placed", OrderUpdated: "order.updated",
	OrderCompleted: "order.completed", OrderCancelled: "order.cancelled", OrderExpired: "order.expired",
	CategoryCreated: "category.created", CategoryUpdated: "category.updated", CategoryDeleted: "category.deleted",
}

// String returns the type as the API spells it.
func (t EventType) String() string {
	if int(t) < len(eventTypeNames) {
		return eventTypeNames[t]
	}
	return ""
}

// AllEventTypes lists every type of event.
var AllEventTypes = []EventType{
	PetCreated, PetUpdated, PetDeleted, ProfileUpdated,
	OrderPlaced, OrderUpdated, OrderCompleted, OrderCancelled, OrderExpired,
	CategoryCreated, CategoryUpdated, CategoryDeleted,
}

// EventTypes is a set of types of events. The zero value selects every type.
type EventTypes uint16

// Has reports whether the set contains a type.
func (s EventTypes) Has(t EventType) bool { return s == 0 || s>>t&1 == 1 }

// Select returns the set with the types that a word names in addition: a type as the API spells it, all types of a noun,
// such as pet.*, or all types (*). It reports whether the word names any.
func (s EventTypes) Select(word string) (EventTypes, bool) {
	prefix, isPattern := strings.CutSuffix(word, "*")
	named := false
	for _, t := range AllEventTypes {
		name := t.String()
		if name == word || isPattern && (prefix == "" || strings.HasSuffix(prefix, ".") && strings.HasPrefix(name, prefix)) {
			s |= 1 << t
			named = true
		}
	}
	return s, named
}

// Event is one change of the store. Exactly one of Pet, Profile, Order and Category is set: the one that its type is about.
type Event struct {
	// Sequence is 1 for the first event of a feed, and one higher for each event that follows.
	Sequence int64
	Type     EventType
	// At has whole milliseconds.
	At       time.Time
	Pet      *Changed[Pet]
	Profile  *Changed[PetProfile]
	Order    *Changed[Order]
	Category *Changed[Category]
}

// Changed is a record after a change, or the last state of a deleted record.
type Changed[T any] struct {
	Now T
	// Before is the record before the change. It is nil if the record is new or deleted.
	Before *T
}

// PetProfile is the profile of an animal.
type PetProfile struct {
	PetID int64
	Profile
}

// PetChanged returns the event of a changed animal. An animal without a state before is new, and one without a state after is
// deleted.
func PetChanged(before, after *Pet) Event {
	switch {
	case before == nil:
		return Event{Type: PetCreated, Pet: &Changed[Pet]{Now: *after}}
	case after == nil:
		return Event{Type: PetDeleted, Pet: &Changed[Pet]{Now: *before}}
	}
	return Event{Type: PetUpdated, Pet: &Changed[Pet]{Now: *after, Before: before}}
}

// ProfileChanged returns the event of a changed profile.
func ProfileChanged(petID int64, before, after Profile) Event {
	return Event{Type: ProfileUpdated, Profile: &Changed[PetProfile]{Now: PetProfile{petID, after}, Before: &PetProfile{petID, before}}}
}

// OrderChanged returns the event of a changed order. An order without a state before is new.
func OrderChanged(before *Order, after Order) Event {
	e := Event{Type: OrderPlaced, Order: &Changed[Order]{Now: after, Before: before}}
	switch {
	case before == nil:
	case before.Status == after.Status:
		e.Type = OrderUpdated
	default:
		e.Type = map[OrderStatus]EventType{Completed: OrderCompleted, Cancelled: OrderCancelled, Expired: OrderExpired}[after.Status]
	}
	return e
}

// CategoryChanged returns the event of a changed category. A category without a state before is new, and one without a state
// after is deleted.
func CategoryChanged(before, after *Category) Event {
	switch {
	case before == nil:
		return Event{Type: CategoryCreated, Category: &Changed[Category]{Now: *after}}
	case after == nil:
		return Event{Type: CategoryDeleted, Category: &Changed[Category]{Now: *before}}
	}
	return Event{Type: CategoryUpdated, Category: &Changed[Category]{Now: *after, Before: before}}
}

// PetID returns the id of the animal that the event is about, or zero.
func (e Event) PetID() int64 {
	switch {
	case e.Pet != nil:
		return e.Pet.Now.ID
	case e.Profile != nil:
		return e.Profile.Now.PetID
	case e.Order != nil:
		return e.Order.Now.PetID
	}
	return 0
}

// EventPosition is a place in a feed: directly after the event with that sequence.
type EventPosition struct {
	Feed     string
	Sequence int64
}

const eventPrefix = "evt_"

// String returns the position as the API spells it, which is also the id of the event before it.
func (p EventPosition) String() string {
	return eventPrefix + p.Feed + "_" + strconv.FormatInt(p.Sequence, 10)
}

// ParseEventPosition reads a position as String spells it.
func ParseEventPosition(s string) (p EventPosition, ok bool) {
	rest, ok := strings.CutPrefix(s, eventPrefix)
	feed, sequence, found := strings.Cut(rest, "_")
	if !ok || !found || len(feed) != feedNameLength || strings.Trim(feed, feedNameLetters) != "" {
		return p, false
	}
	p.Feed = feed
	p.Sequence, _ = strconv.ParseInt(sequence, 10, 64)
	return p, p.Sequence >= 0 && p.Sequence < math.MaxInt64 && p.String() == s
}

const (
	feedNameLength  = 4
	feedNameLetters = "0123456789abcdefghijklmnopqrstuvwxyz"
)

// NewFeedName returns a random name for a feed.
func NewFeedName() string {
	name := make([]byte, feedNameLength)
	rand.Read(name)
	for i, b := range name {
		name[i] = feedNameLetters[int(b)%len(feedNameLetters)]
	}
	return string(name)
}

// Feed says which events a storage has.
type Feed struct {
	// Name tells the feed from every other one, and from itself before a restore.
	Name string
	// Trimmed is the sequence of the newest event that was removed because of its age, or zero. The oldest event that is
	// kept follows it.
	Trimmed int64
	// Last is the sequence of the newest event. It equals Trimmed if no event is kept.
	Last int64
}

// Check returns the sequence of a position. It returns an Error with the code EventsGone if the position is of another feed,
// before the oldest event that is kept, or after the newest.
func (f Feed) Check(p EventPosition) (sequence int64, err error) {
	if p.Feed != f.Name || p.Sequence < f.Trimmed || p.Sequence > f.Last {
		return 0, &Error{Code: EventsGone, Oldest: EventPosition{f.Name, f.Trimmed}}
	}
	return p.Sequence, nil
}

// EventQuery selects a page of events.
type EventQuery struct {
	// After selects the events that follow a position; nil selects all that are kept.
	After *EventPosition
	// FromEnd selects the events that will follow the newest, in place of After: a page that is empty, and its position.
	FromEnd bool
	// Types selects the events of these types.
	Types EventTypes
	// PetID selects the events of the animal, its orders and its profile; nil selects all.
	PetID *int64
	// Limit is the largest number of events returned.
	Limit int
}

// Selects reports whether an event has the types and the animal of the query.
func (q EventQuery) Selects(e Event) bool {
	return q.Types.Has(e.Type) && (q.PetID == nil || e.PetID() == *q.PetID && e.Category == nil)
}

// MaxEventsExamined is how many events a Storage looks at for one page.
const MaxEventsExamined = 10_000

// EventPage is a page of events.
type EventPage struct {
	Feed   Feed
	Events []Event // oldest first
	// Next is the position after everything that was looked at, whether it was selected or not.
	Next EventPosition
	// End reports that no event followed Next when the page was read.
	End bool
}

// Events reads the feed: the changes of animals, profiles, orders and categories, each exactly once, in one order that all
// readers share. The event of a change belongs to its transaction. A change that was acknowledged before another one began
// comes before it, and a page shows everything that was acknowledged before it was asked for.
type Events interface {
	// ListEvents returns a page of at most q.Limit events. A page without a PetID looks at MaxEventsExamined events at
	// most. It returns an Error with the code EventsGone if the feed does not have the position q.After.
	ListEvents(ctx context.Context, q EventQuery) (EventPage, error)
	// AwaitEvents returns nil when there may be events after that sequence: at the latest after a second, and at once if
	// there are already some. It returns the error of ctx if ctx ends first.
	AwaitEvents(ctx context.Context, after int64) error
}

// EventUpkeep is what a server does for the feed besides answering requests. Any number of processes may do it at the same
// time.
type EventUpkeep interface {
	// NumberEvents gives a place in the feed to the events that have none yet. Reading the feed does so too. A storage that
	// numbers the events as they are committed does nothing.
	NumberEvents(ctx context.Context) error
	// TrimEvents removes some of the oldest events that exceed what is kept and returns their number, which is zero when
	// there are no more to remove.
	TrimEvents(ctx context.Context, kept EventsKept) (int64, error)
	// CountEvents counts the events that were not counted yet, some thousand at a time, so that it costs little to say how
	// far a webhook is behind.
	CountEvents(ctx context.Context) error
	// FeedStats returns facts about the feed for the metrics.
	FeedStats(ctx context.Context) (FeedStats, error)
	// ResetFeed gives the feed a new name, so that every position of before is gone. Webhooks are disabled and go on at the
	// end of the feed. It is called after the database was recovered to an earlier state.
	ResetFeed(ctx context.Context) error
}

// EventsKept says which events are kept: those that are younger than Age, as long as all of them take at most Bytes.
type EventsKept struct {
	Age   time.Duration
	Bytes int64
}

// FeedStats has facts about the feed for the metrics.
type FeedStats struct {
	Feed
	// Bytes is the size of the events that are kept, without the index by animal.
	Bytes int64
	// Unnumbered is how many changes have no place in the feed yet, and OldestUnnumbered is the time of the oldest.
	Unnumbered       int64
	OldestUnnumbered time.Time
}
