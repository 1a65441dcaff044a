package conformance

import (
	"fmt"
	"math"
	"time"

	"petstore/internal/petstore"
)

func withName(name string) petstore.PetPatch { return petstore.PetPatch{Name: &name} }

func withCategory(category int64) petstore.PetPatch { return petstore.PetPatch{CategoryID: &category} }

func withStatus(status petstore.Status) petstore.PetPatch { return petstore.PetPatch{Status: &status} }

// patch changes an animal. It fails the test unless a read then returns the same animal as the change.
func (t storageTest) patch(id int64, patch petstore.PetPatch) petstore.Pet {
	t.Helper()
	pet, _, err := t.UpdatePet(t.Context(), id, patch, nil)
	t.noError(err)
	got, err := t.GetPet(t.Context(), id)
	t.noError(err)
	t.same("got after the patch", got, pet)
	return pet
}

var changeCases = []storageCase{
	{"a patch changes the fields it names and leaves the rest", func(t storageTest) {
		pet := t.add(rex)
		other := t.add(tom)
		pet.Name = "Max"
		t.same("renamed", t.patch(pet.ID, withName("Max")), pet)
		pet.CategoryID = math.MinInt64
		t.same("moved", t.patch(pet.ID, withCategory(math.MinInt64)), pet)
		pet.Status = petstore.Sold
		t.same("sold", t.patch(pet.ID, withStatus(petstore.Sold)), pet)
		t.same("listed", t.all(), []petstore.Pet{other, pet})
		t.same("listed by status", t.list(petstore.PetQuery{Status: petstore.Sold, Limit: 9}), []petstore.Pet{other, pet})
		t.same("no longer listed", len(t.list(petstore.PetQuery{Status: petstore.Available, Limit: 9})), 0)
	}},
	{"an empty patch changes nothing", func(t storageTest) {
		pet := t.add(rex)
		t.same("patched", t.patch(pet.ID, petstore.PetPatch{}), pet)
	}},
	{"a patch can change any status to any other", func(t storageTest) {
		pet := t.add(rex)
		for _, from := range petstore.Statuses {
			for _, to := range petstore.Statuses {
				t.patch(pet.ID, withStatus(from))
				t.same("status", t.patch(pet.ID, withStatus(to)).Status, to)
			}
		}
	}},
	{"a pet that does not exist can be neither changed nor deleted", func(t storageTest) {
		pet := t.add(rex)
		for _, id := range []int64{0, -1, pet.ID + 1, math.MaxInt64} {
			_, _, err := t.UpdatePet(t.Context(), id, withName("Max"), nil)
			t.refused(err, petstore.NotFound)
			t.refused(errorOf(t.DeletePet(t.Context(), id, nil)), petstore.NotFound)
		}
		t.same("listed", t.all(), []petstore.Pet{pet})
	}},
	{"a deleted pet is gone, and its id is never reused", func(t storageTest) {
		pets := t.addMany(3)
		t.noError(errorOf(t.DeletePet(t.Context(), pets[0].ID, nil)))
		_, err := t.GetPet(t.Context(), pets[0].ID)
		t.refused(err, petstore.NotFound)
		t.same("listed", t.all(), pets[1:])
		t.refused(errorOf(t.DeletePet(t.Context(), pets[0].ID, nil)), petstore.NotFound)
		if fresh := t.add(rex); fresh.ID <= pets[0].ID {
			t.Fatalf("the id %d was given after %d", fresh.ID, pets[0].ID)
		}
	}},
	{"a pet that an open order holds keeps its status and is not deleted", func(t storageTest) {
		pet := t.add(rex)
		order := t.place(pet.ID)
		for _, status := range []petstore.Status{petstore.Available, petstore.Sold} {
			_, _, err := t.UpdatePet(t.Context(), pet.ID, withStatus(status), nil)
			t.refused(err, petstore.PetReserved)
		}
		t.refused(errorOf(t.DeletePet(t.Context(), pet.ID, nil)), petstore.PetReserved)
		pet.Status = petstore.Pending
		t.same("listed", t.all(), []petstore.Pet{pet})

		pet.Name, pet.CategoryID = "Max", 8
		t.patch(pet.ID, withName("Max"))
		t.patch(pet.ID, withStatus(petstore.Pending))
		t.same("changed otherwise", t.patch(pet.ID, withCategory(8)), pet)
		t.same("the order", t.order(order.ID), order)
	}},
	{"a pet that a patch made pending can be changed and deleted", func(t storageTest) {
		pet := t.add(rex)
		t.patch(pet.ID, withStatus(petstore.Pending))
		t.patch(pet.ID, withStatus(petstore.Sold))
		t.patch(pet.ID, withStatus(petstore.Pending))
		t.noError(errorOf(t.DeletePet(t.Context(), pet.ID, nil)))
	}},
	{"no concurrent patch of another field is lost", func(t storageTest) {
		pet := t.add(rex)
		t.concurrently(60, func(i int) error {
			patch := withName("Max")
			switch i % 3 {
			case 1:
				patch = withCategory(8)
			case 2:
				patch = withStatus(petstore.Sold)
			}
			_, _, err := t.UpdatePet(t.Context(), pet.ID, patch, nil)
			return err
		})
		t.same("listed", t.all(), []petstore.Pet{{ID: pet.ID, NewPet: petstore.NewPet{Name: "Max", CategoryID: 8, Status: petstore.Sold}}})
	}},
	{"of concurrent deletes of one pet, one succeeds", func(t storageTest) {
		pet := t.add(rex)
		done := make(chan bool, 20)
		t.concurrently(20, func(int) error {
			_, err := t.DeletePet(t.Context(), pet.ID, nil)
			if err == nil {
				done <- true
				return nil
			}
			return checkRefusal(err, petstore.NotFound)
		})
		t.same("deletes", len(done), 1)
		t.same("inventory", t.inventory(), petstore.Inventory{})
	}},
}

func (t storageTest) inventory() petstore.Inventory {
	t.Helper()
	inventory, err := t.Inventory(t.Context())
	t.noError(err)
	return inventory
}

// The method counted lists all animals and counts them by status.
func (t storageTest) counted() (counted petstore.Inventory) {
	t.Helper()
	for _, pet := range t.all() {
		counted.Add(pet.Status, 1)
	}
	return counted
}

var inventoryCases = []storageCase{
	{"the inventory shows every change at once", func(t storageTest) {
		pets := t.addMany(7)
		t.same("after creates", t.inventory(), petstore.Inventory{Available: 3, Pending: 2, Sold: 2})
		for i, pet := range pets {
			t.patch(pet.ID, withStatus(petstore.Statuses[i%2]))
			t.same("after a patch", t.inventory(), t.counted())
		}
		t.patch(pets[1].ID, withStatus(petstore.Available))
		order := t.place(pets[1].ID)
		t.same("after an order", t.inventory(), t.counted())
		t.closeOrder(order.ID, petstore.Completed)
		t.same("after it was completed", t.inventory(), petstore.Inventory{Available: 4, Pending: 2, Sold: 1})
		t.noError(errorOf(t.DeletePet(t.Context(), pets[0].ID, nil)))
		t.same("after a delete", t.inventory(), t.counted())
	}},
	{"a refused change does not change the inventory", func(t storageTest) {
		pet := t.add(rex)
		t.place(pet.ID)
		before := t.inventory()
		_, _, err := t.UpdatePet(t.Context(), pet.ID, withStatus(petstore.Sold), nil)
		t.refused(err, petstore.PetReserved)
		t.refused(errorOf(t.DeletePet(t.Context(), pet.ID, nil)), petstore.PetReserved)
		_, _, err = t.PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID, Hold: petstore.DefaultHold}, nil)
		t.refused(err, petstore.PetUnavailable)
		t.same("inventory", t.inventory(), before)
	}},
	{"the inventory is exact after concurrent changes of every kind", func(t storageTest) {
		pets := t.addMany(12)
		t.concurrently(16, func(i int) error {
			for n := range 25 {
				if err := t.makeAnyChange(i, n, pets); err != nil {
					return err
				}
			}
			return nil
		})
		t.same("inventory", t.inventory(), t.counted())
		for _, pet := range t.all() {
			open, err := t.ListOrders(t.Context(), petstore.OrderQuery{PetID: &pet.ID, Status: petstore.Open, Limit: 9})
			t.noError(err)
			if len(open) > 1 || (len(open) == 1 && pet.Status != petstore.Pending) {
				t.Fatalf("%+v is held by %+v", pet, open)
			}
		}
	}},
}

// makeAnyChange makes one change to an animal. The numbers i and n determine the kind of change. The storage refuses some
// changes.
func (t storageTest) makeAnyChange(i, n int, pets []petstore.Pet) (err error) {
	ctx, pet := t.Context(), pets[(i*7+n*3)%len(pets)]
	switch (i + n) % 7 {
	case 0:
		_, _, err = t.CreatePet(ctx, petstore.NewPet{Name: fmt.Sprint(i, n), CategoryID: 1, Status: petstore.Statuses[n%3]}, nil)
	case 1:
		_, _, err = t.CreatePet(ctx, rex, idempotency(fmt.Sprint(i, n/2), 1))
	case 2:
		_, _, err = t.UpdatePet(ctx, pet.ID, withStatus(petstore.Statuses[n%3]), nil)
	case 3, 4:
		var order petstore.Order
		hold := []time.Duration{petstore.DefaultHold, shortHold}[i%2]
		order, _, err = t.PlaceOrder(ctx, petstore.NewOrder{PetID: pet.ID, Hold: hold}, nil)
		if err == nil && n%3 != 0 {
			_, _, err = t.CloseOrder(ctx, order.ID, petstore.OrderStatus(2+n%2), nil)
		}
	case 5:
		_, err = t.DeletePet(ctx, pets[n%3].ID, nil)
	case 6:
		_, err = t.ExpireOrders(ctx)
	}
	for _, expected := range []petstore.Code{petstore.NotFound, petstore.PetReserved, petstore.PetUnavailable, petstore.OrderClosed, petstore.InvalidField} {
		if petstore.IsCode(err, expected) {
			return nil
		}
	}
	return err
}
