package service

import (
	"fmt"
	"testing"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

func TestTheDemoHasNamedCategoriesAndOpenOrders(t *testing.T) {
	t.Parallel()
	s := testservice.Launch(t, testservice.CommandRaced(t, "demo", "--listen", "127.0.0.1:0"))
	names, counts := map[int64]string{}, map[string]int{}
	for _, category := range testservice.Decode[[]petstore.Category](t, s.Ask(t, "GET", "/v1/categories", "").Body) {
		names[category.ID] = category.Name
	}
	animals := map[int64]testservice.Pet{}
	for _, p := range s.EveryPet(t) {
		animals[p.ID] = p
		if counts[p.Status]++; names[p.CategoryID] == "" {
			t.Errorf("%s has the category %d, which has no name", p.Name, p.CategoryID)
		}
	}
	orders := testservice.Decode[[]struct {
		PetID             int64
		Status, Reference string
	}](t, s.Ask(t, "GET", "/v1/orders", "").Body)
	if len(orders) != len(demoOrders) {
		t.Errorf("the orders are %+v", orders)
	}
	for _, order := range orders {
		if p := animals[order.PetID]; order.Status != "open" || p.Status != "pending" || order.Reference != demoOrders[p.Name].reference {
			t.Errorf("the order %+v is for %+v", order, p)
		}
	}
	for _, p := range testservice.Decode[[]struct {
		Name    string
		Profile struct{ Breed, BornOn, ArrivedOn string }
	}](t, s.Ask(t, "GET", "/v1/pets?limit=100&include=profile", "").Body) {
		if p.Profile.Breed == "" || p.Profile.BornOn == "" || p.Profile.ArrivedOn == "" {
			t.Errorf("the profile of %s is %+v", p.Name, p.Profile)
		}
	}
	want := fmt.Sprintf(`{"available":%d,"pending":%d,"sold":%d}`, counts["available"], counts["pending"], counts["sold"])
	if got := s.Ask(t, "GET", "/v1/inventory", "").Body; got != want || len(animals) != len(demoAnimals) {
		t.Errorf("of %d animals the inventory counts %s, want %s", len(demoAnimals), got, want)
	}
}
