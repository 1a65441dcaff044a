package main

import (
	"fmt"
	"testing"

	"petstore/internal/petstore"
)

func TestTheDemonstrationHasNamedCategoriesAndOpenOrders(t *testing.T) {
	t.Parallel()
	s := launch(t, raced(t, "demo", "--listen", "127.0.0.1:0"))
	names, counts := map[int64]string{}, map[string]int{}
	for _, category := range decode[[]petstore.Category](t, s.ask(t, "GET", "/v1/categories", "").body) {
		names[category.ID] = category.Name
	}
	animals := map[int64]pet{}
	for _, p := range s.everyPet(t) {
		animals[p.ID] = p
		if counts[p.Status]++; names[p.CategoryID] == "" {
			t.Errorf("%s has the category %d, which has no name", p.Name, p.CategoryID)
		}
	}
	orders := decode[[]struct {
		PetID             int64
		Status, Reference string
	}](t, s.ask(t, "GET", "/v1/orders", "").body)
	if len(orders) != len(demoOrders) {
		t.Errorf("the orders are %+v", orders)
	}
	for _, order := range orders {
		if p := animals[order.PetID]; order.Status != "open" || p.Status != "pending" || order.Reference != demoOrders[p.Name] {
			t.Errorf("the order %+v is for %+v", order, p)
		}
	}
	want := fmt.Sprintf(`{"available":%d,"pending":%d,"sold":%d}`, counts["available"], counts["pending"], counts["sold"])
	if got := s.ask(t, "GET", "/v1/inventory", "").body; got != want || len(animals) != len(demoAnimals) {
		t.Errorf("of %d animals the inventory counts %s, want %s", len(demoAnimals), got, want)
	}
}
