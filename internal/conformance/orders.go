package conformance

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"petstore/internal/petstore"
)

// place places an order with the default hold.
func (t storageTest) place(petID int64) petstore.Order {
	t.Helper()
	return t.placeFor(petID, petstore.DefaultHold)
}

func (t storageTest) placeFor(petID int64, hold time.Duration) petstore.Order {
	t.Helper()
	order, replayed, err := t.PlaceOrder(t.Context(), petstore.NewOrder{PetID: petID, Hold: hold}, nil)
	t.noError(err)
	t.same("replayed", replayed, false)
	return order
}

func (t storageTest) order(id int64) petstore.Order {
	t.Helper()
	order, err := t.GetOrder(t.Context(), id)
	t.noError(err)
	return order
}

func (t storageTest) closeOrder(id int64, to petstore.OrderStatus) petstore.Order {
	t.Helper()
	order, _, err := t.CloseOrder(t.Context(), id, to, nil)
	t.noError(err)
	return order
}

func (t storageTest) orders(q petstore.OrderQuery) []petstore.Order {
	t.Helper()
	orders, err := t.ListOrders(t.Context(), q)
	t.noError(err)
	return append([]petstore.Order{}, orders...)
}

func (t storageTest) status(petID int64) petstore.Status {
	t.Helper()
	pet, err := t.GetPet(t.Context(), petID)
	t.noError(err)
	return pet.Status
}

var orderCases = []storageCase{
	{"an order holds its pet from the time it is placed", func(t storageTest) {
		pet := t.add(rex)
		before := time.Now()
		order, replayed, err := t.PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID, Reference: "Ann's 🐕", Hold: time.Hour}, nil)
		t.noError(err)
		t.same("replayed", replayed, false)
		if order.ID < 1 || order.ID >= 1<<53 || order.CreatedAt.Sub(before).Abs() > time.Minute {
			t.Fatalf("placed %+v", order)
		}
		want := petstore.Order{ID: order.ID, PetID: pet.ID, Status: petstore.Open, Reference: "Ann's 🐕",
			CreatedAt: order.CreatedAt.UTC().Truncate(time.Millisecond), ExpiresAt: order.CreatedAt.Add(time.Hour)}
		t.same("placed", order, want)
		t.same("got", t.order(order.ID), order)
		t.same("the animal", t.status(pet.ID), petstore.Pending)
	}},
	{"only a pet that is available can be ordered", func(t storageTest) {
		for _, status := range []petstore.Status{petstore.Pending, petstore.Sold} {
			pet := t.add(petstore.NewPet{Name: "Rex", Status: status})
			_, _, err := t.PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID, Hold: time.Hour}, nil)
			t.refused(err, petstore.PetUnavailable)
			t.same("the animal", t.status(pet.ID), status)
		}
		t.same("orders", len(t.orders(petstore.OrderQuery{Limit: 9})), 0)
	}},
	{"a pet that does not exist cannot be ordered", func(t storageTest) {
		pet := t.add(rex)
		t.noError(errorOf(t.DeletePet(t.Context(), pet.ID, nil)))
		for _, id := range []int64{pet.ID, pet.ID + 1, 0, -1, math.MaxInt64} {
			_, _, err := t.PlaceOrder(t.Context(), petstore.NewOrder{PetID: id, Hold: time.Hour}, nil)
			t.refused(err, petstore.InvalidField)
		}
	}},
	{"a completed order sells its pet, a cancelled one frees it", func(t storageTest) {
		for to, leaves := range map[petstore.OrderStatus]petstore.Status{petstore.Completed: petstore.Sold, petstore.Cancelled: petstore.Available} {
			pet := t.add(rex)
			order := t.place(pet.ID)
			closed := t.closeOrder(order.ID, to)
			if closed.Status != to || closed.ClosedAt.Before(closed.CreatedAt) || closed.ClosedAt.After(closed.ExpiresAt) {
				t.Fatalf("closed %+v", closed)
			}
			t.same("got", t.order(order.ID), closed)
			t.same("the animal", t.status(pet.ID), leaves)
		}
	}},
	{"closing an order again in the same way changes nothing", func(t storageTest) {
		for _, to := range []petstore.OrderStatus{petstore.Completed, petstore.Cancelled} {
			pet := t.add(rex)
			order := t.place(pet.ID)
			closed := t.closeOrder(order.ID, to)
			t.patch(pet.ID, withStatus(petstore.Pending))
			t.same("again", t.closeOrder(order.ID, to), closed)
			t.same("the animal", t.status(pet.ID), petstore.Pending)
		}
	}},
	{"a closed order cannot be closed in another way", func(t storageTest) {
		completed, cancelled := t.place(t.add(rex).ID), t.place(t.add(rex).ID)
		t.closeOrder(completed.ID, petstore.Completed)
		t.closeOrder(cancelled.ID, petstore.Cancelled)
		_, _, err := t.CloseOrder(t.Context(), completed.ID, petstore.Cancelled, nil)
		t.refused(err, petstore.OrderClosed)
		_, _, err = t.CloseOrder(t.Context(), cancelled.ID, petstore.Completed, nil)
		t.refused(err, petstore.OrderClosed)
		t.same("the sold animal", t.status(completed.PetID), petstore.Sold)
	}},
	{"an order that does not exist is not found", func(t storageTest) {
		order := t.place(t.add(rex).ID)
		for _, id := range []int64{0, -1, order.ID + 1, math.MaxInt64} {
			_, err := t.GetOrder(t.Context(), id)
			t.refused(err, petstore.NotFound)
			_, _, err = t.CloseOrder(t.Context(), id, petstore.Completed, nil)
			t.refused(err, petstore.NotFound)
		}
	}},
	{"a pet that is free again can be ordered again, and closed orders outlive their pet", func(t storageTest) {
		pet := t.add(rex)
		first := t.closeOrder(t.place(pet.ID).ID, petstore.Cancelled)
		second := t.closeOrder(t.place(pet.ID).ID, petstore.Cancelled)
		t.noError(errorOf(t.DeletePet(t.Context(), pet.ID, nil)))
		t.same("its orders", t.orders(petstore.OrderQuery{PetID: &pet.ID, Limit: 9}), []petstore.Order{second, first})
		t.same("closed again", t.closeOrder(first.ID, petstore.Cancelled), first)
	}},
	{"orders are listed newest first, by status and by pet, page by page", func(t storageTest) {
		var all []petstore.Order
		for i := range 12 {
			order := t.place(t.add(rex).ID)
			if i%3 > 0 {
				order = t.closeOrder(order.ID, petstore.OrderStatus(1+i%3))
			}
			all = append(all, order)
		}
		slices.Reverse(all)
		t.same("all", t.orders(petstore.OrderQuery{Limit: 100}), all)
		t.same("the newest", t.orders(petstore.OrderQuery{Limit: 5}), all[:5])
		t.same("the next", t.orders(petstore.OrderQuery{Limit: 5, Before: all[4].ID}), all[5:10])
		for _, status := range petstore.OrderStatuses {
			var of []petstore.Order
			for _, order := range all {
				if order.Status == status {
					of = append(of, order)
				}
			}
			t.same(status.String(), t.orders(petstore.OrderQuery{Status: status, Limit: 100}), append([]petstore.Order{}, of...))
			if len(of) > 2 {
				t.same("a page of them", t.orders(petstore.OrderQuery{Status: status, Limit: 1, Before: of[0].ID}), of[1:2])
			}
		}
		one := all[3]
		t.same("of one animal", t.orders(petstore.OrderQuery{PetID: &one.PetID, Limit: 9}), []petstore.Order{one})
		t.same("of one animal and its status", t.orders(petstore.OrderQuery{PetID: &one.PetID, Status: one.Status, Limit: 9}), []petstore.Order{one})
		t.same("of one animal and another status", len(t.orders(petstore.OrderQuery{PetID: &one.PetID, Status: petstore.Expired, Limit: 9})), 0)
		nobody := int64(-5)
		t.same("of no animal", len(t.orders(petstore.OrderQuery{PetID: &nobody, Limit: 9})), 0)
	}},
	{"of fifty concurrent orders for one pet, one is placed", func(t storageTest) {
		pet := t.add(rex)
		var placed atomic.Int64
		t.concurrently(50, func(int) error {
			_, _, err := t.PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID, Hold: time.Hour}, nil)
			if err == nil {
				placed.Add(1)
				return nil
			}
			return checkRefusal(err, petstore.PetUnavailable)
		})
		t.same("placed", placed.Load(), int64(1))
		t.same("orders", len(t.orders(petstore.OrderQuery{Limit: 100})), 1)
	}},
	{"of completing and cancelling at once, one wins", func(t storageTest) {
		for range 5 {
			order := t.place(t.add(rex).ID)
			var won [5]atomic.Int64
			t.concurrently(20, func(i int) error {
				to := petstore.OrderStatus(2 + i%2)
				got, _, err := t.CloseOrder(t.Context(), order.ID, to, nil)
				if err == nil {
					won[to].Add(1)
					if got.Status != to {
						return fmt.Errorf("closed as %s, got %s", to, got.Status)
					}
					return nil
				}
				return checkRefusal(err, petstore.OrderClosed)
			})
			winner := t.order(order.ID).Status
			t.same("answers of the winner", won[winner].Load(), int64(10))
			t.same("the animal", t.status(order.PetID), winner.Leaves())
		}
	}},
	{"a repeated request places one order and gets the first answer", func(t storageTest) {
		pet := t.add(rex)
		ask := petstore.NewOrder{PetID: pet.ID, Reference: "r", Hold: time.Hour}
		order, replayed, err := t.PlaceOrder(t.Context(), ask, idempotency("k", 1))
		t.noError(err)
		t.same("replayed", replayed, false)
		t.closeOrder(order.ID, petstore.Completed)
		again, replayed, err := t.PlaceOrder(t.Context(), ask, idempotency("k", 1))
		t.noError(err)
		t.same("replayed", replayed, true)
		t.same("the answer", again, order)
		_, _, err = t.CreatePet(t.Context(), rex, idempotency("k", 2))
		t.refused(err, petstore.IdempotencyConflict)
	}},
	{"a refused order does not use up its key", func(t storageTest) {
		pet := t.add(rex)
		holder := t.place(pet.ID)
		ask := petstore.NewOrder{PetID: pet.ID, Hold: time.Hour}
		_, _, err := t.PlaceOrder(t.Context(), ask, idempotency("k", 1))
		t.refused(err, petstore.PetUnavailable)
		t.closeOrder(holder.ID, petstore.Cancelled)
		_, replayed, err := t.PlaceOrder(t.Context(), ask, idempotency("k", 1))
		t.noError(err)
		t.same("replayed", replayed, false)
	}},
	{"concurrent duplicates place one order", func(t storageTest) {
		pet := t.add(rex)
		got := make([]petstore.Order, 30)
		t.concurrently(len(got), func(i int) (err error) {
			got[i], _, err = t.PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID, Hold: time.Hour}, idempotency("k", 1))
			return err
		})
		for _, order := range got {
			t.same("answer", order, got[0])
		}
		t.same("orders", len(t.orders(petstore.OrderQuery{Limit: 100})), 1)
	}},
}
