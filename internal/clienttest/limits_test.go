package clienttest

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"petstore/client"
	"petstore/internal/httpapi"
	"petstore/internal/petstore"
)

// tally counts the answers of a handler by their status.
type tally struct {
	http.Handler
	mu       sync.Mutex
	statuses map[int]int
}

func count(handler http.Handler) *tally { return &tally{Handler: handler, statuses: make(map[int]int)} }

func (c *tally) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status := &statusWriter{ResponseWriter: w}
	c.Handler.ServeHTTP(status, r)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.statuses[status.code]++
}

type statusWriter struct {
	http.ResponseWriter
	code int
}

func (w *statusWriter) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}

func TestTwoHundredGoroutinesOnAFreeKeyAreNeverRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testService(t)
		counted := count(s)
		store := through(t, counted, s.keyOf(t, petstore.Free, 0, 0))
		begin := time.Now()
		var group sync.WaitGroup
		for i := range 200 {
			group.Go(func() {
				if _, err := store.CreatePet(t.Context(), client.NewPet{Name: strconv.Itoa(i), CategoryID: 1}); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if counted.statuses[201] != 200 || counted.statuses[429] > 0 {
			t.Errorf("the service answered %v, want 200 times 201 and no 429", counted.statuses)
		}
		if took := time.Since(begin); took < 3*time.Minute || took > 3*time.Minute+10*time.Second {
			t.Errorf("200 requests at 60 a minute took %s, want about 3 minutes", took)
		}
	})
}

// unreachableOnce is a storage that fails once, at the next look-up of a key.
type unreachableOnce struct {
	petstore.Storage
	next atomic.Bool
}

func (a *unreachableOnce) FindKey(ctx context.Context, hash petstore.SecretHash) (petstore.Key, error) {
	if a.next.CompareAndSwap(true, false) {
		return petstore.Key{}, petstore.NotDone(nil)
	}
	return a.Storage.FindKey(ctx, hash)
}

func TestAFailedKeyLookupLeadsToNo429(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var storage *unreachableOnce
		s := testService(t, func(c *httpapi.Config) {
			storage = &unreachableOnce{Storage: c.Storage}
			c.Storage = storage
		})
		counted := count(s)
		store := through(t, counted, s.keyOf(t, petstore.Free, 0, 0))
		ask := func(n int) {
			var group sync.WaitGroup
			for range n {
				group.Go(func() {
					if _, err := store.GetInventory(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
		}
		ask(50)
		time.Sleep(5 * time.Second) // waits until the service looks up the key again
		storage.next.Store(true)
		ask(128)
		if counted.statuses[503] == 0 || counted.statuses[429] > 0 {
			t.Errorf("the service answered %v, want some 503 and no 429", counted.statuses)
		}
	})
}

func TestLimitsAreReadFromEveryAnswer(t *testing.T) {
	s := testService(t)
	store := through(t, s, s.keyOf(t, petstore.Enterprise, 50, 5000))
	if limits := store.Limits(); limits != (client.Limits{}) {
		t.Errorf("before the first answer the limits are %+v", limits)
	}
	var meta client.Meta
	_, err := store.GetInventory(t.Context(), client.WithMeta(&meta))
	if err != nil || meta.Status != 200 || meta.RequestID == "" || meta.Attempts != 1 {
		t.Errorf("the first answer says %+v, %v", meta, err)
	}
	wantRefusal(t, store.DeletePet(t.Context(), 1, client.WithMeta(&meta)), client.ErrNotFound, 404)
	wait := time.Until(meta.Limits.Reset)
	if meta.Limits.Limit != 50 || meta.Limits.Remaining > 49 || wait > time.Minute || wait < -time.Minute || store.Limits() != meta.Limits {
		t.Errorf("the second answer says %+v, the client %+v", meta, store.Limits())
	}
}
