package service

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"petstore/internal/database"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// keeper is the only client that changes its animal. It therefore knows in which state the animal should be.
type keeper struct {
	id          int64
	known, next state // next is the state after the last request, which the server may have executed without an answer
}

// state is what a keeper knows about its animal. If name is empty, the animal does not exist.
type state struct {
	name, status string
	order        int64 // the order that holds the animal, or anyOrder if the answer with its id was lost
}

const anyOrder = -1

// change is a request that a keeper may send, with the state of the animal after the request.
type change struct {
	method, path, body string
	after              state
}

// changes returns the changes that are possible now.
func (k *keeper) changes() []change {
	animal := fmt.Sprint("/v1/pets/", k.id)
	now, name := k.known, fmt.Sprintf("Pet %d", rand.IntN(1000))
	if now.name == "" {
		return []change{{"POST", "/v1/pets", fmt.Sprintf(`{"name":%q,"categoryId":1}`, name), state{name, "available", 0}}}
	}
	rename := change{"PATCH", animal, fmt.Sprintf(`{"name":%q}`, name), state{name, now.status, now.order}}
	if now.order != 0 {
		order := fmt.Sprint("/v1/orders/", now.order)
		return []change{rename, {"POST", order + "/complete", "", state{now.name, "sold", 0}}, {"POST", order + "/cancel", "", state{now.name, "available", 0}}}
	}
	changes := []change{rename, {"DELETE", animal, "", state{}}}
	if now.status == "sold" {
		return append(changes, change{"PATCH", animal, `{"status":"available"}`, state{now.name, "available", 0}})
	}
	place := change{"POST", "/v1/orders", fmt.Sprintf(`{"petId":%d}`, k.id), state{now.name, "pending", anyOrder}}
	return append(changes, place, place, change{"PATCH", animal, `{"status":"sold"}`, state{now.name, "sold", 0}})
}

// work makes one change after another until a request gets no answer.
func (k *keeper) work(t *testing.T, s *testservice.Instance, acknowledged *atomic.Int64) {
	for {
		changes := k.changes()
		c := changes[rand.IntN(len(changes))]
		k.next = c.after
		got, err := testservice.Request(s.URL, s.Key, c.method, c.path, c.body)
		if err != nil || got.Status == http.StatusServiceUnavailable {
			return
		}
		if got.Status >= 300 {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, got.Status, got.Body)
			return
		}
		if c.path == "/v1/pets" {
			k.id = testservice.Decode[testservice.Pet](t, got.Body).ID
		}
		if c.after.order == anyOrder {
			k.next.order = testservice.Decode[struct{ ID int64 }](t, got.Body).ID
		}
		k.known = k.next
		acknowledged.Add(1)
	}
}

// expectKept fails the test unless the animal has the state after the last answered request, or the state after the
// unanswered request.
func (k *keeper) expectKept(t *testing.T, animals map[int64]testservice.Pet, holders map[int64]int64) {
	t.Helper()
	found, there := animals[k.id]
	is := state{found.Name, found.Status, holders[k.id]}
	matches := func(s state) bool {
		return is == s || s.order == anyOrder && is == state{s.name, s.status, is.order} && is.order != 0
	}
	switch {
	case k.id == 0: // the answer to the first create was lost
	case matches(k.known):
	case matches(k.next):
		k.known = is
	default:
		t.Errorf("animal %d is %+v (exists: %v); want %+v, which was acknowledged, or %+v, which was requested", k.id, is, there, k.known, k.next)
	}
	if !there {
		k.id, k.known = 0, state{}
	}
}

// stock returns every animal, and the open order that holds it, if there is one.
func stock(t *testing.T, s *testservice.Instance) (animals map[int64]testservice.Pet, holders map[int64]int64) {
	t.Helper()
	animals, holders = map[int64]testservice.Pet{}, map[int64]int64{}
	for _, p := range s.EveryPet(t) {
		animals[p.ID] = p
	}
	for path := "/v1/orders?status=open&limit=100"; path != ""; {
		got := s.Ask(t, "GET", path, "")
		for _, order := range testservice.Decode[[]struct{ ID, PetID int64 }](t, got.Body) {
			holders[order.PetID] = order.ID
		}
		path = ""
		if next := testservice.NextLink.FindStringSubmatch(got.Header.Get("Link")); next != nil {
			path = next[1]
		}
	}
	return animals, holders
}

// isConsistent reports whether exactly the animals with an open order are pending, and whether the inventory agrees with the
// animals.
func isConsistent(t *testing.T, s *testservice.Instance, animals map[int64]testservice.Pet, holders map[int64]int64) bool {
	counts := map[string]int{}
	for id, p := range animals {
		if counts[p.Status]++; (p.Status == "pending") != (holders[id] != 0) {
			return false
		}
	}
	for id := range holders {
		if _, there := animals[id]; !there {
			return false
		}
	}
	want := fmt.Sprintf(`{"available":%d,"pending":%d,"sold":%d}`, counts["available"], counts["pending"], counts["sold"])
	return s.Ask(t, "GET", "/v1/inventory", "").Body == want
}

// survivesKills kills a server several times while clients use it, and checks after each kill that nothing was lost. If the
// function meanwhile is not nil, it runs at the same time as the clients.
func survivesKills(t *testing.T, database string, meanwhile func(s *testservice.Instance, stop *atomic.Bool)) {
	const rounds, clients = 3, 12
	key := newKey(t, database, "--plan", "enterprise", "--per-minute", "1000000000", "--per-day", "1000000000")
	keepers := make([]*keeper, clients)
	for i := range keepers {
		keepers[i] = &keeper{}
	}
	for range rounds {
		s := testservice.ServeRaced(t, "--database", database)
		s.Key = key
		var acknowledged atomic.Int64
		var stop atomic.Bool
		var working sync.WaitGroup
		for _, k := range keepers {
			working.Go(func() { k.work(t, s, &acknowledged) })
		}
		if meanwhile != nil {
			working.Go(func() { meanwhile(s, &stop) })
		}
		goal := 50 + rand.Int64N(200)
		testservice.Eventually(t, "changes are acknowledged", time.Minute, func() bool { return acknowledged.Load() >= goal || t.Failed() })
		s.Kill()
		stop.Store(true)
		working.Wait()

		again := testservice.Serve(t, "--database", database)
		again.Key = key
		var animals map[int64]testservice.Pet
		var holders map[int64]int64
		testservice.Eventually(t, "animals, orders and inventory agree", 30*time.Second, func() bool { // PostgreSQL may still be busy
			animals, holders = stock(t, again)
			return isConsistent(t, again, animals, holders)
		})
		for _, k := range keepers {
			k.expectKept(t, animals, holders)
		}
		again.Kill()
	}
}

func TestAnimalsAndOrdersAgreeWhenAServerIsKilled(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		survivesKills(t, "sqlite:"+filepath.Join(t.TempDir(), "pets.db"), nil)
	})
	t.Run("PostgreSQL, while orders expire", func(t *testing.T) {
		t.Parallel()
		url := testservice.StartPostgres(t).URL
		survivesKills(t, url, func(s *testservice.Instance, stop *atomic.Bool) {
			got, err := testservice.Request(s.URL, s.Key, "POST", "/v1/pets", `{"name":"Max","categoryId":1}`)
			if err != nil || got.Status != 201 {
				return
			}
			id := testservice.Decode[testservice.Pet](t, got.Body).ID
			for !stop.Load() {
				err := database.Flags{Environment: petstore.Production, Database: url}.With(t.Context(), database.ToUse, func(storage *database.Storage) error {
					_, _, err := storage.PlaceOrder(t.Context(), petstore.NewOrder{PetID: id, Hold: 20 * time.Millisecond}, nil)
					return err
				})
				if err != nil && !petstore.IsCode(err, petstore.PetUnavailable) {
					t.Error(err)
				}
			}
		})
	})
}
