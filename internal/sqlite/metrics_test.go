package sqlite

import (
	"maps"
	"path/filepath"
	"testing"
	"time"

	"petstore/internal/petstore"
)

func TestOrdersAreReportedOnceTheyAreStored(t *testing.T) {
	now := time.Now()
	reported := map[petstore.OrderStatus]int{}
	db := open(t, Config{
		Path: filepath.Join(t.TempDir(), "pets.db"), Create: true, Serve: true,
		Now:   func() time.Time { return now },
		Watch: petstore.Watch{Ordered: func(status petstore.OrderStatus, n int) { reported[status] += n }},
	})
	place := func() (petstore.Pet, petstore.Order) {
		t.Helper()
		pet, _, err := db.CreatePet(t.Context(), rex, nil)
		noError(t, err)
		order, _, err := db.PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID, Hold: time.Hour}, nil)
		noError(t, err)
		return pet, order
	}
	pet, _ := place()
	place()
	if n, err := db.OpenOrders(t.Context()); n != 2 || err != nil {
		t.Errorf("%d orders are open: %v", n, err)
	}
	if _, _, err := db.PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID, Hold: time.Hour}, nil); err == nil {
		t.Error("an animal is held twice")
	}
	now = now.Add(2 * time.Hour)
	_, err := db.DeletePet(t.Context(), pet.ID, nil) // DeletePet closes the overdue order first
	noError(t, err)
	_, err = db.ExpireOrders(t.Context())
	noError(t, err)
	if want := map[petstore.OrderStatus]int{petstore.Open: 2, petstore.Expired: 2}; !maps.Equal(reported, want) {
		t.Errorf("reported %v, want %v", reported, want)
	}
}

func TestACallThatWaitsForAReaderIsCounted(t *testing.T) {
	db := openNew(t)
	db.readers.pause(func(readers []*reader) {
		if all := db.Connections(); all.Busy != len(readers) || all.Idle != 0 || all.Limit != len(readers) || all.Waits != 0 {
			t.Errorf("while all are lent: %+v", all)
		}
		done := make(chan error)
		go func() {
			_, err := db.GetPet(t.Context(), 1)
			done <- err
		}()
		for db.Connections().Waits == 0 && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		db.readers.give(readers[0])
		if err := <-done; !petstore.IsCode(err, petstore.NotFound) {
			t.Error(err)
		}
		<-db.readers
	})
	if all := db.Connections(); all.Busy != 0 || all.Waits != 1 {
		t.Errorf("afterwards: %+v", all)
	}
}
