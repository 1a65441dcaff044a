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
		if sent.Add(1) == 2 { // this answer is lost, on a connection that was used before
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
