package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"petstore/internal/petstore"
)

// shownEvent is an event as answers show it.
type shownEvent struct {
	ID       string          `json:"id"`
	Sequence int64           `json:"sequence"`
	Type     string          `json:"type"`
	Data     json.RawMessage `json:"data"`
}

// walk follows the links from a page of the feed to its end. It returns every event and the link of the last page.
func (s *service) walk(key, target string) (events []shownEvent, next string) {
	s.Helper()
	for {
		page := s.get(key, target)
		page.is(s, 200, "")
		var found []shownEvent
		noError(s, json.Unmarshal([]byte(page.body), &found))
		events = append(events, found...)
		next, _, _ = strings.Cut(strings.TrimPrefix(page.header.Get("Link"), "<"), ">")
		switch ended := page.header.Get("Petstore-Feed-End"); {
		case ended == "true":
			return events, next
		case ended != "" || next == target:
			s.Fatalf("the walk does not go on from %s: %s", target, page.raw)
		}
		target = next
	}
}

// makeEvents makes events of most types, about several animals.
func (s *service) makeEvents(rounds int) {
	s.Helper()
	ctx := s.Context()
	done := func(err error) { s.Helper(); noError(s, err) }
	for i := range rounds {
		pet, _, err := s.storage.CreatePet(ctx, petstore.NewPet{Name: fmt.Sprintf("Rex %d", i), CategoryID: int64(i % 3), Status: petstore.Available}, nil)
		done(err)
		done(writeError(s.storage.UpdatePet(ctx, pet.ID, petstore.PetPatch{Name: new("Max")}, nil)))
		if i%2 == 0 {
			order, _, err := s.storage.PlaceOrder(ctx, petstore.NewOrder{PetID: pet.ID, Reference: "Ann", Hold: petstore.DefaultHold}, nil)
			done(err)
			done(writeError(s.storage.CloseOrder(ctx, order.ID, petstore.Completed, nil)))
		}
		if i%3 == 0 {
			done(writeError(s.storage.UpdateProfile(ctx, pet.ID, petstore.ProfilePatch{Notes: new("Bites.")}, nil)))
			_, _, err = s.storage.NameCategory(ctx, petstore.Category{ID: int64(i), Name: fmt.Sprintf("Dogs %d", i)}, nil)
			done(err)
		}
	}
}

func TestWalkingTheFeedYieldsTheSameWithEveryLimit(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		s := serve(t, on(open(t)))
		s.makeEvents(60)
		key := s.key(petstore.Enterprise)
		all, _ := s.walk(key, "/v1/events?limit=1000")
		for i, e := range all {
			if e.Sequence != int64(i+1) {
				t.Fatalf("event %d is the number %d", e.Sequence, i+1)
			}
		}
		for _, filter := range []struct {
			query   string
			selects func(shownEvent) bool
		}{
			{"", func(shownEvent) bool { return true }},
			{"&types=*", func(shownEvent) bool { return true }},
			{"&types=order.*,pet.created", func(e shownEvent) bool { return strings.HasPrefix(e.Type, "order.") || e.Type == "pet.created" }},
			{"&types=pet.deleted", func(shownEvent) bool { return false }},
			{"&petId=1", func(e shownEvent) bool { return petOf(t, e) == 1 }},
			{"&petId=7&types=profile.updated,order.placed", func(e shownEvent) bool {
				return petOf(t, e) == 7 && (e.Type == "profile.updated" || e.Type == "order.placed")
			}},
			{"&petId=0", func(shownEvent) bool { return false }},
		} {
			var want []string
			for _, e := range all {
				if filter.selects(e) {
					want = append(want, e.ID)
				}
			}
			for _, limit := range []int{1 + len(want)/20, 77, 201, 1000} {
				found, next := s.walk(key, fmt.Sprintf("/v1/events?limit=%d%s", limit, filter.query))
				var got []string
				for _, e := range found {
					got = append(got, e.ID)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s, limit %d: got %v, want %v", filter.query, limit, got, want)
				}
				query, _ := url.ParseQuery(next[strings.Index(next, "?")+1:])
				if after := query.Get("after"); after != all[len(all)-1].ID {
					t.Errorf("%s, limit %d: the last link leads to %s", filter.query, limit, after)
				}
			}
		}
	})
}

// petOf returns the id of the animal that an event is about, or 0.
func petOf(t *testing.T, e shownEvent) int64 {
	t.Helper()
	var data struct{ ID, PetID int64 }
	noError(t, json.Unmarshal(e.Data, &data))
	switch {
	case strings.HasPrefix(e.Type, "pet."):
		return data.ID
	case strings.HasPrefix(e.Type, "category."):
		return 0
	}
	return data.PetID
}

func TestPageOfLongEventsIsCutAndTheLinkLeadsOn(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Enterprise)
	pet, _, err := s.storage.CreatePet(t.Context(), petstore.NewPet{Name: "Rex", CategoryID: 1, Status: petstore.Available}, nil)
	noError(t, err)
	for i := range 40 {
		text := new(fmt.Sprint(i) + strings.Repeat("<", petstore.MaxDescriptionLength-10))
		noError(t, writeError(s.storage.UpdateProfile(t.Context(), pet.ID, petstore.ProfilePatch{Description: text}, nil)))
	}
	pages, target := 0, "/v1/events?limit=1000"
	var sequences []int64
	for done := false; !done; pages++ {
		page := s.get(key, target)
		page.is(t, 200, "")
		if len(page.body) > 1<<20 || len(page.body) < 1<<19 && page.header.Get("Petstore-Feed-End") == "" {
			t.Errorf("a page has %d bytes", len(page.body))
		}
		var found []shownEvent
		noError(t, json.Unmarshal([]byte(page.body), &found))
		for _, e := range found {
			sequences = append(sequences, e.Sequence)
		}
		done = page.header.Get("Petstore-Feed-End") == "true"
		target, _, _ = strings.Cut(strings.TrimPrefix(page.header.Get("Link"), "<"), ">")
	}
	if pages < 4 || len(sequences) != 41 || !slices.IsSorted(sequences) || sequences[40] != 41 {
		t.Errorf("%d pages have the events %v", pages, sequences)
	}
}
