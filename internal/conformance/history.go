package conformance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"petstore/internal/petstore"
)

var historyCases = []storageCase{
	{"a read never shows less than a read that ended before it began", func(t storageTest) {
		t.noError(History(t.Context(), t.Database))
	}},
}

// Animals is the part of a storage that History uses. A layer in front of a storage can implement Animals too.
type Animals interface {
	ListPets(ctx context.Context, q petstore.PetQuery) ([]petstore.Pet, error)
	GetPet(ctx context.Context, id int64) (petstore.Pet, error)
	CreatePet(ctx context.Context, pet petstore.NewPet, idempotency *petstore.Idempotency) (petstore.Pet, bool, error)
}

// History creates and reads animals at the same time. It returns an error if a read misses an animal that was shown or
// acknowledged before the read began.
func History(ctx context.Context, animals Animals) error {
	const creators, readers, each = 4, 6, 40
	h := history{Animals: animals}
	h.creating.Store(creators)
	ended := make(chan error)
	for range creators {
		go func() { ended <- h.create(ctx, each) }()
	}
	for i := range readers {
		read := h.list
		if i%2 == 1 {
			read = h.get
		}
		go func() { ended <- h.keepReading(ctx, read) }()
	}
	var failure error
	for range creators + readers {
		if err := <-ended; err != nil {
			failure = err
		}
	}
	return failure
}

type history struct {
	Animals
	creating atomic.Int32
	shown    atomic.Int64 // the highest id that was shown or acknowledged so far
}

func (h *history) show(id int64) {
	for {
		before := h.shown.Load()
		if id <= before || h.shown.CompareAndSwap(before, id) {
			return
		}
	}
}

func (h *history) create(ctx context.Context, n int) error {
	defer h.creating.Add(-1)
	for range n {
		pet, _, err := h.CreatePet(ctx, petstore.NewPet{Name: "Rex", Status: petstore.Available}, nil)
		if err != nil {
			return err
		}
		h.show(pet.ID)
	}
	return nil
}

func (h *history) keepReading(ctx context.Context, read func(context.Context) error) error {
	for h.creating.Load() > 0 {
		if err := read(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (h *history) list(ctx context.Context) error {
	before := h.shown.Load()
	pets, err := h.ListPets(ctx, petstore.PetQuery{Limit: 1 + rand.IntN(20)}) // a random limit, so that not all reads are shared
	if err != nil || before == 0 {
		return err
	}
	if len(pets) == 0 || pets[0].ID < before {
		return fmt.Errorf("after the animal %d was shown, a list begins with %v", before, pets[:min(1, len(pets))])
	}
	h.show(pets[0].ID)
	return nil
}

func (h *history) get(ctx context.Context) error {
	before := h.shown.Load()
	if before == 0 {
		return nil
	}
	if _, err := h.GetPet(ctx, before); err != nil {
		return fmt.Errorf("after the animal %d was shown, it cannot be read: %w", before, err)
	}
	return nil
}
