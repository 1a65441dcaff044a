package httpapi

import (
	"context"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"petstore/internal/petstore"
)

const (
	defaultEvents = 100
	maxEvents     = 1000
	// maxEventPage is how many bytes a page of events has, unless its first event alone has more.
	maxEventPage = 1 << 20
	// eventChunk is how many events are read from the storage at once. Events may be long, so a page of short events may
	// take several queries, and one of long events does not take much more memory than the page has bytes.
	eventChunk = 200
)

// eventsQuery is the query of listEvents.
type eventsQuery struct {
	petstore.EventQuery
	types string // the parameter types as it was given
}

func newEventsQuery() eventsQuery {
	return eventsQuery{EventQuery: petstore.EventQuery{Limit: defaultEvents}}
}

var eventParameters = append([]parameter[eventsQuery]{
	{"limit", func(q eventsQuery, s string) (_ eventsQuery, ok bool) {
		n, ok := parseDecimal(s)
		q.Limit = int(n)
		return q, ok && n >= 1 && n <= maxEvents
	}, "limit must be a whole number from 1 to 1000."},
}, streamParameters...)

// streamParameters are the parameters of listEvents that a stream has too.
var streamParameters = []parameter[eventsQuery]{
	{"after", func(q eventsQuery, s string) (_ eventsQuery, ok bool) {
		if q.FromEnd = s == "now"; q.FromEnd {
			return q, true
		}
		position, ok := petstore.ParseEventPosition(s)
		q.After = &position
		return q, ok
	}, "after must be the id of an event, such as evt_4f7k_1234, or now."},
	{"types", func(q eventsQuery, s string) (_ eventsQuery, ok bool) {
		q.types = s
		for word := range strings.SplitSeq(s, ",") {
			if q.Types, ok = q.Types.Select(word); !ok {
				return q, false
			}
		}
		return q, true
	}, "types must be types of events, separated by commas, such as pet.created,order.* or *."},
	{"petId", func(q eventsQuery, s string) (eventsQuery, bool) {
		id, ok := parseInt64(s)
		q.PetID = &id
		return q, ok
	}, "petId must be a whole number from -9223372036854775808 to 9223372036854775807."},
}

func (a *API) listEvents(x *exchange) error {
	if acceptsStream(x.r) {
		return a.openStream(x)
	}
	q, err := parseQuery(x.r.URL.RawQuery, newEventsQuery(), eventParameters)
	if err != nil {
		return err
	}
	page, err := a.eventPage(x.r.Context(), q, x.seesPrivate())
	if err != nil {
		return err
	}
	return x.respondPage(page)
}

// acceptsStream reports whether the client asks for a stream.
func acceptsStream(r *http.Request) bool {
	for _, value := range r.Header["Accept"] {
		for item := range strings.SplitSeq(value, ",") {
			kind, parameters, _ := mime.ParseMediaType(item)
			if weight, err := strconv.ParseFloat(parameters["q"], 64); kind == "text/event-stream" && (err != nil || weight > 0) {
				return true
			}
		}
	}
	return false
}

// eventPage encodes a page of events. It may ask the storage several times, which makes no difference: what the feed has stays
// as it is.
func (a *API) eventPage(ctx context.Context, q eventsQuery, private bool) (page answer, err error) {
	b := buffers.Get().(*[]byte)
	defer buffers.Put(b)
	*b = append((*b)[:0], '[')
	var found petstore.EventPage
	for left, looked := q.Limit, int64(0); ; {
		asked := q.EventQuery
		asked.Limit = min(left, eventChunk)
		if found.Feed.Name != "" {
			asked.After = new(found.Next)
		}
		if found, err = a.Storage.ListEvents(ctx, asked); err != nil {
			return answer{}, err
		}
		if asked.After != nil {
			looked += found.Next.Sequence - asked.After.Sequence
		}
		whole := a.appendEvents(b, &found, private)
		left -= len(found.Events)
		if !whole || left == 0 || len(found.Events) < asked.Limit || looked >= petstore.MaxEventsExamined {
			break
		}
	}
	return answer{string(append(*b, ']')), a.links.nextEvents(q, found.Next), found.End}, nil
}

// appendEvents appends events to the page b. It reports whether all of them fit. If not, it shortens found to those that do.
func (a *API) appendEvents(b *[]byte, found *petstore.EventPage, private bool) bool {
	for i, e := range found.Events {
		start := len(*b)
		if start > len("[") {
			*b = append(*b, ',')
		}
		*b = a.links.appendEvent(*b, found.Feed.Name, e, private)
		if len(*b) >= maxEventPage && start > len("[") {
			*b = (*b)[:start]
			found.Events = found.Events[:i]
			found.Next, found.End = petstore.EventPosition{Feed: found.Feed.Name, Sequence: e.Sequence - 1}, false
			return false
		}
	}
	return true
}

// nextEvents returns the Link to the page after the one for q. Every page has one, because more events may follow.
func (l links) nextEvents(q eventsQuery, next petstore.EventPosition) string {
	b := append(make([]byte, 0, 128), '<')
	b = append(b, l.events...)
	b = append(b, "?after="...)
	b = append(b, next.String()...)
	b = append(b, "&limit="...)
	b = strconv.AppendInt(b, int64(q.Limit), 10)
	if q.types != "" {
		b = append(b, "&types="...)
		b = append(b, q.types...) // which consists of letters, periods, asterisks and commas
	}
	if q.PetID != nil {
		b = append(b, "&petId="...)
		b = strconv.AppendInt(b, *q.PetID, 10)
	}
	return string(append(b, endNext...))
}
