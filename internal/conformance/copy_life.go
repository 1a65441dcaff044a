package conformance

import (
	"context"
	"math"
	"sync"
	"time"

	"petstore/internal/petstore"
)

var copyLifeCases = []copyCase{
	{"categories, orders and the inventory come over, and what became of them with the next copy", func(t copyTest) {
		from, to := storageTest{t.T, t.from}, storageTest{t.T, t.to}
		dogs, cats := from.category("Dogs"), from.category("Cats")
		from.name(math.MinInt64, "The least", true)
		from.name(math.MaxInt64, "The greatest", true)
		free, sold, gone := from.add(rex), from.add(rex), from.add(rex)
		first, second := from.place(free.ID), from.place(sold.ID)
		from.finish(from.place(gone.ID).ID, petstore.Cancelled)
		t.copy()
		t.equal()
		to.refusedPatch(free.ID, petstore.PetReserved)

		from.finish(first.ID, petstore.Cancelled)
		from.finish(second.ID, petstore.Completed)
		from.place(free.ID)
		from.noError(t.from.DeletePet(t.Context(), gone.ID))
		from.name(dogs.ID, "Hounds", false)
		from.name(cats.ID, "Dogs", false)
		from.noError(t.from.DeleteCategory(t.Context(), math.MinInt64))
		tallies := t.copy()
		t.equal()
		t.same("orders", tallies[3], petstore.Tally{Kind: "orders", Added: 1, Changed: 2})
		t.same("animals", tallies[4], petstore.Tally{Kind: "animals", Changed: 1, Removed: 1})
		t.same("again", t.copy(), untouched)
	}},
	{"names that changed places come over", func(t copyTest) {
		from := storageTest{t.T, t.from}
		dogs, cats := from.category("Dogs"), from.category("Cats")
		t.copy()
		from.name(dogs.ID, "for a moment", false)
		from.name(cats.ID, "Dogs", false)
		from.name(dogs.ID, "Cats", false)
		t.copy()
		t.equal()
		t.same("again", t.copy(), untouched)
	}},
	{"a copy goes on when an animal that it saw held is held by another order, and the next copy has both", func(t copyTest) {
		from := storageTest{t.T, t.from}
		pet := from.add(rex)
		first := from.place(pet.ID)
		var closed []petstore.Order
		for id := first.ID + 1; id <= first.ID+1000; id++ {
			closed = append(closed, petstore.Order{ID: id, PetID: pet.ID, Status: petstore.Cancelled, CreatedAt: epoch, ExpiresAt: epoch, ClosedAt: epoch})
		}
		t.noError(t.from.ReplaceOrders(t.Context(), closed, nil))
		change := sync.OnceFunc(func() {
			from.finish(first.ID, petstore.Cancelled)
			from.place(pet.ID)
		})
		_, err := petstore.Copy(t.Context(), changing{t.from, change}, t.to, func(int64, int64) {})
		t.noError(err)
		t.copy()
		t.equal()
	}},
	{"an order that came over without its animal can be closed, and expires", func(t copyTest) {
		to := storageTest{t.T, t.to}
		held := petstore.Order{ID: 5, PetID: 77, Status: petstore.Open, CreatedAt: epoch, ExpiresAt: time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)}
		over := petstore.Order{ID: 6, PetID: 78, Status: petstore.Open, CreatedAt: epoch, ExpiresAt: epoch}
		t.noError(t.to.ReplaceOrders(t.Context(), []petstore.Order{held, over}, nil))
		closed, err := t.to.CloseOrder(t.Context(), held.ID, petstore.Completed)
		t.noError(err)
		t.same("closed", to.order(held.ID), closed)
		_, err = t.to.ExpireOrders(t.Context())
		t.noError(err)
		t.same("the other", to.order(over.ID).Status, petstore.Expired)
	}},
	{"no number of an order or a category that the source ever gave is given again", func(t copyTest) {
		from, to := storageTest{t.T, t.from}, storageTest{t.T, t.to}
		category := from.category("Dogs")
		from.noError(t.from.DeleteCategory(t.Context(), category.ID))
		order := from.place(from.add(rex).ID)
		t.copy()
		t.noError(t.to.ReplaceOrders(t.Context(), nil, []petstore.Order{order}))
		if next := to.category("Cats"); next.ID <= category.ID {
			t.Errorf("a new category got the number %d, and %d was given before", next.ID, category.ID)
		}
		if next := to.place(to.add(rex).ID); next.ID <= order.ID {
			t.Errorf("a new order got the id %d, and %d was given before", next.ID, order.ID)
		}
	}},
	{"a key that may only read at one side may only read at the other", func(t copyTest) {
		reader := petstore.NewKey("reader", petstore.Free, limits, epoch, petstore.Forever)
		reader.Access = petstore.ReadOnly
		reader.LastUsedAt = epoch.Truncate(time.Hour)
		t.noError(t.from.CreateKey(t.Context(), reader, petstore.HashSecret("reader")))
		t.copy()
		t.equal()
		writer := reader
		writer.Access = petstore.ReadWrite
		t.noError(t.from.ReplaceKeys(t.Context(), []petstore.StoredKey{{Key: writer, Hash: petstore.HashSecret("reader")}}))
		t.copy()
		if keys := t.keys(t.to); len(keys) != 1 || keys[0].Access != petstore.ReadOnly {
			t.Errorf("the target has the keys %+v", keys)
		}
	}},
}

// changing is a storage that changes after the copy has read the first orders.
type changing struct {
	petstore.Database
	change func()
}

func (s changing) StoredOrders(ctx context.Context, after petstore.Order, limit int) ([]petstore.Order, error) {
	if after != (petstore.Order{}) {
		s.change()
	}
	return s.Database.StoredOrders(ctx, after, limit)
}

func (t storageTest) refusedPatch(id int64, code petstore.Code) {
	t.Helper()
	_, err := t.UpdatePet(t.Context(), id, restated(petstore.Sold))
	t.refused(err, code)
}
