package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
)

// FuzzEvents asks for a page or a stream of events with any query and any Last-Event-ID, in which FEED stands for the name of
// the feed. The answer must be what a second implementation of the parameters says, and the position in the answer must
// lead on.
func FuzzEvents(f *testing.F) {
	e := newFuzzedEvents(f)
	f.Fuzz(func(t *testing.T, query, lastEventID string, isStream bool) {
		query, lastEventID = strings.ReplaceAll(query, "FEED", e.feed.Name), strings.ReplaceAll(lastEventID, "FEED", e.feed.Name)
		want := e.expect(query, lastEventID, isStream)
		w := e.ask(query, lastEventID, isStream)
		asked := fmt.Sprintf("%q after %q, as a stream: %t", query, lastEventID, isStream)
		var refused struct{ Code string }
		if want.status != http.StatusOK {
			json.Unmarshal(w.Body.Bytes(), &refused)
		}
		if w.Code != want.status || refused.Code != want.code {
			t.Fatalf("%s: the answer is %d %s, want %d %s", asked, w.Code, w.Body, want.status, want.code)
		}
		if want.status != http.StatusOK {
			return
		}
		if isStream {
			if begin := fmt.Sprintf("retry: 3000\n\nid: evt_%s_%d\n\n", e.feed.Name, want.after); w.Body.String() != begin {
				t.Fatalf("%s: the stream begins with %q, want %q", asked, w.Body, begin)
			}
			return
		}
		var page []shownEvent
		noError(t, json.Unmarshal(w.Body.Bytes(), &page))
		if !slices.EqualFunc(page, want.page, func(e shownEvent, sequence int64) bool { return e.Sequence == sequence }) {
			t.Fatalf("%s: the page is %s, want the events %d", asked, w.Body, want.page)
		}
		e.followLink(t, asked, w, want)
	})
}

// followLink checks that the page links to a page that begins where this one ends, with the same filters.
func (e *fuzzedEvents) followLink(t *testing.T, asked string, w *httptest.ResponseRecorder, this expectedEvents) {
	t.Helper()
	target, _, _ := strings.Cut(strings.TrimPrefix(w.Header().Get("Link"), "<"), ">")
	_, query, _ := strings.Cut(target, "?")
	next := e.expect(query, "", false)
	remaining := e.sequences(this.after, this.types, this.petID)[len(this.page):]
	if next.status != http.StatusOK || next.limit != this.limit || !slices.Equal(e.sequences(next.after, next.types, next.petID), remaining) {
		t.Fatalf("%s: the page links to %s, want one with the remaining events %d", asked, target, remaining)
	}
	if isEnd := w.Header().Get("Petstore-Feed-End") == "true"; isEnd != (next.after == e.feed.Last) {
		t.Fatalf("%s: the page links to %s, and says that it ends the feed: %t", asked, target, isEnd)
	}
	if again := e.ask(query, "", false); again.Code != http.StatusOK {
		t.Fatalf("%s: the link %s is answered with %d %s", asked, target, again.Code, again.Body)
	}
}

// fuzzedEvents is an API with a feed whose oldest events are no longer kept.
type fuzzedEvents struct {
	api    *httpapi.API
	feed   petstore.Feed
	events []petstore.Event
}

func newFuzzedEvents(f *testing.F) *fuzzedEvents {
	storage := openSQLite(f)
	for i := range 4 {
		pet, _, err := storage.CreatePet(f.Context(), petstore.NewPet{Name: "Rex", CategoryID: 1, Status: petstore.Available}, nil)
		noError(f, err)
		noError(f, writeError(storage.UpdateProfile(f.Context(), pet.ID, petstore.ProfilePatch{Breed: new("Pug")}, nil)))
		noError(f, writeError(storage.PlaceOrder(f.Context(), petstore.NewOrder{PetID: pet.ID, Hold: petstore.DefaultHold}, nil)))
		_, _, err = storage.NameCategory(f.Context(), petstore.Category{ID: int64(i), Name: fmt.Sprint("Dogs ", i)}, nil)
		noError(f, err)
	}
	upkeep := storage.(petstore.EventUpkeep)
	stats, err := upkeep.FeedStats(f.Context())
	noError(f, err)
	_, err = upkeep.TrimEvents(f.Context(), petstore.EventsKept{Age: time.Hour, Bytes: stats.Bytes / 2})
	noError(f, err)
	page, err := storage.ListEvents(f.Context(), petstore.EventQuery{Limit: 1000})
	noError(f, err)
	if page.Feed.Trimmed == 0 || len(page.Events) < 8 {
		f.Fatalf("the feed has %d events: %+v", len(page.Events), page.Feed)
	}
	return &fuzzedEvents{newFuzzedAPI(f, storage), page.Feed, page.Events}
}

// ask answers a request. A stream ends as soon as it has begun.
func (e *fuzzedEvents) ask(query, lastEventID string, isStream bool) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/v1/events", nil)
	r.URL.RawQuery = query
	r.Header.Set("Authorization", "Bearer "+fuzzedKey)
	if lastEventID != "" {
		r.Header.Set("Last-Event-ID", lastEventID)
	}
	if isStream {
		r.Header.Set("Accept", "text/event-stream")
	}
	w := httptest.NewRecorder()
	e.api.ServeHTTP(w, r)
	return w
}

// expectedEvents is the answer that a request should get.
type expectedEvents struct {
	status int
	code   string // of a refusal
	after  int64
	types  []string
	petID  *int64
	limit  int
	page   []int64 // the sequences of the events
}

var (
	anyPosition = regexp.MustCompile(`^evt_([0-9a-z]{4})_(0|[1-9][0-9]*)$`)
	eventWord   = regexp.MustCompile(`^(\*|pet\.(created|updated|deleted|\*)|profile\.(updated|\*)|order\.(placed|updated|completed|cancelled|expired|\*)|` +
		`category\.(created|updated|deleted|\*))$`)
	wholeNumber = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)
)

// expect returns what a second implementation of the parameters says.
func (e *fuzzedEvents) expect(query, lastEventID string, isStream bool) expectedEvents {
	invalid := expectedEvents{status: http.StatusBadRequest, code: "invalid_parameter"}
	values, err := url.ParseQuery(query)
	if isStream {
		delete(values, "limit") // which means nothing to a stream
	}
	want := expectedEvents{status: http.StatusOK, after: e.feed.Trimmed, limit: 100}
	for _, name := range []string{"after", "types", "petId", "limit"} {
		if err != nil || len(values[name]) > 1 || values.Has(name) && !want.read(name, values.Get(name)) {
			return invalid
		}
	}
	position := values.Get("after")
	if isStream {
		if lastEventID != "" && !isPosition(lastEventID) {
			return invalid
		}
		if position = lastEventID; lastEventID == "" {
			if position = values.Get("after"); position == "" {
				position = "now"
			}
		}
	}
	switch {
	case position == "now":
		want.after = e.feed.Last
	case position != "":
		parts := anyPosition.FindStringSubmatch(position)
		want.after, _ = strconv.ParseInt(parts[2], 10, 64)
		if parts[1] != e.feed.Name || want.after < e.feed.Trimmed || want.after > e.feed.Last {
			return expectedEvents{status: http.StatusGone, code: "events_gone"}
		}
	}
	want.page = e.sequences(want.after, want.types, want.petID)
	want.page = want.page[:min(want.limit, len(want.page))]
	return want
}

// read reads one parameter, and reports whether it is right.
func (want *expectedEvents) read(name, value string) bool {
	number, err := strconv.ParseInt(value, 10, 64)
	isNumber := err == nil && wholeNumber.MatchString(value)
	switch name {
	case "after":
		return value == "now" || isPosition(value)
	case "types":
		want.types = strings.Split(value, ",")
		return !slices.ContainsFunc(want.types, func(word string) bool { return !eventWord.MatchString(word) })
	case "petId":
		want.petID = &number
		return isNumber
	}
	want.limit = int(number)
	return isNumber && number >= 1 && number <= 1000
}

// isPosition reports whether a text is the id of an event. The last number of an int64 is none.
func isPosition(text string) bool {
	parts := anyPosition.FindStringSubmatch(text)
	if parts == nil {
		return false
	}
	n, err := strconv.ParseInt(parts[2], 10, 64)
	return err == nil && n+1 > n
}

// sequences returns the events after a position that have one of the types and are about the animal.
func (e *fuzzedEvents) sequences(after int64, types []string, petID *int64) (found []int64) {
	for _, event := range e.events {
		isOfType := func(word string) bool {
			return word == event.Type.String() || strings.HasSuffix(word, "*") && strings.HasPrefix(event.Type.String(), strings.TrimSuffix(word, "*"))
		}
		isOfPet := petID == nil || event.Category == nil && event.PetID() == *petID
		if event.Sequence > after && isOfPet && (types == nil || slices.ContainsFunc(types, isOfType)) {
			found = append(found, event.Sequence)
		}
	}
	return found
}
