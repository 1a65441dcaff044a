package conformance

import (
	"sync/atomic"
	"time"

	"petstore/internal/petstore"
)

// shortHold is the hold of an order that is to expire during the test.
const shortHold = 30 * time.Millisecond

// awaitExpiry waits until the order has expired. It does not read the order, because a read would store the order as
// expired.
func (t storageTest) awaitExpiry(order petstore.Order) {
	t.Helper()
	for !time.Now().After(order.ExpiresAt) {
		time.Sleep(time.Millisecond)
	}
}

var expiryCases = []storageCase{
	{"an order is shown as expired from its end on, whichever read comes first", func(t storageTest) {
		for name, read := range map[string]func(petstore.Order) []petstore.Order{
			"got":    func(o petstore.Order) []petstore.Order { return []petstore.Order{t.order(o.ID)} },
			"listed": func(petstore.Order) []petstore.Order { return t.orders(petstore.OrderQuery{Limit: 1}) },
			"listed as expired": func(petstore.Order) []petstore.Order {
				return t.orders(petstore.OrderQuery{Status: petstore.Expired, Limit: 1})
			},
			"listed as expired of its animal": func(o petstore.Order) []petstore.Order {
				return t.orders(petstore.OrderQuery{Status: petstore.Expired, PetID: &o.PetID, Limit: 9})
			},
		} {
			order := t.placeFor(t.add(rex).ID, shortHold)
			t.awaitExpiry(order)
			t.same("listed as open", len(t.orders(petstore.OrderQuery{Status: petstore.Open, Limit: 9})), 0)
			want := order
			want.Status, want.ClosedAt = petstore.Expired, order.ExpiresAt
			t.same(name, read(order), []petstore.Order{want})
			for _, to := range []petstore.OrderStatus{petstore.Completed, petstore.Cancelled} {
				_, _, err := t.CloseOrder(t.Context(), order.ID, to, nil)
				t.refused(err, petstore.OrderClosed)
			}
			t.same("its animal", t.status(order.PetID), petstore.Available)
		}
	}},
	{"a refusal to close an order that has expired stores it as expired", func(t storageTest) {
		order := t.placeFor(t.add(rex).ID, shortHold)
		t.awaitExpiry(order)
		_, _, err := t.CloseOrder(t.Context(), order.ID, petstore.Completed, nil)
		t.refused(err, petstore.OrderClosed)
		t.same("its animal", t.status(order.PetID), petstore.Available)
	}},
	{"ExpireOrders closes orders that have expired and frees their pets, and changes nothing else", func(t storageTest) {
		lasting := t.place(t.add(rex).ID)
		var over []petstore.Order
		for range 3 {
			over = append(over, t.placeFor(t.add(rex).ID, shortHold))
		}
		byHand := t.add(petstore.NewPet{Name: "Olive", Status: petstore.Pending})
		t.awaitExpiry(over[2])
		n, err := t.ExpireOrders(t.Context())
		t.noError(err)
		t.same("expired", n, int64(3))
		for _, order := range over {
			t.same("the animal", t.status(order.PetID), petstore.Available)
			t.same("closed at its end", t.order(order.ID).ClosedAt, order.ExpiresAt)
		}
		t.same("the lasting order", t.order(lasting.ID), lasting)
		t.same("its animal", t.status(lasting.PetID), petstore.Pending)
		t.same("an animal that is pending without an order", t.status(byHand.ID), petstore.Pending)
		t.same("inventory", t.inventory(), petstore.Inventory{Available: 3, Pending: 2})
		n, err = t.ExpireOrders(t.Context())
		t.noError(err)
		t.same("expired the second time", n, int64(0))
	}},
	{"ExpireOrders closes any number of orders, and several calls can run at once", func(t storageTest) {
		const many = 1100
		t.concurrently(20, func(i int) error {
			for range many / 20 {
				pet, _, err := t.CreatePet(t.Context(), rex, nil)
				if err != nil {
					return err
				}
				if _, _, err := t.PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID, Hold: time.Millisecond}, nil); err != nil {
					return err
				}
			}
			return nil
		})
		t.awaitExpiry(petstore.Order{ExpiresAt: time.Now().Add(time.Millisecond)})
		var expired atomic.Int64
		t.concurrently(4, func(int) error {
			n, err := t.ExpireOrders(t.Context())
			expired.Add(n)
			return err
		})
		n, err := t.ExpireOrders(t.Context()) // each concurrent call may have skipped orders that another call was closing
		t.noError(err)
		t.same("expired", expired.Load()+n, int64(many))
		t.same("inventory", t.inventory(), petstore.Inventory{Available: many})
	}},
	{"a write to a pet first closes an order that has expired", func(t storageTest) {
		for name, write := range map[string]func(id int64) error{
			"a patch of its status": func(id int64) error {
				_, _, err := t.UpdatePet(t.Context(), id, withStatus(petstore.Sold), nil)
				return err
			},
			"a patch of its name": func(id int64) error { _, _, err := t.UpdatePet(t.Context(), id, withName("Max"), nil); return err },
			"a delete":            func(id int64) error { return errorOf(t.DeletePet(t.Context(), id, nil)) },
			"an order": func(id int64) error {
				_, _, err := t.PlaceOrder(t.Context(), petstore.NewOrder{PetID: id, Hold: time.Hour}, nil)
				return err
			},
		} {
			pet := t.add(rex)
			order := t.placeFor(pet.ID, shortHold)
			t.awaitExpiry(order)
			if err := write(pet.ID); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			open := t.orders(petstore.OrderQuery{PetID: &pet.ID, Status: petstore.Open, Limit: 9})
			if (len(open) == 1) != (name == "an order") {
				t.Fatalf("%s leaves %+v open", name, open)
			}
			t.same("inventory", t.inventory(), t.counted())
		}
		n, err := t.ExpireOrders(t.Context())
		t.noError(err)
		t.same("left for ExpireOrders", n, int64(0))
	}},
	{"of completing, cancelling and expiring, one wins", func(t storageTest) {
		for range 10 {
			pet := t.add(rex)
			order := t.placeFor(pet.ID, 3*time.Millisecond)
			var completed, cancelled atomic.Int64
			t.concurrently(12, func(i int) error {
				switch i % 3 {
				case 0:
					_, err := t.ExpireOrders(t.Context())
					return err
				case 1:
					return t.tryClose(order.ID, petstore.Completed, &completed)
				}
				return t.tryClose(order.ID, petstore.Cancelled, &cancelled)
			})
			t.awaitExpiry(order)
			_, err := t.ExpireOrders(t.Context())
			t.noError(err)
			winner := t.order(order.ID).Status
			t.same("completed", completed.Load() > 0, winner == petstore.Completed)
			t.same("cancelled", cancelled.Load() > 0, winner == petstore.Cancelled)
			t.same("the animal", t.status(pet.ID), winner.Leaves())
		}
	}},
	{"a replay repeats the answer even if the order has expired", func(t storageTest) {
		ask := petstore.NewOrder{PetID: t.add(rex).ID, Hold: shortHold}
		order, _, err := t.PlaceOrder(t.Context(), ask, idempotency("k", 1))
		t.noError(err)
		t.awaitExpiry(order)
		again, replayed, err := t.PlaceOrder(t.Context(), ask, idempotency("k", 1))
		t.noError(err)
		t.same("replayed", replayed, true)
		t.same("the answer", again, order)
	}},
}

// tryClose tries to close an order. If it succeeds, it adds 1 to done. A refusal is not an error if the order is already
// closed.
func (t storageTest) tryClose(id int64, to petstore.OrderStatus, done *atomic.Int64) error {
	_, _, err := t.CloseOrder(t.Context(), id, to, nil)
	if err == nil {
		done.Add(1)
		return nil
	}
	return checkRefusal(err, petstore.OrderClosed)
}
