package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"petstore/internal/petstore"
)

// gone fails the test unless the feed does not have a position. The refusal must name the oldest position.
func (t storageTest) gone(position petstore.EventPosition) {
	t.Helper()
	feed, err := t.Feed(t.Context())
	t.noError(err)
	_, err = t.ListEvents(t.Context(), petstore.EventQuery{After: &position, Limit: 10})
	if wrong := checkRefusal(err, petstore.EventsGone); wrong != nil {
		t.Fatalf("position %v of %+v: %v", position, feed, wrong)
	}
	refusal, _ := errors.AsType[*petstore.Error](err)
	t.same("the oldest position", refusal.Oldest, petstore.EventPosition{Feed: feed.Name, Sequence: feed.Trimmed})
}

func selectTypes(words ...string) (types petstore.EventTypes) {
	for _, word := range words {
		types, _ = types.Select(word)
	}
	return types
}

var eventPageCases = []storageCase{
	{"pages of any size show every event once, and begin where the page before ended", func(t storageTest) {
		for range 3 {
			t.closeOrder(t.place(t.add(rex).ID).ID, petstore.Cancelled)
		}
		t.addPetsOnce(manyPets(20), idempotency("k", 1), false)
		all := t.feed()
		t.same("events", len(all), 3*5+20)
		for limit := range len(all) + 2 {
			if limit > 0 {
				t.same("page by page", t.follow(petstore.EventQuery{Limit: limit}), all)
			}
		}
		for i := range all {
			after := t.end()
			after.Sequence = int64(i)
			t.same("after a position", t.page(petstore.EventQuery{After: &after, Limit: 3}).Events, all[i:min(i+3, len(all))])
		}
		t.same("a page of nothing", t.page(petstore.EventQuery{Limit: 0}).Next.Sequence, int64(0))
	}},
	{"only the positions from the oldest event to the newest are valid", func(t storageTest) {
		t.addMany(3)
		end := t.end()
		t.same("the end", end.Sequence, int64(3))
		t.same("after the end", len(t.page(petstore.EventQuery{After: &end, Limit: 10}).Events), 0)
		t.gone(petstore.EventPosition{Feed: end.Feed, Sequence: 4})
		t.gone(petstore.EventPosition{Feed: end.Feed, Sequence: 1 << 60})
		other := "0000"
		if end.Feed == other {
			other = "0001"
		}
		for sequence := range int64(5) {
			t.gone(petstore.EventPosition{Feed: other, Sequence: sequence})
		}
	}},
	{"a page at the end shows what happens afterwards", func(t storageTest) {
		t.addMany(3)
		end := t.end()
		pet := t.add(rex)
		page := t.page(petstore.EventQuery{After: &end, Limit: 10})
		t.same("events", len(page.Events), 1)
		t.same("the animal", page.Events[0].Pet.Now, pet)
		t.same("its sequence", page.Events[0].Sequence, int64(4))
	}},
	{"types select events, and a page leads past the others", func(t storageTest) {
		pet := t.add(rex)
		t.closeOrder(t.place(pet.ID).ID, petstore.Cancelled)
		t.createCategory("Dogs")
		t.updateProfile(pet.ID, withBreed("Beagle"))
		all := t.feed()
		for _, words := range [][]string{{"pet.*"}, {"order.*"}, {"order.placed"}, {"category.created", "profile.updated"}, {"pet.deleted"}, {"*"}} {
			types := selectTypes(words...)
			var want []petstore.Event
			for _, e := range all {
				if types.Has(e.Type) {
					want = append(want, e)
				}
			}
			t.same(fmt.Sprint(words), t.follow(petstore.EventQuery{Types: types, Limit: 2}), want)
			page := t.page(petstore.EventQuery{Types: types, Limit: 100})
			t.same("the page ends", page.End, true)
		}
		page := t.page(petstore.EventQuery{Types: selectTypes("order.placed"), Limit: 1})
		t.same("the next page begins", page.Next.Sequence, page.Events[0].Sequence)
	}},
	{"an animal selects its events, those of its orders and those of its profile", func(t storageTest) {
		t.addPetsOnce(manyPets(30), idempotency("k", 1), false)
		pet := t.list(petstore.PetQuery{Status: petstore.Available, Limit: 10})[5]
		other := t.add(rex)
		t.nameCategory(pet.ID, "Dogs", true) // a category with the number of the animal
		first := t.place(pet.ID)
		t.place(other.ID)
		t.closeOrder(first.ID, petstore.Cancelled)
		t.patch(other.ID, withName("Max"))
		t.updateProfile(pet.ID, withBreed("Beagle"))
		t.addPhoto(pet.ID)
		t.noError(errorOf(t.DeletePet(t.Context(), pet.ID, nil)))
		t.add(rex)
		var want []petstore.Event
		for _, e := range t.feed() {
			if e.Category == nil && e.PetID() == pet.ID {
				want = append(want, e)
			}
		}
		t.same("its events", len(want), 8)
		for _, limit := range []int{1, 2, 3, 8, 100} {
			t.same("of the animal", t.follow(petstore.EventQuery{PetID: &pet.ID, Limit: limit}), want)
		}
		for i, e := range want {
			after := petstore.EventPosition{Feed: t.end().Feed, Sequence: e.Sequence}
			t.same("after one of them", t.follow(petstore.EventQuery{PetID: &pet.ID, After: &after, Limit: 2}), append([]petstore.Event(nil), want[i+1:]...))
		}
		var orders []petstore.Event
		for _, e := range want {
			if e.Order != nil {
				orders = append(orders, e)
			}
		}
		t.same("its orders", t.follow(petstore.EventQuery{PetID: &pet.ID, Types: selectTypes("order.*"), Limit: 1}), orders)
		page := t.page(petstore.EventQuery{PetID: &pet.ID, Limit: 100})
		t.same("the page leads to the end", page.End, true)
		for _, id := range []int64{0, -1, other.ID + 100, petstore.MaxID} {
			t.same("of no animal", t.page(petstore.EventQuery{PetID: &id, Limit: 100}).Events, []petstore.Event(nil))
		}
	}},
	{"every animal of a feed can be selected", func(t storageTest) {
		t.addPetsOnce(manyPets(40), idempotency("k", 1), false)
		t.concurrently(40, func(i int) error {
			pet, _, err := t.CreatePet(t.Context(), rex, nil)
			if err == nil && i%2 == 0 {
				_, _, err = t.UpdatePet(t.Context(), pet.ID, withName("Max"), nil)
			}
			return err
		})
		byPet := map[int64][]petstore.Event{}
		for _, e := range t.feed() {
			byPet[e.PetID()] = append(byPet[e.PetID()], e)
		}
		t.same("animals", len(byPet), 80)
		for id, want := range byPet {
			t.same("of an animal", t.follow(petstore.EventQuery{PetID: &id, Limit: 10}), want)
		}
	}},
	{"a page looks at a limited number of events, and leads on", func(t storageTest) {
		const many = petstore.MaxEventsExamined + 500
		t.addPetsOnce(manyPets(many), idempotency("k", 1), false)
		dogs := t.createCategory("Dogs")
		q := petstore.EventQuery{Types: selectTypes("category.*"), Limit: 10}
		page := t.page(q)
		t.same("events", len(page.Events), 0)
		if page.End || page.Next.Sequence > petstore.MaxEventsExamined {
			t.Errorf("the page looked at everything up to %d", page.Next.Sequence)
		}
		found := t.follow(q)
		t.same("found on a later page", len(found), 1)
		t.same("the category", found[0].Category.Now, dogs)
		t.same("its place", found[0].Sequence, int64(many+1))
	}},
	{"large events are read page by page", func(t storageTest) {
		pet := t.add(rex)
		const many = 120
		for i := range many {
			facts := fullFacts
			facts.Notes = strings.Repeat("é", 9000) + fmt.Sprint(i)
			t.noError(writeError(t.UpdateProfile(t.Context(), pet.ID, withFacts(facts), nil)))
		}
		for _, q := range []petstore.EventQuery{{Limit: 1000}, {PetID: &pet.ID, Limit: 1000}} {
			events := t.follow(q)
			t.same("events", len(events), many+1)
			for i, e := range events[1:] {
				if !strings.HasSuffix(e.Profile.Now.Notes, fmt.Sprint("é", i)) {
					t.Fatalf("event %d is in the place of event %d", e.Sequence, i+2)
				}
			}
		}
	}},
	{"waiting for events ends when there are some, or after a while", func(t storageTest) {
		t.add(rex)
		for _, after := range []int64{-1, 0} {
			t.noError(t.AwaitEvents(t.Context(), after))
		}
		t.noError(t.AwaitEvents(t.Context(), 1))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := t.AwaitEvents(ctx, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("waiting with a context that has ended: %v", err)
		}
	}},
	{"who waits for events sees each of them", func(t storageTest) {
		const many = 200
		failures := make(chan error, 4)
		var written atomic.Bool
		for range cap(failures) {
			go func() { failures <- t.followLive(many, &written) }()
		}
		t.concurrently(10, func(int) error {
			for range many / 10 {
				if _, _, err := t.CreatePet(t.Context(), rex, nil); err != nil {
					return err
				}
			}
			return nil
		})
		written.Store(true)
		for range cap(failures) {
			t.noError(<-failures)
		}
	}},
}

// followLive reads the feed from its beginning until it has seen that many events. It fails if one is missing.
func (t storageTest) followLive(many int64, written *atomic.Bool) error {
	var q petstore.EventQuery
	for q.Limit = 7; ; {
		complete := written.Load()
		page, err := t.ListEvents(t.Context(), q)
		if err != nil {
			return err
		}
		for i, e := range page.Events {
			if want := page.Next.Sequence - int64(len(page.Events)-1-i); e.Sequence != want {
				return fmt.Errorf("got event %d in the place of event %d", e.Sequence, want)
			}
		}
		if q.After != nil && page.Next.Sequence != q.After.Sequence+int64(len(page.Events)) {
			return fmt.Errorf("a page of %d events leads from %d to %d", len(page.Events), q.After.Sequence, page.Next.Sequence)
		}
		switch {
		case page.Next.Sequence == many:
			return nil
		case page.End && complete:
			return fmt.Errorf("the feed ends with event %d", page.Next.Sequence)
		}
		q.After = &page.Next
		if page.End {
			if err := t.AwaitEvents(t.Context(), page.Next.Sequence); err != nil {
				return err
			}
		}
	}
}
