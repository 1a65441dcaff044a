package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"petstore/internal/petstore"
)

// Copy checks that petstore.Copy makes one storage equal to another. For each case, openFrom and openTo each open a new,
// empty storage and register its cleanup.
func Copy(t *testing.T, openFrom, openTo func(t *testing.T) petstore.Database) {
	for _, group := range [][]copyCase{copyRecordCases, copyOrderCases, copyProfileCases, copyKeyCases, copyUsageCases, copyEventCases, copyWebhookCases, copyServedCases} {
		for _, c := range group {
			t.Run(c.behavior, func(t *testing.T) { c.check(copyTest{checks{t}, openFrom(t), openTo(t)}) })
		}
	}
}

type copyCase struct {
	behavior string
	check    func(t copyTest)
}

// copyTest is a running case: the test, the source storage and the target storage.
type copyTest struct {
	checks
	from, to petstore.Database
}

var copyRecordCases = []copyCase{
	{"everything is copied, in as many steps as it needs", func(t copyTest) {
		const animals, creates = 2500, 50
		t.fill(t.from, animals)
		for i := range creates {
			t.create(t.from, idempotency(fmt.Sprint(i), byte(i)))
		}
		for _, key := range []string{"a", "B", "-", "_", "a b", "ab"} { // languages differ in how they sort these keys
			t.create(t.from, idempotency(key, 1))
		}
		t.addKey(t.from, "one")
		var done, total int64
		tallies, err := petstore.Copy(t.Context(), t.from, t.to, func(kind string, d, n int64) {
			if kind == "animals" {
				done, total = d, n
			}
		})
		t.noError(err)
		if want := int64(animals + creates + 6); done != want || total != want {
			t.Errorf("progress was %d of %d animals, want %d", done, total, want)
		}
		t.same("what was done", withoutEvents(tallies), []petstore.Tally{
			{Kind: "keys", Added: 1},
			{Kind: "idempotency records", Added: creates + 6},
			{Kind: "categories"},
			{Kind: "orders"},
			{Kind: "animals", Added: animals + creates + 6},
			{Kind: "profiles"},
			{Kind: "photos"},
			{Kind: "hours of usage"},
		})
		t.sameContent()
		t.same("what was done again", t.copyAll(), nothingDone)
	}},
	{"the next copy brings what was added, changed and removed at the source", func(t copyTest) {
		pets := t.fill(t.from, 2500)
		t.create(t.from, shifted(idempotency("purged", 1), -time.Hour))
		t.create(t.from, idempotency("reused", 1))
		t.copyAll()
		changed, removed := pets[700:800], pets[1500:1700]
		for i := range changed {
			changed[i].Name, changed[i].Status = "Renamed", petstore.Sold
		}
		t.noError(t.from.ReplacePets(t.Context(), changed, removed))
		_, err := t.from.PurgeIdempotency(t.Context(), epoch)
		t.noError(err)
		t.create(t.from, shifted(idempotency("reused", 2), 2*petstore.IdempotencyKept))
		t.same("what was done", withoutEvents(t.copyAll()), []petstore.Tally{
			{Kind: "keys"},
			{Kind: "idempotency records", Added: 1, Removed: 2},
			{Kind: "categories"},
			{Kind: "orders"},
			{Kind: "animals", Added: 1, Changed: 100, Removed: 200},
			{Kind: "profiles"},
			{Kind: "photos"},
			{Kind: "hours of usage"},
		})
		t.sameContent()
		found := storageTest{t.checks, t.to}.search("renamed")
		slices.Reverse(found)
		t.same("what a search finds", found, changed)
	}},
	{"what only the target has is removed, except keys", func(t copyTest) {
		t.create(t.from, idempotency("here", 1))
		t.fill(t.to, 1200)
		t.create(t.to, idempotency("there", 1))
		t.addKey(t.to, "there")
		t.same("what was done", withoutEvents(t.copyAll()), []petstore.Tally{
			{Kind: "keys", Kept: 1},
			{Kind: "idempotency records", Added: 1, Removed: 1},
			{Kind: "categories"},
			{Kind: "orders"},
			{Kind: "animals", Changed: 1, Removed: 1200},
			{Kind: "profiles"},
			{Kind: "photos"},
			{Kind: "hours of usage"},
		})
		if keys := t.keys(t.to); len(keys) != 1 || keys[0].Name != "there" {
			t.Errorf("the target has the keys %+v", keys)
		}
	}},
	{"an empty source empties the target", func(t copyTest) {
		t.fill(t.to, 10)
		t.create(t.to, idempotency("there", 1))
		t.copyAll()
		t.sameContent()
	}},
	{"the target replays a create that the source has answered", func(t copyTest) {
		first := t.create(t.from, idempotency("k", 1))
		t.copyAll()
		pet, again, err := t.to.CreatePet(t.Context(), rex, idempotency("k", 1))
		if err != nil || !again || pet != first {
			t.Errorf("got %+v, %v, %v; want %+v again", pet, again, err, first)
		}
	}},
	{"a create during the copy is copied completely or not at all", func(t copyTest) {
		t.fill(t.from, 2500)
		n := 0
		_, err := petstore.Copy(t.Context(), t.from, t.to, func(string, int64, int64) {
			n++
			t.create(t.from, idempotency(fmt.Sprint("meanwhile ", n), 1))
		})
		t.noError(err)
		records, err := t.to.StoredIdempotency(t.Context(), petstore.StoredIdempotency{}, 10_000)
		t.noError(err)
		for _, r := range records {
			var made petstore.Pet
			t.noError(json.Unmarshal([]byte(r.Answer), &made))
			if _, err := t.to.GetPet(t.Context(), made.ID); err != nil {
				t.Errorf("the record of %s was copied without its animal: %v", r.Key, err)
			}
		}
		t.copyAll()
		t.sameContent()
	}},
	{"the target never reuses an id that the source has given", func(t copyTest) {
		var last petstore.Pet
		for range 5 {
			last = t.create(t.from, nil)
		}
		t.noError(t.from.ReplacePets(t.Context(), nil, []petstore.Pet{last}))
		for _, round := range []string{"first", "second"} {
			t.copyAll()
			if pet := t.create(t.to, nil); pet.ID <= last.ID {
				t.Errorf("%s copy: a new animal got the id %d, and %d was given before", round, pet.ID, last.ID)
			}
		}
	}},
	{"the first animal in the copy of an empty storage gets the id 1", func(t copyTest) {
		t.copyAll()
		if pet := t.create(t.to, nil); pet.ID != 1 {
			t.Errorf("the first animal got the id %d", pet.ID)
		}
	}},
}

// nothingDone is the result of a copy that found nothing to do.
var nothingDone = []petstore.Tally{
	{Kind: "keys"}, {Kind: "idempotency records"}, {Kind: "categories"}, {Kind: "orders"}, {Kind: "animals"}, {Kind: "profiles"}, {Kind: "photos"},
	{Kind: "hours of usage"}, {Kind: "records of events"}, {Kind: "webhooks"},
}

// withoutEvents leaves out how many records of events were copied, because storages may put any number of events in one.
func withoutEvents(tallies []petstore.Tally) []petstore.Tally { return tallies[:len(nothingDone)-2] }

func (t copyTest) copyAll() []petstore.Tally {
	t.Helper()
	tallies, err := petstore.Copy(t.Context(), t.from, t.to, func(string, int64, int64) {})
	t.noError(err)
	return tallies
}

// fill stores n animals with gaps between their ids, and returns the animals.
func (t copyTest) fill(s petstore.Database, n int) []petstore.Pet {
	t.Helper()
	pets := make([]petstore.Pet, n)
	for i := range pets {
		pets[i] = petstore.Pet{ID: int64(3*i + 1), NewPet: petstore.NewPet{Name: fmt.Sprintf("Pet %d 🐕", i), CategoryID: int64(i - 5), Status: petstore.Statuses[i%3]}}
	}
	t.noError(s.ReplacePets(t.Context(), pets, nil))
	return pets
}

func (t copyTest) create(s petstore.Database, o *petstore.Idempotency) petstore.Pet {
	t.Helper()
	pet, _, err := s.CreatePet(t.Context(), rex, o)
	t.noError(err)
	return pet
}

// sameContent fails the test unless both storages have the same content.
func (t copyTest) sameContent() {
	t.Helper()
	if got, want := t.content(t.to), t.content(t.from); got != want {
		t.Errorf("the target has\n%.2000s\nwant\n%.2000s", got, want)
	}
}

// content returns everything in a storage as text.
func (t copyTest) content(s petstore.Database) string {
	t.Helper()
	ctx := context.Background()
	keys, err := s.StoredKeys(ctx, petstore.StoredKey{}, 10_000)
	t.noError(err)
	records, err := s.StoredIdempotency(ctx, petstore.StoredIdempotency{}, 10_000)
	t.noError(err)
	pets, err := s.ListPets(ctx, petstore.PetQuery{Limit: 10_000})
	t.noError(err)
	categories, err := s.ListCategories(ctx, petstore.CategoryQuery{From: math.MinInt64, Limit: 10_000})
	t.noError(err)
	orders, err := s.StoredOrders(ctx, petstore.Order{}, 10_000)
	t.noError(err)
	inventory, err := s.Inventory(ctx)
	t.noError(err)
	profiles, err := s.StoredProfiles(ctx, petstore.StoredProfile{}, 10_000)
	t.noError(err)
	photos, err := s.StoredPhotos(ctx, petstore.StoredPhoto{}, 10_000)
	t.noError(err)
	usage, err := s.StoredUsage(ctx, petstore.OwnerUsage{}, 10_000)
	t.noError(err)
	feed, err := s.Feed(ctx)
	t.noError(err)
	events, err := s.StoredEvents(ctx, petstore.StoredEvents{}, 10_000)
	t.noError(err)
	webhooks, err := s.ListWebhooks(ctx, petstore.WebhookQuery{Limit: petstore.MaxWebhooks})
	t.noError(err)
	return fmt.Sprintf("%+v\n%+v\n%+v\n%+v\n%+v\n%+v\n%+v\n%+v\n%+v\n%+v\n%+v\n%+v", webhooks, feed, events, usage, keys, records, pets, categories, orders, inventory, profiles, photos)
}
