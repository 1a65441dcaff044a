package clienttest

import (
	"fmt"
	"testing"

	"petstore/client"
	"petstore/internal/httpapi"
)

// fill adds n animals, n categories and n orders.
func fill(t *testing.T, store *client.Client, n int) {
	t.Helper()
	for i := range n {
		pet := must(store.CreatePet(t.Context(), client.NewPet{Name: fmt.Sprint("animal ", i+1), CategoryID: 1}))(t)
		must(store.PlaceOrder(t.Context(), client.NewOrder{PetID: pet.ID}))(t)
		must(store.CreateCategory(t.Context(), fmt.Sprint("category ", i+1)))(t)
	}
}

// The links of the service name its public address, but the client uses another address. The client must not send its key to
// the public address.
func TestWalksVisitEverythingOnce(t *testing.T) {
	s := testService(t, func(c *httpapi.Config) { c.BaseURL = "https://elsewhere.invalid" })
	store := through(t, s, s.generousKey(t))
	fill(t, store, 25)
	for _, limit := range []int{0, 1, 7, 25} {
		var pets, orders, categories []int64
		for pet, err := range store.Pets(t.Context(), client.PetQuery{Limit: limit, Status: client.Pending}) {
			pets = append(pets, pet.ID)
			wantResult(t, pet.Status, err, client.Pending)
		}
		for order, err := range store.Orders(t.Context(), client.OrderQuery{Limit: limit, Status: client.Open}) {
			orders = append(orders, order.ID)
			wantResult(t, order.Status, err, client.Open)
		}
		for category, err := range store.Categories(t.Context(), client.CategoryQuery{Limit: limit}) {
			categories = append(categories, 26-category.ID)
			wantResult(t, category.Name, err, fmt.Sprint("category ", category.ID-1))
		}
		for what, ids := range map[string][]int64{"pets": pets, "orders": orders, "categories": categories} {
			if len(ids) != 25 {
				t.Errorf("limit %d: %d %s were visited: %v", limit, len(ids), what, ids)
			}
			for i := 1; i < len(ids); i++ {
				if ids[i] >= ids[i-1] {
					t.Errorf("limit %d: the order of %s is %v", limit, what, ids)
					break
				}
			}
		}
	}
}

func TestAWalkMayEndEarlyAndBeginAgain(t *testing.T) {
	s := testService(t)
	counted := count(s)
	store := through(t, counted, s.generousKey(t))
	fill(t, store, 5)
	counted.statuses[200] = 0
	walk := store.Pets(t.Context(), client.PetQuery{Limit: 2})
	for range 2 {
		seen := 0
		for range walk {
			if seen++; seen == 3 {
				break
			}
		}
	}
	if counted.statuses[200] != 4 {
		t.Errorf("two walks of 3 animals in pages of 2 asked for %d pages, want 4", counted.statuses[200])
	}
	page := must(store.ListPets(t.Context(), client.PetQuery{Limit: 2}))(t)
	var rest int
	for range store.Pets(t.Context(), client.PetQuery{Limit: 2, Cursor: page.Next}) {
		rest++
	}
	if rest != 3 {
		t.Errorf("after the first page come %d animals, want 3", rest)
	}
}
