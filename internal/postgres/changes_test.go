package postgres

import (
	"sync"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

func TestAChangeThatWaitsDelaysNoOther(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	locked := mustCreate(t, db)
	holder := holdLocks(t, url, "SELECT FROM pets FOR UPDATE")
	sold := petstore.PetPatch{Status: new(petstore.Sold)}
	waited := make(chan error, 1)
	go func() {
		_, _, err := db.UpdatePet(t.Context(), locked.ID, sold, nil)
		waited <- err
	}()
	awaitLockWaits(t, url, 1)

	free := mustCreate(t, db)
	order, _, err := db.PlaceOrder(t.Context(), petstore.NewOrder{PetID: free.ID, Hold: time.Hour}, nil)
	if err == nil {
		_, _, err = db.CloseOrder(t.Context(), order.ID, petstore.Cancelled, nil)
	}
	if err == nil {
		_, _, err = db.UpdatePet(t.Context(), free.ID, sold, nil)
	}
	if err == nil {
		_, err = db.DeletePet(t.Context(), free.ID, nil)
	}
	if err != nil {
		t.Errorf("while one change waits, another one fails: %v", err)
	}
	noError(t, errorOf(holder.Exec(t.Context(), "COMMIT")))
	if err := <-waited; err != nil {
		t.Errorf("the change that waited: %v", err)
	}
	if got, err := db.GetPet(t.Context(), locked.ID); err != nil || got.Status != petstore.Sold {
		t.Errorf("the animal is %+v, %v", got, err)
	}
}

// Somebody has tampered with an animal: the animal is available although an order holds it.
func TestAFaultyChangeFailsNoOther(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	broken := mustCreate(t, db)
	execute(t, url, "INSERT INTO orders (pet_id, status, reference, created_at, expires_at) SELECT id, 1, '', 0, 9e15 FROM pets")
	var pets []petstore.Pet
	for range 20 {
		pets = append(pets, mustCreate(t, db))
	}
	for range 5 {
		var all sync.WaitGroup
		for _, pet := range pets {
			all.Go(func() {
				if _, _, err := db.PlaceOrder(t.Context(), petstore.NewOrder{PetID: broken.ID}, nil); err == nil {
					t.Error("the animal is ordered twice")
				}
			})
			all.Go(func() {
				if _, _, err := db.UpdatePet(t.Context(), pet.ID, petstore.PetPatch{Name: new(time.Now().String())}, nil); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
}
