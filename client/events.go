package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// EventType says what happened to what. The service may have types that are not listed here yet.
type EventType string

// The types of events. In a query and in a webhook, a pattern such as "pet.*" selects all types of a noun.
const (
	PetCreated      EventType = "pet.created"
	PetUpdated      EventType = "pet.updated"
	PetDeleted      EventType = "pet.deleted"
	ProfileUpdated  EventType = "profile.updated" // photos too
	OrderPlaced     EventType = "order.placed"
	OrderUpdated    EventType = "order.updated"
	OrderCompleted  EventType = "order.completed"
	OrderCancelled  EventType = "order.cancelled"
	OrderExpired    EventType = "order.expired"
	CategoryCreated EventType = "category.created"
	CategoryUpdated EventType = "category.updated"
	CategoryDeleted EventType = "category.deleted"
)

// Event is one change of the store. The body of a webhook's delivery is one too.
type Event struct {
	// ID names the place of the event in the feed. To go on after the event, use ID as the After of a query.
	ID string `json:"id"`
	// Sequence counts the events of the feed, without gaps.
	Sequence  int64     `json:"sequence"`
	Type      EventType `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	// Data is what was changed, as it is after the change, or as it was before it was deleted. The methods Pet, Profile,
	// Order and Category decode it.
	Data json.RawMessage `json:"data"`
	// Previous has the old values of the members of Data that changed. A member that had no value is missing.
	Previous json.RawMessage `json:"previous,omitempty"`

	server string // completes the addresses of photos
}

// Pet returns the animal of an event whose type is PetCreated, PetUpdated or PetDeleted.
func (e Event) Pet() (p Pet, err error) {
	err = e.decode("pet.", &p)
	return p, err
}

// Order returns the order of an event whose type begins with "order.".
func (e Event) Order() (o Order, err error) {
	err = e.decode("order.", &o)
	return o, err
}

// Category returns the category of an event whose type begins with "category.".
func (e Event) Category() (c Category, err error) {
	err = e.decode("category.", &c)
	return c, err
}

// Profile returns the id of the animal and its profile, of an event whose type is ProfileUpdated.
func (e Event) Profile() (petID int64, p Profile, err error) {
	var data petProfile
	err = e.decode("profile.", &data)
	completeAddresses(&data.Profile, e.server)
	return data.PetID, data.Profile, err
}

// petProfile is the Data of a ProfileUpdated.
type petProfile struct {
	PetID   int64   `json:"petId"`
	Profile Profile `json:"profile"`
}

func (p *petProfile) missing() bool { return p.PetID == 0 }

// decode reads the Data of an event whose type begins with noun.
func (e Event) decode(noun string, out interface{ missing() bool }) error {
	if !strings.HasPrefix(string(e.Type), noun) {
		return fmt.Errorf("the event %s has the type %s, so its data is something else", e.ID, e.Type)
	}
	err := json.Unmarshal(e.Data, out)
	if err == nil && out.missing() {
		err = errors.New("it is empty")
	}
	if err != nil {
		return fmt.Errorf("the data of the event %s is not what this client understands: %w", e.ID, err)
	}
	return nil
}

// Places in the feed that After can name besides the id of an event.
const (
	Oldest = "oldest" // before the oldest event that is kept
	Now    = "now"    // after the newest event
)

// EventQuery selects events. A field that is zero or nil does not restrict the selection.
type EventQuery struct {
	After string      // selects the events that follow the one with this id; empty is Oldest
	Types []EventType // selects the events of these types, or of patterns such as "pet.*"
	PetID *int64      // selects the events of the animal with this id, its orders and its profile
	Limit int         // the number of events per page, up to 1,000; if zero, ListEvents uses 100 and Events 1,000
}

func (q EventQuery) encode() string {
	v := paging(q.Limit, "")
	if q.After != Oldest {
		set(v, "after", q.After)
	}
	words := make([]string, len(q.Types))
	for i, t := range q.Types {
		words[i] = string(t)
	}
	set(v, "types", strings.Join(words, ","))
	setID(v, "petId", q.PetID)
	return v.Encode()
}

// EventPage is one page of the feed.
type EventPage struct {
	Items []Event // oldest first
	// Next is the After of the page that follows. It is never empty, because there will be more events.
	Next string
	// End says that no event followed the page when the service read it. If it is false, there are more pages, even if this
	// one is short or empty.
	End bool
}

// maxEvents is how many events the largest page has.
const maxEvents = 1000

// ListEvents returns one page of the feed, the oldest events first. It returns ErrEventsGone if the feed no longer has the
// place that the query names.
func (c *Client) ListEvents(ctx context.Context, q EventQuery, options ...CallOption) (EventPage, error) {
	r := newRequest(http.MethodGet, "/events", options)
	r.query = q.encode()
	var p EventPage
	a, err := c.exchange(ctx, r, &p.Items)
	if err != nil {
		return EventPage{}, err
	}
	next, err := url.ParseQuery(nextQuery(a.header))
	p.Next = next.Get("after")
	p.End = a.header.Get("Petstore-Feed-End") == "true"
	if err != nil || p.Next == "" {
		return EventPage{}, fmt.Errorf("the answer to GET /events does not say how to go on; check that %s is the service, and that no proxy removes the header Link", c.base)
	}
	return p, nil
}

// Events iterates over the events that the feed has, the oldest first, page by page, and ends at the end of the feed. An error
// ends the iteration. To get the events that follow too, as they happen, use Follow.
func (c *Client) Events(ctx context.Context, q EventQuery, options ...CallOption) iter.Seq2[Event, error] {
	if q.Limit == 0 {
		q.Limit = maxEvents
	}
	return func(yield func(Event, error) bool) {
		for q := q; ; {
			p, err := c.ListEvents(ctx, q, options...)
			if err != nil {
				yield(Event{}, err)
				return
			}
			for _, e := range p.Items {
				if !yield(e, nil) {
					return
				}
			}
			if p.End {
				return
			}
			q.After = p.Next
		}
	}
}

func (e *Event) missing() bool { return e.ID == "" || len(e.Data) == 0 }
