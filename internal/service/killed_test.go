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

// keeper is the only client that changes its animal, so it knows what the animal should look like.
type keeper struct {
	id          int64
	known, next condition // next is the condition that a request without an answer may have brought about
}

// condition is what a keeper knows about its animal. Without a name, the animal does not exist.
type condition struct {
	name, status string
	order        int64 // the order that holds the animal; anyOrder if its number never came
}

const anyOrder = -1

// wish is a change that a keeper may ask for.
type wish struct {
	method, path, body string
	makes              condition
}

// wishes returns the changes that can be asked for now.
func (k *keeper) wishes() []wish {
	animal := fmt.Sprint("/v1/pets/", k.id)
	now, name := k.known, fmt.Sprintf("Pet %d", rand.IntN(1000))
	if now.name == "" {
		return []wish{{"POST", "/v1/pets", fmt.Sprintf(`{"name":%q,"categoryId":1}`, name), condition{name, "available", 0}}}
	}
	rename := wish{"PATCH", animal, fmt.Sprintf(`{"name":%q}`, name), condition{name, now.status, now.order}}
	if now.order != 0 {
		order := fmt.Sprint("/v1/orders/", now.order)
		return []wish{rename, {"POST", order + "/complete", "", condition{now.name, "sold", 0}}, {"POST", order + "/cancel", "", condition{now.name, "available", 0}}}
	}
	wishes := []wish{rename, {"DELETE", animal, "", condition{}}}
	if now.status == "sold" {
		return append(wishes, wish{"PATCH", animal, `{"status":"available"}`, condition{now.name, "available", 0}})
	}
	place := wish{"POST", "/v1/orders", fmt.Sprintf(`{"petId":%d}`, k.id), condition{now.name, "pending", anyOrder}}
	return append(wishes, place, place, wish{"PATCH", animal, `{"status":"sold"}`, condition{now.name, "sold", 0}})
}

// work asks for one change after another until one gets no answer.
func (k *keeper) work(t *testing.T, s *testservice.Instance, acknowledged *atomic.Int64) {
	for {
		wishes := k.wishes()
		wish := wishes[rand.IntN(len(wishes))]
		k.next = wish.makes
		got, err := testservice.Request(s.URL, s.Key, wish.method, wish.path, wish.body)
		if err != nil || got.Status == http.StatusServiceUnavailable {
			return
		}
		if got.Status >= 300 {
			t.Errorf("%s %s %s: %d %s", wish.method, wish.path, wish.body, got.Status, got.Body)
			return
		}
		if wish.path == "/v1/pets" {
			k.id = testservice.Decode[testservice.Pet](t, got.Body).ID
		}
		if wish.makes.order == anyOrder {
			k.next.order = testservice.Decode[struct{ ID int64 }](t, got.Body).ID
		}
		k.known = k.next
		acknowledged.Add(1)
	}
}

// expectKept fails the test unless the animal is as the last answer said, or as the missing answer would have said.
func (k *keeper) expectKept(t *testing.T, animals map[int64]testservice.Pet, holders map[int64]int64) {
	t.Helper()
	found, there := animals[k.id]
	is := condition{found.Name, found.Status, holders[k.id]}
	alike := func(s condition) bool {
		return is == s || s.order == anyOrder && is == condition{s.name, s.status, is.order} && is.order != 0
	}
	switch {
	case k.id == 0: // the first create was not answered
	case alike(k.known):
	case alike(k.next):
		k.known = is
	default:
		t.Errorf("animal %d is %+v (there: %v); acknowledged was %+v, and asked for %+v", k.id, is, there, k.known, k.next)
	}
	if !there {
		k.id, k.known = 0, condition{}
	}
}

// stock reads every animal and the open order that holds it.
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

// isWhole reports whether exactly the animals that an open order holds are pending, and the inventory counts all animals.
func isWhole(t *testing.T, s *testservice.Instance, animals map[int64]testservice.Pet, holders map[int64]int64) bool {
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

// survivesKills kills a server repeatedly while its clients work.
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
		testservice.Eventually(t, "animals, orders and inventory agree", 30*time.Second, func() bool { // PostgreSQL may still be working on what was begun
			animals, holders = stock(t, again)
			return isWhole(t, again, animals, holders)
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
				err := database.Flags{Environment: petstore.Production, Database: url}.With(t.Context(), database.ToChange, func(storage *database.Storage) error {
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
