package clienttest

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"petstore/client"
)

func TestARequestThatNetHTTPRepeatsIsDoneOnce(t *testing.T) {
	s := testService(t)
	var sent atomic.Int64
	unlucky := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if sent.Add(1) == 2 { // the client loses this answer, on a reused connection
			s.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		s.ServeHTTP(w, r)
	})
	store := through(t, unlucky, s.generousKey(t), client.WithoutRetries())
	var meta client.Meta
	for _, name := range []string{"Biscuit", "Olive"} {
		if _, err := store.CreatePet(t.Context(), client.NewPet{Name: name, CategoryID: 1}, client.WithMeta(&meta)); err != nil {
			t.Fatal(err)
		}
	}
	if sent.Load() != 3 || meta.Attempts != 1 || !meta.Replayed {
		t.Errorf("%d requests in all, and of the last call %d tries, replayed: %v; want 3 requests, one try, and a replay", sent.Load(), meta.Attempts, meta.Replayed)
	}
	if inventory, err := store.GetInventory(t.Context()); err != nil || inventory.Available != 2 {
		t.Errorf("there are %+v, %v; want two animals", inventory, err)
	}
}

func TestARetriedWriteUndoesNothingThatOthersDidSince(t *testing.T) {
	s := testService(t)
	other := through(t, s, s.generousKey(t))
	change := func() {}
	unlucky := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if undo := change; undo != nil && r.Method != http.MethodGet { // the client loses this answer, and then somebody else writes
			change = nil
			s.ServeHTTP(httptest.NewRecorder(), r)
			undo()
			panic(http.ErrAbortHandler)
		}
		s.ServeHTTP(w, r)
	})
	store := through(t, unlucky, s.generousKey(t))
	ctx, older, newer, ann, bob := t.Context(), "Rex", "Max", "Ann", "Bob"
	pet := must(other.CreatePet(ctx, client.NewPet{Name: "Biscuit", CategoryID: 1}))(t)
	order := must(other.PlaceOrder(ctx, client.NewOrder{PetID: pet.ID}))(t)
	var meta client.Meta

	change = func() { must(other.UpdatePet(ctx, pet.ID, client.PetPatch{Name: &newer}))(t) }
	if got, err := store.UpdatePet(ctx, pet.ID, client.PetPatch{Name: &older}, client.WithMeta(&meta)); err != nil || got.Name != older || !meta.Replayed || meta.Attempts != 2 {
		t.Errorf("the animal: %+v, %v, %+v", got, err, meta)
	}
	change = func() { must(other.UpdateOrder(ctx, order.ID, client.OrderPatch{Reference: &bob}))(t) }
	if got, err := store.UpdateOrder(ctx, order.ID, client.OrderPatch{Reference: &ann}); err != nil || got.Reference != ann {
		t.Errorf("the order: %+v, %v", got, err)
	}
	change = func() { must(other.NameCategory(ctx, 1, "Dogs"))(t) }
	if got, err := store.NameCategory(ctx, 1, "Cats"); err != nil || got.Name != "Cats" {
		t.Errorf("the category: %+v, %v", got, err)
	}
	change = func() { must(other.NameCategory(ctx, 1, "Birds"))(t) }
	if err := store.DeleteCategory(ctx, 1); err != nil {
		t.Errorf("the deleted category: %v", err)
	}
	if pet = must(other.FindPet(ctx, pet.ID))(t); pet.Name != newer {
		t.Errorf("the animal is called %s, want %s, which is newer", pet.Name, newer)
	}
	if order = must(other.GetOrder(ctx, order.ID))(t); order.Reference != bob {
		t.Errorf("the order is for %s, want %s, who is newer", order.Reference, bob)
	}
	if category := must(other.GetCategory(ctx, 1))(t); category.Name != "Birds" {
		t.Errorf("the category is called %s, want Birds, which is newer", category.Name)
	}
}
