package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

var (
	eventTypes  = []string{``, `*`, `pet.*`, `order.*`, `category.*`, `pet.updated`, `order.expired,pet.deleted`, `category.updated,pet.*,order.updated`, `profile.updated`}
	eventLimits = []string{``, `1`, `2`, `3`, `1000`}
	eventPets   = []string{``, `1`, `2`, `3`, `-1`, `0`}
)

// eventsQuery returns the query of listEvents. The parameter after is a number, in place of the position after that event. It
// may be higher than the last event.
func (s step) eventsQuery(last int) url.Values {
	query := url.Values{"types": {s.pick(3, eventTypes)}, "petId": {s.pick(4, eventPets)}, "limit": {s.pick(5, eventLimits)}}
	switch n := int(s[6]); {
	case n%4 == 1:
		query.Set("after", "now")
	case n%4 > 1:
		query.Set("after", strconv.Itoa(n%(last+2)))
	}
	for name := range query {
		if query.Get(name) == "" {
			query.Del(name)
		}
	}
	return query
}

// listEvents reads a page of the feed, which must be as the model says.
func (q *sequence) listEvents(k *key, query url.Values) {
	q.Helper()
	feed, err := q.db.Feed(q.Context())
	if err != nil {
		q.Fatal(err)
	}
	after, isNumber := 0, false
	if query.Get("after") == "now" {
		after = len(q.model.Events)
	} else if after, err = strconv.Atoi(query.Get("after")); err == nil {
		isNumber = true
		query.Set("after", fmt.Sprintf("evt_%s_%d", feed.Name, after))
	}
	target := "/v1/events?" + query.Encode()
	q.note("GET %s, with a key that may only read: %t", target, k.isReadOnly)
	w := q.answer(fmt.Sprintf("GET %s HTTP/1.1\r\nHost: petstore.test\r\nAuthorization: Bearer %s\r\n\r\n", target, k.secret))
	if isNumber && after > len(q.model.Events) {
		if w.Code != http.StatusGone {
			q.fail("a position after the last event is answered with %d %s", w.Code, w.Body)
		}
		return
	}
	page, next := q.model.page(query, after, feed.Name, k.isReadOnly)
	want, _ := json.Marshal(page)
	link := w.Header().Get("Link")
	if w.Code != http.StatusOK || w.Body.String() != string(want) {
		q.fail("the page of events is %d\n%s\nwant\n%s", w.Code, w.Body, want)
	}
	if position := fmt.Sprintf("after=evt_%s_%d&", feed.Name, next); !strings.Contains(link, position) {
		q.fail("the page links to %s, want %s", link, position)
	}
	if isEnd := w.Header().Get("Petstore-Feed-End") == "true"; isEnd != (next == len(q.model.Events)) {
		q.fail("the page says that it ends the feed: %t", isEnd)
	}
}

// page returns the events of a page, and the sequence of the event after which the next page begins.
func (s State) page(query url.Values, after int, feed string, isReadOnly bool) (page []Event, next int) {
	limit, petID := 100, (*int64)(nil)
	if n, err := strconv.Atoi(query.Get("limit")); err == nil {
		limit = n
	}
	if id, err := strconv.ParseInt(query.Get("petId"), 10, 64); err == nil {
		petID = &id
	}
	page = []Event{}
	for _, e := range s.Events[after:] {
		if !e.IsSelected(query.Get("types"), petID) {
			continue
		}
		if isReadOnly {
			e = e.WithoutReference()
		}
		e.ID = fmt.Sprintf("evt_%s_%d", feed, e.Sequence)
		if page = append(page, e); len(page) == limit {
			return page, e.Sequence
		}
	}
	return page, len(s.Events)
}
