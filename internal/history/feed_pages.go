package history

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"petstore/internal/model"
)

// eventPage is a page of the feed: the events that follow the sequence after, up to the sequence next.
type eventPage struct {
	model.Exchange
	after, next  int64
	atEnd        bool
	limit        int
	types, petID string
	events       []*event
}

// readPages puts the feed together from its pages.
func (f *feed) readPages(exchanges []model.Exchange) {
	for _, e := range exchanges {
		path, query, _ := strings.Cut(e.Path, "?")
		switch {
		case path != "/v1/events":
		case e.Status == http.StatusGone:
			f.report(WrongFeed, "The feed does not have a position to which a page led.", e)
		case e.Status == http.StatusOK:
			p := &eventPage{Exchange: e}
			if !f.parsePage(p, query) {
				f.report(WrongFeed, "A page is malformed.", e)
				continue
			}
			f.addPage(p)
		}
	}
}

// parsePage parses a page, and reports whether the page is well-formed.
func (f *feed) parsePage(p *eventPage, query string) (ok bool) {
	asked, _ := url.ParseQuery(query)
	_, query, _ = strings.Cut(model.NextPage(p.Header), "?")
	link, _ := url.ParseQuery(query)
	p.next, ok = f.position(link.Get("after"))
	switch after := asked.Get("after"); {
	case !ok:
		return false
	case after == "now":
		p.after = p.next
	case after != "":
		p.after, ok = f.position(after)
	}
	p.types, p.petID, p.limit = asked.Get("types"), asked.Get("petId"), 100
	if limit, err := strconv.Atoi(asked.Get("limit")); err == nil {
		p.limit = limit
	}
	p.atEnd = p.Header.Get("Petstore-Feed-End") == "true"
	var texts []json.RawMessage
	ok = ok && p.after <= p.next && json.Unmarshal(p.Answer, &texts) == nil
	for _, text := range texts {
		e := f.parseEvent(string(text))
		at, isEvent := f.position(e.ID)
		ok = ok && isEvent && at == e.Sequence && at > p.after && at <= p.next
		p.events = append(p.events, e)
	}
	return ok
}

// addPage adds the events of a page to the feed. If two pages show different versions of an event, addPage takes the longer
// one, because an event can lose its reference.
func (f *feed) addPage(p *eventPage) {
	f.pages = append(f.pages, p)
	if p.atEnd {
		f.ended = max(f.ended, p.Called)
	}
	for _, e := range p.events {
		for int64(len(f.events)) < e.Sequence {
			f.events = append(f.events, nil)
		}
		known := f.events[e.Sequence-1]
		switch {
		case known == e:
		case known != nil && (known.thing != e.thing || known.Type != e.Type):
			f.isBroken = true
			f.fault(e, "Two pages show different events with the same sequence.", p.Exchange, known.page)
		case known == nil || len(known.text) < len(e.text):
			e.page = p.Exchange
			f.events[e.Sequence-1] = e
		}
	}
}

// position parses a position. All positions must be in the same feed.
func (f *feed) position(text string) (sequence int64, ok bool) {
	parts := strings.Split(text, "_")
	if len(parts) != 3 || parts[0] != "evt" {
		return 0, false
	}
	if f.name == "" {
		f.name = parts[1]
	}
	sequence, err := strconv.ParseInt(parts[2], 10, 64)
	return sequence, err == nil && sequence >= 0 && parts[1] == f.name
}

var nouns = map[string]string{"pet": "pets", "order": "orders", "category": "categories"}

// parseEvent parses an event, or returns the result of an earlier page with the same event.
func (f *feed) parseEvent(text string) *event {
	if e, ok := f.parsed[text]; ok {
		return e
	}
	e := &event{text: text}
	json.Unmarshal([]byte(text), e)
	noun, _, _ := strings.Cut(e.Type, ".")
	e.thing = thing{noun: nouns[noun], id: e.Data.number("id")}
	f.parsed[text] = e
	return e
}

// number returns the value of a member that is a whole number.
func (m members) number(name string) int64 {
	n, _ := m[name].(json.Number)
	whole, _ := n.Int64()
	return whole
}

// UnmarshalJSON keeps numbers as they are written.
func (m *members) UnmarshalJSON(text []byte) error {
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.UseNumber()
	return dec.Decode((*map[string]any)(m))
}

// isWhole reports whether the pages show one feed, in which no event is missing between the first and the last.
func (f *feed) isWhole() bool {
	at := slices.Index(f.events, nil)
	if at >= 0 {
		f.report(WrongFeed, fmt.Sprintf("No page shows the event with the sequence %d, and there are later ones.", at+1))
	}
	return at < 0 && !f.isBroken
}

// comparePages checks that each page shows exactly the events between its ends that it selects. A page can show an event
// only after its write was called.
func (f *feed) comparePages() {
	shown := slices.Repeat([]time.Duration{model.Never}, len(f.events)+1) // when a page that leads there returned first
	missed := make([]time.Duration, len(f.events)+1)                      // when a page that ends there was called last
	for _, p := range f.pages {
		reach := p.next // there were events up to this one
		if !p.atEnd {
			reach++
		}
		if reach > int64(len(f.events)) || !p.atEnd && p.next == p.after {
			f.report(WrongFeed, "A page is not marked as the end of the feed, and nothing follows.", p.Exchange)
			continue
		}
		if reach > 0 && f.events[reach-1].from > p.Returned {
			f.fault(f.events[reach-1], "A page reaches an event of a write that was called later.", p.Exchange, f.events[reach-1].by)
		}
		f.comparePage(p)
		shown[reach] = min(shown[reach], p.Returned)
		if p.atEnd {
			missed[p.next] = max(missed[p.next], p.Called)
		}
	}
	f.narrow(shown, missed)
}

// narrow uses the pages to find out more exactly when each change was made. A page at the end must show every change that
// was acknowledged or shown before, so a change that it does not show was made later.
func (f *feed) narrow(shown, missed []time.Duration) {
	for i, e := range slices.Backward(f.events) {
		shown[i] = min(shown[i], shown[i+1])
		e.to = min(e.to, shown[i+1])
	}
	var reported *eventPage
	for i, e := range f.events {
		missed[i+1] = max(missed[i+1], missed[i])
		if e.to >= missed[i] {
			e.from = max(e.from, missed[i])
			continue
		}
		at := slices.IndexFunc(f.pages, func(p *eventPage) bool { return p.atEnd && p.next < e.Sequence && p.Called > e.to })
		if p := f.pages[at]; p != reported {
			f.fault(e, "A page at the end of the feed misses an event that it should show.", p.Exchange, e.by, e.page)
			reported = p
		}
	}
}

func (f *feed) comparePage(p *eventPage) {
	left := p.events
	for _, e := range f.events[p.after:p.next] {
		if !p.selects(e) {
			continue
		}
		if len(left) == 0 || !f.isVersion(p, left[0], e) {
			f.fault(e, "A page does not show an event between its ends, or shows another one in its place.", p.Exchange)
			return
		}
		left = left[1:]
	}
	if len(left) > 0 || len(p.events) > p.limit {
		f.report(WrongFeed, "A page shows an event that it does not select, or too many.", p.Exchange)
	}
}

// selects reports whether an event has the types and the animal that the page selects.
func (p *eventPage) selects(e *event) bool {
	isType := func(word string) bool {
		prefix, isPattern := strings.CutSuffix(word, "*")
		return word == e.Type || isPattern && strings.HasPrefix(e.Type, prefix)
	}
	animal := e.Data["petId"]
	if e.thing.noun == "pets" {
		animal = e.Data["id"]
	}
	return (p.types == "" || slices.ContainsFunc(strings.Split(p.types, ","), isType)) && (p.petID == "" || animal == json.Number(p.petID))
}

// isVersion reports whether a page shows an event as it should. An event of an order loses its reference when a client
// removes the reference, and does not show it afterwards.
func (f *feed) isVersion(p *eventPage, shown, e *event) bool {
	removals := f.removals(e.thing)
	for _, w := range removals {
		for _, reference := range []any{shown.Data["reference"], shown.Previous["reference"]} {
			if given := f.given[fmt.Sprint(reference)]; given != nil && given.to < w.from && w.to < p.Called {
				return false
			}
		}
	}
	isErased := slices.ContainsFunc(removals, func(w *write) bool { return w.from <= p.Returned })
	return shown.text == e.text || isErased && shown.Type == e.Type && shown.Timestamp == e.Timestamp &&
		f.same(e.thing, shown.Data, e.Data) && f.same(e.thing, shown.Previous, e.Previous)
}
