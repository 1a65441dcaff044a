package postgres

import (
	"maps"
	"sync"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

func TestOrdersAreReportedOnceTheyAreStored(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	reported := map[petstore.OrderStatus]int{}
	db := openConfig(t, Config{
		URL: testservice.Postgres(t), Create: true,
		Watch: petstore.Watch{Ordered: func(status petstore.OrderStatus, n int) {
			mu.Lock()
			defer mu.Unlock()
			reported[status] += n
		}},
	})
	place := func(hold time.Duration) petstore.Pet {
		t.Helper()
		pet, _, err := db.CreatePet(t.Context(), petstore.NewPet{Name: "Rex", CategoryID: 1, Status: petstore.Available}, nil)
		noError(t, err)
		if _, _, err := db.PlaceOrder(t.Context(), petstore.NewOrder{PetID: pet.ID, Hold: hold}, nil); err != nil {
			t.Fatal(err)
		}
		return pet
	}
	held, overdue := place(time.Hour), place(0)
	place(0)
	if n, err := db.OpenOrders(t.Context()); n != 3 || err != nil {
		t.Errorf("%d orders are open: %v", n, err)
	}
	if _, _, err := db.PlaceOrder(t.Context(), petstore.NewOrder{PetID: held.ID, Hold: time.Hour}, nil); err == nil {
		t.Error("an animal is held twice")
	}
	if _, err := db.DeletePet(t.Context(), overdue.ID, nil); err != nil { // DeletePet closes the overdue order first
		t.Fatal(err)
	}
	noError(t, errorOf(db.ExpireOrders(t.Context())))
	mu.Lock()
	defer mu.Unlock()
	if want := map[petstore.OrderStatus]int{petstore.Open: 3, petstore.Expired: 2}; !maps.Equal(reported, want) {
		t.Errorf("reported %v, want %v", reported, want)
	}
}
