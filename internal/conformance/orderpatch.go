package conformance

import (
	"time"

	"petstore/internal/petstore"
)

func (t storageTest) updateOrder(id int64, patch petstore.OrderPatch) petstore.Order {
	t.Helper()
	order, _, err := t.UpdateOrder(t.Context(), id, patch, nil)
	t.noError(err)
	return order
}

var orderPatchCases = []storageCase{
	{"a patch of an order changes what it names and nothing else", func(t storageTest) {
		order, ann, none, hour := t.place(t.add(rex).ID), "Ann", "", time.Hour
		t.same("an empty patch", t.updateOrder(order.ID, petstore.OrderPatch{}), order)

		want := order
		want.Reference = "Ann"
		t.same("a reference", t.updateOrder(order.ID, petstore.OrderPatch{Reference: &ann}), want)
		t.same("got", t.order(order.ID), want)

		before := time.Now().Truncate(time.Millisecond)
		held := t.updateOrder(order.ID, petstore.OrderPatch{Hold: &hour})
		if end := held.ExpiresAt; end.Sub(before.Add(hour)).Abs() > time.Minute || end.Equal(order.ExpiresAt) {
			t.Fatalf("a new hold of an hour ends at %v", end)
		}
		want.ExpiresAt = held.ExpiresAt
		t.same("a hold", held, want)

		want.Reference = ""
		t.same("no reference", t.updateOrder(order.ID, petstore.OrderPatch{Reference: &none}), want)
		t.same("got", t.order(order.ID), want)
		t.same("its animal", t.status(order.PetID), petstore.Pending)
	}},
	{"a new hold counts from now, whether it prolongs or shortens the order", func(t storageTest) {
		short, long := shortHold, 2*petstore.DefaultHold
		prolonged, shortened := t.place(t.add(rex).ID), t.place(t.add(rex).ID)
		after := t.updateOrder(prolonged.ID, petstore.OrderPatch{Hold: &long})
		if by := after.ExpiresAt.Sub(prolonged.ExpiresAt); by < petstore.DefaultHold {
			t.Fatalf("a hold of twice the time prolongs the order by %v", by)
		}
		t.awaitExpiry(t.updateOrder(shortened.ID, petstore.OrderPatch{Hold: &short}))
		_, err := t.ExpireOrders(t.Context())
		t.noError(err)
		t.same("prolonged", t.order(prolonged.ID).Status, petstore.Open)
		t.same("shortened", t.order(shortened.ID).Status, petstore.Expired)
		t.same("the animal of the shortened order", t.status(shortened.PetID), petstore.Available)
	}},
	{"the reference of a closed order can change, its hold cannot", func(t storageTest) {
		ann, none, hour := "Ann", "", time.Hour
		for _, to := range []petstore.OrderStatus{petstore.Completed, petstore.Cancelled, petstore.Expired} {
			var order petstore.Order
			if to == petstore.Expired {
				order = t.placeFor(t.add(rex).ID, shortHold)
				t.awaitExpiry(order)
			} else {
				order = t.closeOrder(t.place(t.add(rex).ID).ID, to)
			}
			closed := t.updateOrder(order.ID, petstore.OrderPatch{Reference: &ann})
			want := order.AsOf(order.ExpiresAt)
			want.Reference = "Ann"
			t.same("with a reference", closed, want)
			want.Reference = ""
			t.same("without", t.updateOrder(order.ID, petstore.OrderPatch{Reference: &none}), want)
			_, _, err := t.UpdateOrder(t.Context(), order.ID, petstore.OrderPatch{Reference: &ann, Hold: &hour}, nil)
			t.refused(err, petstore.OrderClosed)
			t.same("after the refusal", t.order(order.ID), want)
			t.same("its animal", t.status(order.PetID), to.Leaves())
		}
	}},
	{"an order that does not exist cannot be changed", func(t storageTest) {
		for _, id := range []int64{0, -1, 1, petstore.MaxID} {
			_, _, err := t.UpdateOrder(t.Context(), id, petstore.OrderPatch{}, nil)
			t.refused(err, petstore.NotFound)
		}
	}},
	{"concurrent patches of different fields of an order all take effect", func(t storageTest) {
		for range 20 {
			order, ann, hour := t.place(t.add(rex).ID), "Ann", time.Hour
			t.concurrently(2, func(i int) error {
				patch := petstore.OrderPatch{Reference: &ann}
				if i == 1 {
					patch = petstore.OrderPatch{Hold: &hour}
				}
				_, _, err := t.UpdateOrder(t.Context(), order.ID, patch, nil)
				return err
			})
			got := t.order(order.ID)
			if got.Reference != ann || got.ExpiresAt.Equal(order.ExpiresAt) {
				t.Fatalf("got %+v", got)
			}
		}
	}},
}
