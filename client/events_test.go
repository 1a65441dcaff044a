package client_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"petstore/client"
)

// eventJSON returns the event with that number: an animal with the same number was added.
func eventJSON(n int) string {
	return fmt.Sprintf(`{"id":"evt_feed_%d","sequence":%[1]d,"type":"pet.created","timestamp":"2026-11-18T00:00:00.120Z","data":{"id":%[1]d,"name":"Rex","categoryId":1,"status":"available"}}`, n)
}

// eventsPage returns a page with the events of these numbers, which leads on to the place next.
func eventsPage(next string, end bool, numbers ...int) line {
	var events []string
	for _, n := range numbers {
		events = append(events, eventJSON(n))
	}
	return line{status: 200, body: "[" + strings.Join(events, ",") + "]",
		headers: []string{fmt.Sprintf(`Link: </v1/events?after=%s&limit=2>; rel="next"`, next), fmt.Sprintf("Petstore-Feed-End: %v", end)}}
}

func TestEventsReadsPagesUpToTheEndOfTheFeed(t *testing.T) {
	s := &script{lines: []line{eventsPage("evt_feed_2", false, 1, 2), eventsPage("evt_feed_9", false), eventsPage("evt_feed_11", true, 10)}}
	var got []int64
	query := client.EventQuery{Types: []client.EventType{"pet.*", client.OrderPlaced}, PetID: new(int64(7)), Limit: 2}
	for e, err := range playing(t, s).Events(t.Context(), query) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Sequence)
	}
	if fmt.Sprint(got) != "[1 2 10]" {
		t.Errorf("got the events %v", got)
	}
	for i, after := range []string{"", "after=evt_feed_2&", "after=evt_feed_9&"} {
		if want := "/v1/events?" + after + "limit=2&petId=7&types=pet.%2A%2Corder.placed"; s.asked[i].target != want {
			t.Errorf("asked for %s, want %s", s.asked[i].target, want)
		}
	}
}

func TestAPageOfEventsSaysWhereItEnds(t *testing.T) {
	s := &script{lines: []line{eventsPage("evt_feed_2", false, 1, 2)}}
	store := playing(t, s)
	page, err := store.ListEvents(t.Context(), client.EventQuery{After: client.Now})
	if err != nil || page.Next != "evt_feed_2" || page.End || len(page.Items) != 2 {
		t.Errorf("got %+v, %v", page, err)
	}
	store.ListEvents(t.Context(), client.EventQuery{After: client.Oldest})
	if s.asked[0].target != "/v1/events?after=now" || s.asked[1].target != "/v1/events" {
		t.Errorf("asked for %s and %s", s.asked[0].target, s.asked[1].target)
	}
}

// A reader that does not know where to go on must not begin again, nor take the page for the end.
func TestAPageOfEventsWithoutALinkIsAnError(t *testing.T) {
	for range playing(t, &script{lines: []line{{status: 200, body: "[]", headers: []string{"Petstore-Feed-End: true"}}}}).Events(t.Context(), client.EventQuery{}) {
	}
	_, err := playing(t, &script{lines: []line{{status: 200, body: "[]"}}}).ListEvents(t.Context(), client.EventQuery{})
	if err == nil || !strings.Contains(err.Error(), "Link") {
		t.Errorf("the error is %v", err)
	}
}

func TestTheDataOfAnEventHasTheTypeThatItsTypeNames(t *testing.T) {
	const photo = `{"id":1,"width":1,"height":1,"url":"/photos/a/1280.jpg","thumbnailUrl":"/photos/a/400.jpg","createdAt":"2026-11-18T00:00:00Z"}`
	page := line{status: 200, headers: []string{`Link: </v1/events?after=evt_feed_4>; rel="next"`, "Petstore-Feed-End: true"}, body: `[` +
		`{"id":"evt_feed_1","sequence":1,"type":"pet.updated","timestamp":"2026-11-18T00:00:00Z","data":{"id":7,"name":"Rex","categoryId":1,"status":"sold"},"previous":{"status":"pending"}},` +
		`{"id":"evt_feed_2","sequence":2,"type":"order.completed","timestamp":"2026-11-18T00:00:00Z","data":{"id":3,"petId":7,"status":"completed","createdAt":"2026-11-18T00:00:00Z","expiresAt":"2026-11-18T00:00:00Z"}},` +
		`{"id":"evt_feed_3","sequence":3,"type":"category.created","timestamp":"2026-11-18T00:00:00Z","data":{"id":5,"name":"Dogs"}},` +
		`{"id":"evt_feed_4","sequence":4,"type":"profile.updated","timestamp":"2026-11-18T00:00:00Z","data":{"petId":7,"profile":{"breed":"Beagle","photos":[` + photo + `]}}}]`}
	got, err := playing(t, &script{lines: []line{page}}).ListEvents(t.Context(), client.EventQuery{})
	if err != nil {
		t.Fatal(err)
	}
	pet, err := got.Items[0].Pet()
	if err != nil || pet != (client.Pet{ID: 7, Name: "Rex", CategoryID: 1, Status: client.Sold}) || string(got.Items[0].Previous) != `{"status":"pending"}` {
		t.Errorf("the animal is %+v, %v, and was %s", pet, err, got.Items[0].Previous)
	}
	if order, err := got.Items[1].Order(); err != nil || order.ID != 3 || order.PetID != 7 || order.Status != client.Completed {
		t.Errorf("the order is %+v, %v", order, err)
	}
	if category, err := got.Items[2].Category(); err != nil || category != (client.Category{ID: 5, Name: "Dogs"}) {
		t.Errorf("the category is %+v, %v", category, err)
	}
	id, profile, err := got.Items[3].Profile()
	if err != nil || id != 7 || profile.Breed != "Beagle" || profile.Photos[0].URL != "http://petstore.test/photos/a/1280.jpg" {
		t.Errorf("the profile of animal %d is %+v, %v", id, profile, err)
	}
	if _, err := got.Items[0].Order(); err == nil || !strings.Contains(err.Error(), "pet.updated") {
		t.Errorf("an animal as an order gives %v", err)
	}
	for _, data := range []string{`{}`, `null`, `[]`, ``} {
		if pet, err := (client.Event{Type: client.PetCreated, Data: []byte(data)}).Pet(); err == nil {
			t.Errorf("the data %q is read as %+v", data, pet)
		}
	}
}

func TestAWebhookPatchSaysWhatChangesAndWhatIsRemoved(t *testing.T) {
	s := &script{lines: []line{{status: 200, body: `{"id":"wh_1"}`}}}
	store := playing(t, s)
	for want, patch := range map[string]client.WebhookPatch{
		`{}`: {},
		`{"url":"https://a.example","types":["pet.*"]}`: {URL: new("https://a.example"), Types: &[]client.EventType{"pet.*"}},
		`{"description":"the shop","enabled":false}`:    {Description: new("the shop"), Enabled: new(false)},
		`{"description":null,"position":"now"}`:         {Description: new(""), Position: new(client.Now)},
	} {
		if _, err := store.UpdateWebhook(t.Context(), "wh_1", patch); err != nil || !sameJSON(s.asked[len(s.asked)-1].body, want) {
			t.Errorf("got %+v, %v, want %s", s.asked[len(s.asked)-1], err, want)
		}
	}
	sent := len(s.asked)
	_, err := store.CreateWebhook(t.Context(), client.NewWebhook{URL: "https://a.example", Types: []client.EventType{"\xff"}})
	if !errors.Is(err, client.ErrInvalidField) || len(s.asked) != sent {
		t.Errorf("a type that is not UTF-8 gives %v", err)
	}
}

func TestADeliveryWithoutAnAnswerHasNoStatus(t *testing.T) {
	s := &script{lines: []line{{status: 200, body: `{"id":"dlv_1","eventId":"evt_feed_1","at":"2026-11-18T00:00:00.120Z","milliseconds":15000,"error":"timeout"}`}}}
	got, err := playing(t, s).PingWebhook(t.Context(), "wh_1")
	want := client.Delivery{ID: "dlv_1", EventID: "evt_feed_1", At: time.Date(2026, 11, 18, 0, 0, 0, 120e6, time.UTC), Milliseconds: 15000, Error: "timeout"}
	if err != nil || got != want || s.asked[0].target != "/v1/webhooks/wh_1/ping" {
		t.Errorf("%s gave %+v, %v", s.asked[0].target, got, err)
	}
}
