package conformance

import (
	"context"
	"math"
	"sync"
	"time"

	"petstore/internal/petstore"
)

var copyOrderCases = []copyCase{
	{"categories, orders and the inventory are copied, and the next copy brings their changes", func(t copyTest) {
		from, to := storageTest{t.checks, t.from}, storageTest{t.checks, t.to}
		dogs, cats := from.createCategory("Dogs"), from.createCategory("Cats")
		from.nameCategory(math.MinInt64, "The least", true)
		from.nameCategory(math.MaxInt64, "The greatest", true)
		free, sold, gone := from.add(rex), from.add(rex), from.add(rex)
		first, second := from.place(free.ID), from.place(sold.ID)
		from.closeOrder(from.place(gone.ID).ID, petstore.Cancelled)
		t.copyAll()
		t.sameContent()
		to.refusedPatch(free.ID, petstore.PetReserved)

		from.closeOrder(first.ID, petstore.Cancelled)
		from.closeOrder(second.ID, petstore.Completed)
		from.place(free.ID)
		from.noError(errorOf(t.from.DeletePet(t.Context(), gone.ID, nil)))
		from.nameCategory(dogs.ID, "Hounds", false)
		from.nameCategory(cats.ID, "Dogs", false)
		from.noError(errorOf(t.from.DeleteCategory(t.Context(), math.MinInt64, nil)))
		tallies := t.copyAll()
		t.sameContent()
		t.same("orders", tallies[3], petstore.Tally{Kind: "orders", Added: 1, Changed: 2})
		t.same("animals", tallies[4], petstore.Tally{Kind: "animals", Changed: 1, Removed: 1})
		t.same("again", t.copyAll(), nothingDone)
	}},
	{"categories that swapped their names are copied", func(t copyTest) {
		from := storageTest{t.checks, t.from}
		dogs, cats := from.createCategory("Dogs"), from.createCategory("Cats")
		t.copyAll()
		from.nameCategory(dogs.ID, "for a moment", false)
		from.nameCategory(cats.ID, "Dogs", false)
		from.nameCategory(dogs.ID, "Cats", false)
		t.copyAll()
		t.sameContent()
		t.same("again", t.copyAll(), nothingDone)
	}},
	{"a copy goes on if another order takes over an animal meanwhile, and the next copy brings both orders", func(t copyTest) {
		from := storageTest{t.checks, t.from}
		pet := from.add(rex)
		first := from.place(pet.ID)
		var closed []petstore.Order
		for id := first.ID + 1; id <= first.ID+1000; id++ {
			closed = append(closed, petstore.Order{ID: id, PetID: pet.ID, Status: petstore.Cancelled, CreatedAt: epoch, ExpiresAt: epoch, ClosedAt: epoch})
		}
		t.noError(t.from.ReplaceOrders(t.Context(), closed, nil))
		change := sync.OnceFunc(func() {
			from.closeOrder(first.ID, petstore.Cancelled)
			from.place(pet.ID)
		})
		_, err := petstore.Copy(t.Context(), changingSource{t.from, change}, t.to, func(string, int64, int64) {})
		t.noError(err)
		t.copyAll()
		t.sameContent()
	}},
	{"an order that was copied without its animal can be closed, or expires", func(t copyTest) {
		to := storageTest{t.checks, t.to}
		held := petstore.Order{ID: 5, PetID: 77, Status: petstore.Open, CreatedAt: epoch, ExpiresAt: time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)}
		over := petstore.Order{ID: 6, PetID: 78, Status: petstore.Open, CreatedAt: epoch, ExpiresAt: epoch}
		t.noError(t.to.ReplaceOrders(t.Context(), []petstore.Order{held, over}, nil))
		closed, _, err := t.to.CloseOrder(t.Context(), held.ID, petstore.Completed, nil)
		t.noError(err)
		t.same("closed", to.order(held.ID), closed)
		_, err = t.to.ExpireOrders(t.Context())
		t.noError(err)
		t.same("the other", to.order(over.ID).Status, petstore.Expired)
	}},
	{"the target never reuses the number of an order or a category", func(t copyTest) {
		from, to := storageTest{t.checks, t.from}, storageTest{t.checks, t.to}
		category := from.createCategory("Dogs")
		from.noError(errorOf(t.from.DeleteCategory(t.Context(), category.ID, nil)))
		order := from.place(from.add(rex).ID)
		t.copyAll()
		t.noError(t.to.ReplaceOrders(t.Context(), nil, []petstore.Order{order}))
		if next := to.createCategory("Cats"); next.ID <= category.ID {
			t.Errorf("a new category got the number %d, and %d was given before", next.ID, category.ID)
		}
		if next := to.place(to.add(rex).ID); next.ID <= order.ID {
			t.Errorf("a new order got the id %d, and %d was given before", next.ID, order.ID)
		}
	}},
	{"a key that may only read at the target stays so, whatever it may do at the source", func(t copyTest) {
		reader := petstore.NewKey("reader", petstore.Free, limits, epoch, petstore.Forever)
		reader.Access = petstore.ReadOnly
		reader.LastUsedAt = epoch.Truncate(time.Hour)
		t.noError(t.from.CreateKey(t.Context(), reader, petstore.HashSecret("reader"), operator))
		t.copyAll()
		t.sameContent()
		writer := reader
		writer.Access = petstore.ReadWrite
		t.noError(t.from.ReplaceKeys(t.Context(), []petstore.StoredKey{{Key: writer, Hash: petstore.HashSecret("reader")}}))
		t.copyAll()
		if keys := t.keys(t.to); len(keys) != 1 || keys[0].Access != petstore.ReadOnly {
			t.Errorf("the target has the keys %+v", keys)
		}
	}},
}

// changingSource is a storage that calls change after the copy has read the first orders.
type changingSource struct {
	petstore.Database
	change func()
}

func (s changingSource) StoredOrders(ctx context.Context, after petstore.Order, limit int) ([]petstore.Order, error) {
	if after != (petstore.Order{}) {
		s.change()
	}
	return s.Database.StoredOrders(ctx, after, limit)
}

func (t storageTest) refusedPatch(id int64, code petstore.Code) {
	t.Helper()
	_, _, err := t.UpdatePet(t.Context(), id, withStatus(petstore.Sold), nil)
	t.refused(err, code)
}
