package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"petstore/internal/petstore"
)

// mustCreate creates an available animal.
func mustCreate(t *testing.T, db *DB) petstore.Pet {
	t.Helper()
	pet, _, err := db.CreatePet(t.Context(), rex, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pet
}

// expectPet fails the test unless every replica shows the animal with that status.
func expectPet(t *testing.T, dbs [3]*DB, id int64, status petstore.Status) {
	t.Helper()
	for i, db := range dbs {
		if got, err := db.GetPet(t.Context(), id); err != nil || got.Status != status {
			t.Errorf("replica %d shows the animal as %+v, %v; want %s", i, got, err, status)
		}
	}
}

func TestOfFiftyOrdersAtThreeReplicasOneIsPlaced(t *testing.T) {
	dbs := openReplicas(t)
	for range 5 {
		pet := mustCreate(t, dbs[0])
		var placed atomic.Int64
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				_, _, err := dbs[i%3].PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID, Hold: time.Hour}, nil)
				switch {
				case err == nil:
					placed.Add(1)
				case !petstore.IsCode(err, petstore.PetUnavailable):
					t.Error(err)
				}
			})
		}
		all.Wait()
		orders, err := dbs[1].ListOrders(t.Context(), petstore.OrderQuery{PetID: &pet.ID, Limit: 99})
		if err != nil || placed.Load() != 1 || len(orders) != 1 || orders[0].Status != petstore.Open {
			t.Errorf("%d orders were placed and %v are stored, %v", placed.Load(), orders, err)
		}
		expectPet(t, dbs, pet.ID, petstore.Pending)
	}
}

func TestOneOfCompletingCancellingAndExpiringWins(t *testing.T) {
	dbs := openReplicas(t)
	ends := map[petstore.OrderStatus]int{}
	for range 60 {
		pet := mustCreate(t, dbs[0])
		hold := time.Duration(1+rand.IntN(12)) * time.Millisecond
		order, _, err := dbs[0].PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID, Hold: hold}, nil)
		if err != nil {
			t.Fatal(err)
		}
		closes := [2]petstore.OrderStatus{petstore.Completed, petstore.Cancelled}
		var errs [2]error
		var all sync.WaitGroup
		for i, to := range closes {
			all.Go(func() { _, _, errs[i] = dbs[i].CloseOrder(t.Context(), order.ID, to, nil) })
		}
		for _, db := range dbs {
			all.Go(func() {
				if _, err := db.ExpireOrders(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		end := petstore.Expired
		for i, to := range closes {
			switch {
			case errs[i] == nil && end != petstore.Expired:
				t.Errorf("order %d was completed and cancelled", order.ID)
			case errs[i] == nil:
				end = to
			case !petstore.IsCode(errs[i], petstore.OrderClosed):
				t.Error(errs[i])
			}
		}
		ends[end]++
		for time.Now().Before(order.ExpiresAt) { // the calls of ExpireOrders above may have come too early
			time.Sleep(time.Millisecond)
		}
		if _, err := dbs[2].ExpireOrders(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, err := dbs[2].GetOrder(t.Context(), order.ID); err != nil || got.Status != end {
			t.Errorf("the order is %+v, %v; want %s", got, err, end)
		}
		expectPet(t, dbs, pet.ID, end.Leaves())
	}
	t.Logf("how the orders ended: %v", ends)
}

func TestReplicasNeverGiveTwoCategoriesOneNumber(t *testing.T) {
	dbs := openReplicas(t)
	const each = 20
	given := make([]int64, 3*each)
	var all sync.WaitGroup
	for i := range given {
		all.Go(func() {
			category, _, err := dbs[i%3].CreateCategory(t.Context(), fmt.Sprint("category ", i), nil)
			if err != nil {
				t.Error(err)
			}
			given[i] = category.ID
			if _, _, err := dbs[(i+1)%3].CreateCategory(t.Context(), fmt.Sprint("category ", i), nil); !petstore.IsCode(err, petstore.NameTaken) {
				t.Errorf("a second category with the name of category %d: %v", category.ID, err)
			}
		})
	}
	all.Wait()
	seen := map[int64]bool{}
	for _, id := range given {
		if seen[id] || id < 1 {
			t.Errorf("the number %d was given twice, or is not positive", id)
		}
		seen[id] = true
	}
}

// changeRandomly makes random changes of animals until ctx ends.
func changeRandomly(ctx context.Context, db *DB) (err error) {
	for ctx.Err() == nil {
		id := 1 + rand.Int64N(60)
		switch rand.IntN(6) {
		case 0:
			_, _, err = db.CreatePet(ctx, petstore.NewPet{Name: "Max", Status: petstore.Statuses[rand.IntN(3)]}, nil)
		case 1:
			_, _, err = db.UpdatePet(ctx, id, petstore.PetPatch{Status: &petstore.Statuses[rand.IntN(3)]}, nil)
		case 2:
			_, err = db.DeletePet(ctx, id, nil)
		case 3, 4:
			_, _, err = db.PlaceOrder(ctx, petstore.NewOrder{PetID: id, Hold: time.Duration(1+rand.IntN(50)) * time.Millisecond}, nil)
		case 5:
			_, _, err = db.CloseOrder(ctx, 1+rand.Int64N(100), petstore.Completed+petstore.OrderStatus(rand.IntN(2)), nil)
		}
		for _, code := range []petstore.Code{petstore.NotFound, petstore.PetReserved, petstore.PetUnavailable, petstore.OrderClosed, petstore.InvalidField} {
			if petstore.IsCode(err, code) {
				err = nil
			}
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

func TestTheInventoryIsExactAfterConcurrentChangesOnThreeReplicas(t *testing.T) {
	dbs := openReplicas(t)
	for range 20 {
		mustCreate(t, dbs[0])
	}
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
	defer stop()
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			if err := changeRandomly(ctx, dbs[i%3]); err != nil {
				t.Error(err)
			}
		})
	}
	for _, db := range dbs {
		all.Go(func() {
			for ctx.Err() == nil {
				if _, err := db.ExpireOrders(t.Context()); err != nil {
					t.Error(err)
					return
				}
				if n, err := db.Inventory(ctx); ctx.Err() == nil && (err != nil || min(n.Available, n.Pending, n.Sold) < 0) {
					t.Errorf("meanwhile the inventory is %+v, %v", n, err)
				}
			}
		})
	}
	all.Wait()
	for _, db := range dbs {
		if err := checkConsistency(t.Context(), db); err != nil {
			t.Error(err)
		}
	}
}

// checkConsistency compares the inventory with the animals, and the animals with the orders that hold them.
func checkConsistency(ctx context.Context, db *DB) error {
	pets, err := db.ListPets(ctx, petstore.PetQuery{Limit: 1_000_000})
	if err != nil {
		return err
	}
	orders, err := db.StoredOrders(ctx, petstore.Order{}, 1_000_000)
	if err != nil {
		return err
	}
	var counted petstore.Inventory
	status := map[int64]petstore.Status{}
	for _, pet := range pets {
		counted.Add(pet.Status, 1)
		status[pet.ID] = pet.Status
	}
	for _, order := range orders {
		if order.Status == petstore.Open && status[order.PetID] != petstore.Pending {
			return fmt.Errorf("order %+v holds an animal that is %q", order, status[order.PetID])
		}
	}
	got, err := db.Inventory(ctx)
	if err == nil && got != counted {
		err = fmt.Errorf("the inventory is %+v; there are %+v", got, counted)
	}
	return err
}
