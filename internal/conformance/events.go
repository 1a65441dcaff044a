package conformance

import (
	"fmt"
	"math"
	"slices"
	"time"

	"petstore/internal/petstore"
)

// page returns a page of events, and checks what is true of every page.
func (t storageTest) page(q petstore.EventQuery) petstore.EventPage {
	t.Helper()
	page, err := t.ListEvents(t.Context(), q)
	t.noError(err)
	if len(page.Events) > q.Limit {
		t.Fatalf("the page has %d events, more than the limit of %d", len(page.Events), q.Limit)
	}
	if page.Next.Feed != page.Feed.Name || page.End != (page.Next.Sequence == page.Feed.Last) || page.Feed.Trimmed > page.Feed.Last {
		t.Fatalf("the page ends at %+v (%v) of %+v", page.Next, page.End, page.Feed)
	}
	for i, e := range page.Events {
		if i > 0 && e.Sequence <= page.Events[i-1].Sequence || e.Sequence > page.Next.Sequence || !q.Selects(e) {
			t.Fatalf("event %d is in the place %d of a page up to %d", e.Sequence, i, page.Next.Sequence)
		}
		if c := e.Profile; c != nil && len(c.Now.Photos) == 0 {
			c.Now.Photos = nil // a record may have an empty list
		}
	}
	return page
}

// end returns the position after the newest event.
func (t storageTest) end() petstore.EventPosition {
	t.Helper()
	page := t.page(petstore.EventQuery{FromEnd: true, Limit: 10})
	if len(page.Events) != 0 || !page.End {
		t.Fatalf("the page at the end is %+v", page)
	}
	return page.Next
}

// follow returns all events that a query selects, page by page.
func (t storageTest) follow(q petstore.EventQuery) (events []petstore.Event) {
	t.Helper()
	for {
		page := t.page(q)
		events = append(events, page.Events...)
		if page.End {
			return events
		}
		if q.After != nil && page.Next.Sequence <= q.After.Sequence {
			t.Fatalf("the page after %+v does not lead on: %+v", q.After, page.Next)
		}
		q.After = &page.Next
	}
}

// feed returns all events that are kept, and checks that their sequences are dense.
func (t storageTest) feed() []petstore.Event {
	t.Helper()
	events := t.follow(petstore.EventQuery{Limit: 1000})
	for i, e := range events {
		if e.Sequence != events[0].Sequence+int64(i) {
			t.Fatalf("event %d follows event %d", e.Sequence, events[i-1].Sequence)
		}
	}
	return events
}

// eventsOf returns the events that calling f adds to the feed, without their sequences and times.
func (t storageTest) eventsOf(f func()) []petstore.Event {
	t.Helper()
	before := t.end()
	f()
	events := t.follow(petstore.EventQuery{After: &before, Limit: 1000})
	for i := range events {
		e := &events[i]
		if want := before.Sequence + 1 + int64(i); e.Sequence != want {
			t.Fatalf("an event has the sequence %d, want %d", e.Sequence, want)
		}
		if at := e.At; time.Since(at).Abs() > time.Minute || !at.Equal(at.Truncate(time.Millisecond)) || at.Location() != time.UTC {
			t.Fatalf("an event happened at %v", at)
		}
		e.Sequence, e.At = 0, time.Time{}
	}
	return events
}

// makes fails the test unless calling f adds exactly these events to the feed.
func (t storageTest) makes(what string, f func(), want ...petstore.Event) {
	t.Helper()
	got := t.eventsOf(f)
	if len(got) != len(want) {
		t.Fatalf("%s makes %d events, want %d:\n%s", what, len(got), len(want), showEvents(got))
	}
	for i := range got {
		t.same(fmt.Sprintf("%s: event %d\n%s", what, i+1, showEvents(got)), showEvents(got[i:i+1]), showEvents(want[i:i+1]))
		t.same(fmt.Sprintf("%s: event %d", what, i+1), got[i], want[i])
	}
}

// showEvents returns events as text, one a line.
func showEvents(events []petstore.Event) (text string) {
	for _, e := range events {
		text += e.Type.String()
		switch {
		case e.Pet != nil:
			text += showChange(*e.Pet)
		case e.Profile != nil:
			text += showChange(*e.Profile)
		case e.Order != nil:
			text += showChange(*e.Order)
		case e.Category != nil:
			text += showChange(*e.Category)
		}
		text += "\n"
	}
	return text
}

func showChange[T any](c petstore.Changed[T]) string {
	if c.Before == nil {
		return fmt.Sprintf(" %+v", c.Now)
	}
	return fmt.Sprintf(" %+v from %+v", c.Now, *c.Before)
}

// petWith returns an animal with another status.
func petWith(pet petstore.Pet, status petstore.Status) petstore.Pet {
	pet.Status = status
	return pet
}

// petMoved returns the event of an animal whose status changed.
func petMoved(pet petstore.Pet, from, to petstore.Status) petstore.Event {
	before, after := petWith(pet, from), petWith(pet, to)
	return petstore.PetChanged(&before, &after)
}

// orderClosed returns the event of an order that was closed.
func orderClosed(closed petstore.Order) petstore.Event {
	open := closed
	open.Status, open.ClosedAt = petstore.Open, time.Time{}
	return petstore.OrderChanged(&open, closed)
}

var eventCases = []storageCase{
	{"a new feed is empty and has a name", func(t storageTest) {
		page := t.page(petstore.EventQuery{Limit: 10})
		if _, ok := petstore.ParseEventPosition(page.Next.String()); !ok {
			t.Errorf("the feed begins at %v", page.Next)
		}
		t.same("the feed", page.Feed, petstore.Feed{Name: page.Feed.Name})
		t.same("events", len(page.Events), 0)
		t.same("again", t.page(petstore.EventQuery{After: &page.Next, Limit: 10}).Feed, page.Feed)
	}},
	{"animals make events when they are created, changed and deleted", func(t storageTest) {
		var pet, before petstore.Pet
		strange := petstore.NewPet{Name: "\"Rex\"\\\u2028\x7f <&> 🐕 [1,2],[3]", CategoryID: math.MinInt64, Status: petstore.Sold}
		pet.ID = t.add(rex).ID + 1
		pet.NewPet = strange
		t.makes("a create", func() { t.same("created", t.add(strange), pet) }, petstore.PetChanged(nil, &pet))
		before, pet.Name = pet, "Max"
		t.makes("a new name", func() { t.patch(pet.ID, withName("Max")) }, petstore.PetChanged(&before, &pet))
		before, pet.CategoryID = pet, math.MaxInt64
		t.makes("a new category", func() { t.patch(pet.ID, withCategory(math.MaxInt64)) }, petstore.PetChanged(&before, &pet))
		before, pet = pet, petstore.Pet{ID: pet.ID, NewPet: rex}
		t.makes("a new everything", func() {
			t.patch(pet.ID, petstore.PetPatch{Name: &rex.Name, CategoryID: &rex.CategoryID, Status: &rex.Status})
		}, petstore.PetChanged(&before, &pet))
		t.updateProfile(pet.ID, withFacts(fullFacts))
		t.addPhoto(pet.ID)
		t.makes("a delete", func() { t.noError(errorOf(t.DeletePet(t.Context(), pet.ID, nil))) }, petstore.PetChanged(&pet, nil))
	}},
	{"orders make events directly before those of their animals", func(t storageTest) {
		pet := t.add(rex)
		var order petstore.Order
		events := t.eventsOf(func() {
			var err error
			order, _, err = t.PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID, Reference: "Ann's 🐕", Hold: time.Hour}, nil)
			t.noError(err)
		})
		t.same("placed", events, []petstore.Event{petstore.OrderChanged(nil, order), petMoved(pet, petstore.Available, petstore.Pending)})

		before, bob, hold := order, "Bob", 2*time.Hour
		order.Reference = bob
		t.makes("a reference", func() { t.updateOrder(order.ID, petstore.OrderPatch{Reference: &bob}) }, petstore.OrderChanged(&before, order))
		before = order
		events = t.eventsOf(func() { order = t.updateOrder(order.ID, petstore.OrderPatch{Hold: &hold}) })
		t.same("a hold", events, []petstore.Event{petstore.OrderChanged(&before, order)})

		events = t.eventsOf(func() { order = t.closeOrder(order.ID, petstore.Cancelled) })
		t.same("cancelled", events, []petstore.Event{orderClosed(order), petMoved(pet, petstore.Pending, petstore.Available)})
		t.same("its type", events[0].Type, petstore.OrderCancelled)

		order = t.place(pet.ID)
		events = t.eventsOf(func() { order = t.closeOrder(order.ID, petstore.Completed) })
		t.same("completed", events, []petstore.Event{orderClosed(order), petMoved(pet, petstore.Pending, petstore.Sold)})
		t.same("its type", events[0].Type, petstore.OrderCompleted)

		before, order.Reference = order, bob
		t.makes("a reference of a closed order", func() { t.updateOrder(order.ID, petstore.OrderPatch{Reference: &bob}) }, petstore.OrderChanged(&before, order))
	}},
	{"an order that expires makes its event when that is stored, directly before the event of its animal", func(t storageTest) {
		for name, f := range map[string]func(petstore.Order){
			"ExpireOrders": func(petstore.Order) { _, err := t.ExpireOrders(t.Context()); t.noError(err) },
			"a read":       func(o petstore.Order) { t.order(o.ID) },
			"a refused close": func(o petstore.Order) {
				t.refused(writeError(t.CloseOrder(t.Context(), o.ID, petstore.Completed, nil)), petstore.OrderClosed)
			},
			"a change of nothing":        func(o petstore.Order) { t.patch(o.PetID, petstore.PetPatch{}) },
			"an empty patch of an order": func(o petstore.Order) { t.updateOrder(o.ID, petstore.OrderPatch{}) },
		} {
			pet := t.add(rex)
			order := t.placeFor(pet.ID, shortHold)
			t.awaitExpiry(order)
			order.Status, order.ClosedAt = petstore.Expired, order.ExpiresAt
			t.makes(name, func() { f(order) }, orderClosed(order), petMoved(pet, petstore.Pending, petstore.Available))
			t.makes(name+" again", func() { t.order(order.ID); t.patch(pet.ID, petstore.PetPatch{}) })
		}
		pet := t.add(rex)
		order := t.placeFor(pet.ID, shortHold)
		t.awaitExpiry(order)
		order.Status, order.ClosedAt = petstore.Expired, order.ExpiresAt
		var next petstore.Order
		events := t.eventsOf(func() { next = t.place(pet.ID) })
		t.same("placed", showEvents(events), showEvents([]petstore.Event{
			orderClosed(order), petMoved(pet, petstore.Pending, petstore.Available),
			petstore.OrderChanged(nil, next), petMoved(pet, petstore.Available, petstore.Pending),
		}))
	}},
	{"categories make events", func(t storageTest) {
		var dogs petstore.Category
		events := t.eventsOf(func() { dogs = t.createCategory("Dogs") })
		t.same("created", events, []petstore.Event{petstore.CategoryChanged(nil, &dogs)})
		odd := petstore.Category{ID: math.MinInt64, Name: "猫 \"&\" co"}
		t.makes("a number gets a name", func() { t.nameCategory(odd.ID, odd.Name, true) }, petstore.CategoryChanged(nil, &odd))
		cats := petstore.Category{ID: odd.ID, Name: "Cats"}
		t.makes("it gets another", func() { t.nameCategory(cats.ID, cats.Name, false) }, petstore.CategoryChanged(&odd, &cats))
		t.makes("a delete", func() { t.noError(errorOf(t.DeleteCategory(t.Context(), cats.ID, nil))) }, petstore.CategoryChanged(&cats, nil))
	}},
	{"profiles make events with what they were before", func(t storageTest) {
		pet := t.add(rex)
		full := petstore.Profile{Facts: fullFacts}
		t.makes("every fact", func() { t.updateProfile(pet.ID, withFacts(fullFacts)) }, petstore.ProfileChanged(pet.ID, petstore.Profile{}, full))
		beagle := full
		beagle.Breed = "Beagle"
		t.makes("a breed", func() { t.updateProfile(pet.ID, withBreed("Beagle")) },
			petstore.ProfileChanged(pet.ID, petstore.Profile{Facts: petstore.Facts{Breed: fullFacts.Breed}}, beagle))
		old := full.Facts
		old.Breed = "Beagle"
		t.makes("nothing is known any more", func() { t.updateProfile(pet.ID, withFacts(petstore.Facts{})) },
			petstore.ProfileChanged(pet.ID, petstore.Profile{Facts: old}, petstore.Profile{}))
	}},
	{"photos make events of the profile", func(t storageTest) {
		pet := t.add(rex)
		t.updateProfile(pet.ID, withBreed("Beagle"))
		facts := petstore.Facts{Breed: "Beagle"}
		var a, b petstore.Photo
		with := func(photos ...petstore.Photo) petstore.Profile { return petstore.Profile{Facts: facts, Photos: photos} }
		changed := func(after petstore.Profile, before ...petstore.Photo) []petstore.Event {
			return []petstore.Event{petstore.ProfileChanged(pet.ID, petstore.Profile{Photos: before}, after)}
		}
		t.same("the first", t.eventsOf(func() { a = t.addPhoto(pet.ID) }), changed(with(a)))
		t.same("the second", t.eventsOf(func() { b = t.addPhoto(pet.ID) }), changed(with(a, b), a))
		t.makes("the cover again", func() { t.coverPhoto(pet.ID, a.ID) })
		t.makes("another cover", func() { t.coverPhoto(pet.ID, b.ID) }, changed(with(b, a), a, b)...)
		t.makes("that cover again", func() { t.coverPhoto(pet.ID, b.ID) })
		t.makes("a photo is deleted", func() { t.deletePhoto(pet.ID, b.ID) }, changed(with(a), b, a)...)
		t.makes("the last photo is deleted", func() { t.deletePhoto(pet.ID, a.ID) }, changed(with(), a)...)
	}},
	{"what changes nothing, what is refused and what is about keys makes no events", func(t storageTest) {
		pet, free := t.add(rex), t.add(rex)
		order := t.place(pet.ID)
		dogs := t.createCategory("Dogs")
		t.updateProfile(pet.ID, withBreed("Beagle"))
		t.makes("nothing", func() {
			t.patch(pet.ID, petstore.PetPatch{})
			t.patch(pet.ID, withName(pet.Name))
			t.updateOrder(order.ID, petstore.OrderPatch{Reference: &order.Reference})
			t.nameCategory(dogs.ID, "Dogs", false)
			t.updateProfile(pet.ID, withBreed("Beagle"))
			t.updateProfile(free.ID, petstore.ProfilePatch{})
			t.list(petstore.PetQuery{Limit: 10})
			t.orders(petstore.OrderQuery{Limit: 10})
			_, err := t.ExpireOrders(t.Context())
			t.noError(err)
		})
		t.makes("a refusal", func() {
			t.refused(writeError(t.UpdatePet(t.Context(), pet.ID, withStatus(petstore.Sold), nil)), petstore.PetReserved)
			t.refused(errorOf(t.DeletePet(t.Context(), pet.ID, nil)), petstore.PetReserved)
			t.refused(errorOf(t.DeletePet(t.Context(), petstore.MaxID, nil)), petstore.NotFound)
			t.refused(writeError(t.PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID, Hold: time.Hour}, nil)), petstore.PetUnavailable)
			t.refused(writeError(t.PlaceOrder(t.Context(), petstore.NewOrder{PetID: petstore.MaxID, Hold: time.Hour}, nil)), petstore.InvalidField)
			t.refused(writeError(t.CreateCategory(t.Context(), "Dogs", nil)), petstore.NameTaken)
			t.refused(writeError(t.NameCategory(t.Context(), petstore.Category{ID: dogs.ID + 1, Name: "Dogs"}, nil)), petstore.NameTaken)
			t.refused(errorOf(t.DeleteCategory(t.Context(), dogs.ID+1, nil)), petstore.NotFound)
			t.refused(writeError(t.CoverPhoto(t.Context(), pet.ID, 77, nil)), petstore.NotFound)
			t.refused(errorOf(t.DeletePhoto(t.Context(), pet.ID, 77, nil)), petstore.NotFound)
		})
		t.closeOrder(order.ID, petstore.Cancelled)
		t.makes("an order that is already closed", func() {
			t.closeOrder(order.ID, petstore.Cancelled)
			t.refused(writeError(t.CloseOrder(t.Context(), order.ID, petstore.Completed, nil)), petstore.OrderClosed)
		})
		t.makes("a key", func() {
			key := t.addKey(newKey("one"))
			t.noError(writeError(t.RevokeKey(t.Context(), key.ID, operator)))
		})
	}},
	{"many animals in one call make their events in order, once", func(t storageTest) {
		const many = 2500
		events := t.eventsOf(func() {
			t.addPetsOnce(manyPets(many), idempotency("k", 1), false)
			t.addPetsOnce(manyPets(many), idempotency("k", 1), true)
		})
		t.same("events", len(events), many)
		pets := t.all()
		slices.Reverse(pets)
		for i, pet := range pets {
			t.same("event", events[i], petstore.PetChanged(nil, &pet))
		}
	}},
	{"the description counts the events that are kept", func(t storageTest) {
		t.addMany(5)
		description, err := t.Describe(t.Context())
		t.noError(err)
		t.same("events", description.Events, int64(5))
	}},
}
