package conformance

import (
	"context"
	"errors"
	"time"

	"petstore/internal/petstore"
)

var copyEventCases = []copyCase{
	{"positions of the source are valid in the target, where the feed goes on", func(t copyTest) {
		from, to := storageTest{t.checks, t.from}, storageTest{t.checks, t.to}
		pet := from.add(rex)
		from.closeOrder(from.place(pet.ID).ID, petstore.Cancelled)
		from.createCategory("Dogs")
		from.updateProfile(pet.ID, withFacts(fullFacts))
		from.addPhoto(pet.ID)
		from.addPetsOnce(manyPets(1500), idempotency("k", 1), false)
		from.trim(petstore.EventsKept{Age: time.Hour, Bytes: from.feedStats().Bytes - 10})
		from.patch(pet.ID, withName("Max"))
		end := from.end()
		t.copyAll()
		t.sameContent()
		t.same("the feed", to.feed(), from.feed())
		t.same("the end", to.end(), end)
		t.same("of an animal", to.follow(petstore.EventQuery{PetID: &pet.ID, Limit: 3}), from.follow(petstore.EventQuery{PetID: &pet.ID, Limit: 3}))
		t.same("the facts", to.feedStats().Bytes, from.feedStats().Bytes)
		t.same("what was done again", t.copyAll(), nothingDone)
		for _, e := range to.feed()[700:720] {
			id := e.PetID()
			t.same("of another animal", to.follow(petstore.EventQuery{PetID: &id, Limit: 10}), []petstore.Event{e})
		}

		next := to.add(tom)
		page := to.page(petstore.EventQuery{After: &end, Limit: 10})
		t.same("events", len(page.Events), 1)
		t.same("the next event", page.Events[0].Pet.Now, next)
		t.same("its sequence", page.Events[0].Sequence, end.Sequence+1)
		t.same("of the new animal", to.follow(petstore.EventQuery{PetID: &next.ID, Limit: 10}), page.Events)
	}},
	{"the next copy brings the events since, and what was erased and removed", func(t copyTest) {
		from, to := storageTest{t.checks, t.from}, storageTest{t.checks, t.to}
		pet, none := from.add(rex), ""
		order, _, err := t.from.PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID, Reference: "Ann", Hold: time.Hour}, nil)
		t.noError(err)
		from.addMany(10)
		t.copyAll()
		from.updateOrder(order.ID, petstore.OrderPatch{Reference: &none})
		from.addMany(10)
		t.copyAll()
		t.sameContent()
		t.same("the feed", to.feed(), from.feed())
		from.trim(petstore.EventsKept{Age: time.Hour, Bytes: from.feedStats().Bytes / 2})
		t.copyAll()
		t.sameContent()
		t.same("the feed", to.feed(), from.feed())
		from.trim(petstore.EventsKept{})
		t.copyAll()
		t.sameContent()
		t.same("the end", to.end(), from.end())
	}},
	{"the target goes on after events that the source has trimmed", func(t copyTest) {
		to := storageTest{t.checks, t.to}
		to.addMany(3)
		t.same("the events before", len(to.feed()), 3)
		t.noError(t.to.ReplaceFeed(t.Context(), petstore.Feed{Name: "4f7k", Trimmed: 5, Last: 5}))
		t.same("the feed", to.page(petstore.EventQuery{Limit: 10}).Feed, petstore.Feed{Name: "4f7k", Trimmed: 5, Last: 5})
		pet := to.add(rex)
		t.same("the next event", to.feed()[0].Sequence, int64(6))
		t.same("of its animal", len(to.follow(petstore.EventQuery{PetID: &pet.ID, Limit: 10})), 1)
	}},
	{"a copy replaces the feed of the target and adds nothing of its own", func(t copyTest) {
		from, to := storageTest{t.checks, t.from}, storageTest{t.checks, t.to}
		for range 5 {
			to.closeOrder(to.place(to.add(rex).ID).ID, petstore.Cancelled)
		}
		to.addPetsOnce(manyPets(50), idempotency("k", 1), false)
		old := to.end()
		from.addPetsOnce(manyPets(20), idempotency("k", 1), false)
		for range 3 {
			from.patch(from.list(petstore.PetQuery{Limit: 1})[0].ID, withName("Max"))
			from.patch(from.list(petstore.PetQuery{Limit: 1})[0].ID, withName("Rex"))
		}
		t.copyAll()
		t.sameContent()
		t.same("the feed", to.feed(), from.feed())
		for _, pet := range from.all() {
			q := petstore.EventQuery{PetID: &pet.ID, Limit: 10}
			t.same("of an animal", to.follow(q), from.follow(q))
		}
		to.gone(old)
		t.same("what was done again", t.copyAll(), nothingDone)
	}},
	{"a record of events takes the place of those that it overlaps", func(t copyTest) {
		from, to := storageTest{t.checks, t.from}, storageTest{t.checks, t.to}
		from.addPetsOnce(manyPets(5), idempotency("k", 1), false)
		for _, pet := range manyPets(5) {
			to.add(pet)
		}
		from.page(petstore.EventQuery{Limit: 1}) // numbers the events
		to.page(petstore.EventQuery{Limit: 1})
		records, err := t.from.StoredEvents(t.Context(), petstore.StoredEvents{}, 10)
		t.noError(err)
		t.same("records", len(records), 1)
		t.noError(t.to.ReplaceEvents(t.Context(), records, nil))
		t.same("the feed", to.feed(), from.feed())
		for _, e := range to.feed() {
			id := e.PetID()
			t.same("of an animal", to.follow(petstore.EventQuery{PetID: &id, Limit: 10}), []petstore.Event{e})
		}
	}},
	{"the steps of a copy make no events", func(t copyTest) {
		to := storageTest{t.checks, t.to}
		pet := to.add(rex)
		ctx := t.Context()
		to.makes("a copy", func() {
			t.noError(t.to.ReplacePets(ctx, []petstore.Pet{{ID: pet.ID, NewPet: tom}, {ID: pet.ID + 1, NewPet: tom}}, nil))
			t.noError(t.to.ReplacePets(ctx, nil, []petstore.Pet{{ID: pet.ID + 1, NewPet: tom}}))
			t.noError(t.to.ReplaceCategories(ctx, []petstore.Category{{ID: 7, Name: "Dogs"}, {ID: 8, Name: "Cats"}}, nil))
			t.noError(t.to.ReplaceCategories(ctx, []petstore.Category{{ID: 7, Name: "Cats"}}, []petstore.Category{{ID: 8, Name: "Cats"}}))
			order := petstore.Order{ID: 5, PetID: pet.ID, Status: petstore.Cancelled, CreatedAt: epoch, ExpiresAt: epoch, ClosedAt: epoch}
			t.noError(t.to.ReplaceOrders(ctx, []petstore.Order{order}, nil))
			order.Reference = "Ann"
			t.noError(t.to.ReplaceOrders(ctx, []petstore.Order{order}, nil))
			t.noError(t.to.ReplaceOrders(ctx, nil, []petstore.Order{order}))
			profile := petstore.StoredProfile{PetID: pet.ID, Facts: fullFacts}
			t.noError(t.to.ReplaceProfiles(ctx, []petstore.StoredProfile{profile}, nil))
			photo := petstore.StoredPhoto{PetID: pet.ID, Photo: petstore.Photo{ID: 3, Token: smallPhoto.Photo(epoch).Token, Width: 1, Height: 1, CreatedAt: epoch}}
			t.noError(t.to.PutPhoto(ctx, photo, []byte("l"), []byte("s")))
			t.noError(t.to.RemovePhotos(ctx, []petstore.StoredPhoto{photo}))
			t.noError(t.to.ReplaceProfiles(ctx, nil, []petstore.StoredProfile{profile}))
		})
	}},
	{"a copy beside writes brings a feed without gaps", func(t copyTest) {
		from, to := storageTest{t.checks, t.from}, storageTest{t.checks, t.to}
		from.addMany(30)
		ctx, stop := context.WithCancel(t.Context())
		wrote := make(chan error, 1)
		go func() {
			for ctx.Err() == nil {
				if _, _, err := t.from.CreatePet(ctx, rex, nil); err != nil && !errors.Is(err, context.Canceled) && !petstore.IsCode(err, petstore.OutcomeUnknown) {
					wrote <- err
					return
				}
			}
			wrote <- nil
		}()
		for range 3 {
			t.copyAll()
			feed := to.feed()
			t.same("the first", feed[0].Sequence, int64(1))
			t.same("a beginning of the feed", from.feed()[:len(feed)], feed)
		}
		stop()
		t.noError(<-wrote)
		t.copyAll()
		t.sameContent()
	}},
}
