package conformance

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"petstore/internal/petstore"
)

// feedModel is what a reader of the feed knows about the store.
type feedModel struct {
	pets       map[int64]petstore.Pet
	profiles   map[int64]petstore.Profile // without empty ones
	orders     map[int64]petstore.Order
	categories map[int64]string
	moved      petstore.Order // the order whose animal has to change next
}

// replay applies events one by one. It returns an error if an event contradicts those before it.
func replay(events []petstore.Event) (*feedModel, error) {
	m := &feedModel{map[int64]petstore.Pet{}, map[int64]petstore.Profile{}, map[int64]petstore.Order{}, map[int64]string{}, petstore.Order{}}
	for i, e := range events {
		if e.Sequence != int64(i+1) {
			return m, fmt.Errorf("event %d is in the place of event %d", e.Sequence, i+1)
		}
		if err := m.apply(e); err != nil {
			return m, fmt.Errorf("event %d, %s: %w", e.Sequence, showEvents([]petstore.Event{e}), err)
		}
	}
	return m, nil
}

func (m *feedModel) apply(e petstore.Event) error {
	if m.moved.ID != 0 && (e.Type != petstore.PetUpdated || e.Pet.Now.ID != m.moved.PetID) {
		return fmt.Errorf("it follows the event of order %d in place of that of its animal", m.moved.ID)
	}
	m.moved = petstore.Order{}
	switch {
	case e.Pet != nil:
		return m.applyPet(e.Type, *e.Pet)
	case e.Profile != nil:
		return m.applyProfile(*e.Profile)
	case e.Order != nil:
		return m.applyOrder(e.Type, *e.Order)
	}
	return m.applyCategory(e.Type, *e.Category)
}

func (m *feedModel) applyPet(t petstore.EventType, c petstore.Changed[petstore.Pet]) error {
	known, found := m.pets[c.Now.ID]
	switch {
	case t == petstore.PetCreated && !found && c.Before == nil:
	case t == petstore.PetUpdated && found && c.Before != nil && *c.Before == known && c.Now != known:
	case t == petstore.PetDeleted && found && c.Before == nil && c.Now == known:
		delete(m.pets, c.Now.ID)
		delete(m.profiles, c.Now.ID)
		return nil
	default:
		return fmt.Errorf("known is %+v, %v", known, found)
	}
	m.pets[c.Now.ID] = c.Now
	return nil
}

func (m *feedModel) applyProfile(c petstore.Changed[petstore.PetProfile]) error {
	id, known := c.Now.PetID, m.profiles[c.Now.PetID]
	if _, found := m.pets[id]; !found || c.Before == nil || c.Before.PetID != id {
		return fmt.Errorf("there is no such animal")
	}
	if c.Before.Breed != known.Breed && (c.Before.Breed != "" || c.Now.Breed != known.Breed) {
		return fmt.Errorf("the known breed is %q", known.Breed)
	}
	if !slices.Equal(c.Before.Photos, known.Photos) && (c.Before.Photos != nil || !slices.Equal(c.Now.Photos, known.Photos)) {
		return fmt.Errorf("the known photos are %+v", known.Photos)
	}
	if c.Now.Facts == known.Facts && slices.Equal(c.Now.Photos, known.Photos) {
		return errors.New("it changes nothing")
	}
	m.profiles[id] = c.Now.Profile
	if c.Now.Facts == (petstore.Facts{}) && len(c.Now.Photos) == 0 {
		delete(m.profiles, id)
	}
	return nil
}

func (m *feedModel) applyOrder(t petstore.EventType, c petstore.Changed[petstore.Order]) error {
	known, found := m.orders[c.Now.ID]
	switch {
	case t == petstore.OrderPlaced && !found && c.Before == nil:
	case t == petstore.OrderPlaced || !found || c.Before == nil || *c.Before != known || c.Now == known:
		return fmt.Errorf("known is %+v, %v", known, found)
	}
	if t != petstore.OrderUpdated {
		m.moved = c.Now
	}
	m.orders[c.Now.ID] = c.Now
	return nil
}

func (m *feedModel) applyCategory(t petstore.EventType, c petstore.Changed[petstore.Category]) error {
	known, found := m.categories[c.Now.ID]
	switch {
	case t == petstore.CategoryCreated && !found && c.Before == nil:
	case t == petstore.CategoryUpdated && found && c.Before != nil && c.Before.Name == known && c.Now.Name != known:
	case t == petstore.CategoryDeleted && found && c.Before == nil && c.Now.Name == known:
		delete(m.categories, c.Now.ID)
		return nil
	default:
		return fmt.Errorf("known is %q, %v", known, found)
	}
	m.categories[c.Now.ID] = c.Now.Name
	return nil
}

// modelOf returns what the storage itself says about the store.
func (t storageTest) modelOf() *feedModel {
	t.Helper()
	m := &feedModel{map[int64]petstore.Pet{}, map[int64]petstore.Profile{}, map[int64]petstore.Order{}, map[int64]string{}, petstore.Order{}}
	for _, pet := range t.list(petstore.PetQuery{Limit: math.MaxInt32}) {
		m.pets[pet.ID] = pet
	}
	profiles, err := t.Profiles(t.Context(), slices.Collect(maps.Keys(m.pets)))
	t.noError(err)
	for id, profile := range profiles {
		if profile.Facts != (petstore.Facts{}) || len(profile.Photos) > 0 {
			m.profiles[id] = profile
		}
	}
	orders, err := t.StoredOrders(t.Context(), petstore.Order{}, math.MaxInt32)
	t.noError(err)
	for _, order := range orders {
		m.orders[order.ID] = order
	}
	for _, category := range t.allCategories() {
		m.categories[category.ID] = category.Name
	}
	return m
}

// FeedEqualsStore fails the test unless replaying the feed, of which nothing was trimmed, gives what the storage has.
func FeedEqualsStore(t *testing.T, s petstore.Database) {
	t.Helper()
	storageTest{checks{t}, s}.sameAsFeed()
}

// sameAsFeed fails the test unless replaying the feed gives what the storage has.
func (t storageTest) sameAsFeed() {
	t.Helper()
	replayed, err := replay(t.feed())
	t.noError(err)
	if replayed.moved.ID != 0 {
		t.Fatalf("the feed ends between order %d and its animal", replayed.moved.ID)
	}
	stored := t.modelOf()
	t.same("animals", replayed.pets, stored.pets)
	t.same("profiles", replayed.profiles, stored.profiles)
	t.same("orders", replayed.orders, stored.orders)
	t.same("categories", replayed.categories, stored.categories)
}

var eventModelCases = []storageCase{
	{"the feed of concurrent changes of every kind, replayed, equals the store", func(t storageTest) {
		pets := t.addMany(12)
		t.concurrently(16, func(i int) error {
			for n := range 40 {
				err := t.makeAnyChange(i, n, pets)
				if err == nil && n%4 == 0 {
					err = t.changeAnything(i, n, pets)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		t.sameAsFeed()
	}},
	{"a change that was acknowledged before another began comes before it, and every read of the feed shows it", func(t storageTest) {
		type call struct{ began, ended int64 }
		var clock atomic.Int64
		var mu sync.Mutex
		calls := map[int64]call{} // by the animal
		t.concurrently(12, func(i int) error {
			for n := range 25 {
				time.Sleep(time.Duration(rand.IntN(2)) * time.Millisecond)
				began := clock.Add(1)
				pet, _, err := t.CreatePet(t.Context(), rex, nil)
				if err != nil {
					return err
				}
				mu.Lock()
				calls[pet.ID] = call{began, clock.Add(1)}
				mu.Unlock()
				if (i+n)%3 > 0 {
					continue
				}
				page, err := t.ListEvents(t.Context(), petstore.EventQuery{PetID: &pet.ID, Limit: 10})
				if err != nil || len(page.Events) != 1 {
					return fmt.Errorf("the feed shows %d events of the new animal %d (%w)", len(page.Events), pet.ID, err)
				}
				if _, err := t.GetPet(t.Context(), page.Events[0].PetID()); err != nil {
					return err
				}
			}
			return nil
		})
		latest := int64(math.MinInt64)
		for _, e := range t.feed() {
			c := calls[e.PetID()]
			if c.ended < latest {
				t.Fatalf("event %d is of a change that was acknowledged before one began whose event comes earlier", e.Sequence)
			}
			latest = max(latest, c.began)
		}
		t.same("events", len(calls), 300)
	}},
	{"what the feed shows can be read at once", func(t storageTest) {
		var written atomic.Bool
		failed := make(chan error, 1)
		go func() { failed <- t.readWhatTheFeedShows(&written) }()
		t.concurrently(6, func(int) error {
			for range 50 {
				if _, _, err := t.CreatePet(t.Context(), rex, nil); err != nil {
					return err
				}
			}
			return nil
		})
		written.Store(true)
		t.noError(<-failed)
	}},
}

// readWhatTheFeedShows follows the feed until nobody writes any more, and reads the animal of each event.
func (t storageTest) readWhatTheFeedShows(written *atomic.Bool) error {
	var after *petstore.EventPosition
	for {
		complete := written.Load()
		page, err := t.ListEvents(t.Context(), petstore.EventQuery{After: after, Limit: 100})
		if err != nil {
			return err
		}
		for _, e := range page.Events {
			if _, err := t.GetPet(t.Context(), e.PetID()); err != nil {
				return fmt.Errorf("the feed shows the animal %d, but: %w", e.PetID(), err)
			}
		}
		if complete && page.End {
			return nil
		}
		after = &page.Next
	}
}

// changeAnything changes a profile, the photos of an animal, an order or a category. The storage refuses some changes.
func (t storageTest) changeAnything(i, n int, pets []petstore.Pet) (err error) {
	ctx, pet, text := t.Context(), pets[(i*5+n)%len(pets)], fmt.Sprint("Breed ", n%3)
	switch (i + n/4) % 8 {
	case 0:
		err = writeError(t.UpdateProfile(ctx, pet.ID, withBreed(text), nil))
	case 1:
		err = writeError(t.AddPhoto(ctx, pet.ID, smallPhoto, idempotency(fmt.Sprint("photo", i, n), 1)))
	case 2, 3:
		var profile petstore.Profile
		if profile, err = t.GetProfile(ctx, pet.ID); err == nil && len(profile.Photos) > 0 {
			photo := profile.Photos[n%len(profile.Photos)].ID
			if i%2 == 0 {
				err = writeError(t.CoverPhoto(ctx, pet.ID, photo, nil))
			} else {
				_, err = t.DeletePhoto(ctx, pet.ID, photo, nil)
			}
		}
	case 4:
		err = writeError(t.CreateCategory(ctx, text, nil))
	case 5:
		_, err = t.DeleteCategory(ctx, int64(1+n%5), nil)
	case 6:
		err = writeError(t.NameCategory(ctx, petstore.Category{ID: int64(1 + n%5), Name: fmt.Sprint("Kind ", i%3)}, nil))
	case 7:
		orders, _ := t.ListOrders(ctx, petstore.OrderQuery{Limit: 5})
		for _, order := range orders {
			hold := time.Hour
			err = writeError(t.UpdateOrder(ctx, order.ID, petstore.OrderPatch{Reference: &text, Hold: &hold}, nil))
		}
	}
	for _, expected := range []petstore.Code{petstore.NotFound, petstore.NameTaken, petstore.OrderClosed, petstore.TooManyPhotos} {
		if petstore.IsCode(err, expected) {
			return nil
		}
	}
	return err
}
