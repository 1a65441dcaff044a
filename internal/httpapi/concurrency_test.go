package httpapi_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"petstore/internal/petstore"
)

// ids returns the ids of the animals in the answer, which is a list or one animal.
func (a *answer) ids() ([]int64, error) {
	body := a.body
	if !strings.HasPrefix(body, "[") {
		body = "[" + body + "]"
	}
	var pets []struct{ ID int64 }
	if err := json.Unmarshal([]byte(body), &pets); err != nil || a.status >= 300 {
		return nil, fmt.Errorf("no animals: %w\n%s", err, a.raw)
	}
	ids := make([]int64, len(pets))
	for i, p := range pets {
		ids[i] = p.ID
	}
	return ids, nil
}

// idsOf sends a request and returns the ids in its answer.
func (s *service) idsOf(raw string) ([]int64, error) {
	a, err := s.try(raw)
	if err != nil {
		return nil, err
	}
	return a.ids()
}

// atOnce calls f(0) to f(n-1) at the same time. It fails the test with the first error.
func (s *service) atOnce(n int, f func(i int) error) {
	s.Helper()
	failures := make(chan error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if err := f(i); err != nil {
				failures <- err
			}
		})
	}
	all.Wait()
	close(failures)
	if err := <-failures; err != nil {
		s.Fatal(err)
	}
}

func TestAcknowledgedAnimalIsInTheNextList(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		s := serve(t, on(open(t)))
		key := s.key(petstore.Enterprise)
		var writing atomic.Int32
		writing.Store(3)
		s.atOnce(5, func(i int) error {
			if i >= 3 { // these fill the page cache
				for writing.Load() > 0 {
					if _, err := s.idsOf(request("GET", "/v1/pets?limit=36", key)); err != nil {
						return err
					}
				}
				return nil
			}
			defer writing.Add(-1)
			for n := range 12 {
				status := petstore.Statuses[n%3]
				made, err := s.idsOf(withBody(request("POST", "/v1/pets", key), fmt.Sprintf(`{"name":"Rex","categoryId":%d,"status":%q}`, i, status)))
				if err != nil {
					return err
				}
				for _, target := range []string{"/v1/pets?limit=36", fmt.Sprintf("/v1/pets?limit=37&status=%s", status), fmt.Sprintf("/v1/pets/%d", made[0])} {
					listed, err := s.idsOf(request("GET", target, key))
					if err != nil {
						return err
					}
					if !slices.Contains(listed, made[0]) {
						return fmt.Errorf("%d was acknowledged but is not in %s: %v", made[0], target, listed)
					}
				}
			}
			return nil
		})
	})
}

func TestConcurrentCreatesLoseNothingAndShareNoID(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		s := serve(t, on(open(t)))
		key := s.key(petstore.Enterprise)
		var mu sync.Mutex
		made := make(map[int64]string)
		s.atOnce(100, func(i int) error {
			name := fmt.Sprintf("Pet %d", i)
			ids, err := s.idsOf(withBody(request("POST", "/v1/pets", key), fmt.Sprintf(`{"name":%q,"categoryId":%d}`, name, i)))
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if other := made[ids[0]]; other != "" {
				return fmt.Errorf("%s and %s have the id %d", other, name, ids[0])
			}
			made[ids[0]] = name
			return nil
		})
		pets := s.pets()
		for _, pet := range pets {
			if made[pet.ID] != pet.Name {
				t.Errorf("%d is %s, and was acknowledged as %q", pet.ID, pet.Name, made[pet.ID])
			}
		}
		if len(pets) != len(made) {
			t.Errorf("%d animals are stored, %d were acknowledged", len(pets), len(made))
		}
	})
}

var nextPage = regexp.MustCompile(`^<(/v1/pets\?[^>]*)>; rel="next"$`)

func TestPagingVisitsEveryAnimalOnceWhileOthersAreAdded(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		s := serve(t, on(open(t)))
		key := s.key(petstore.Enterprise)
		add := func() (int64, error) {
			ids, err := s.idsOf(withBody(request("POST", "/v1/pets", key), `{"name":"Rex","categoryId":1,"status":"pending"}`))
			if err != nil {
				return 0, err
			}
			return ids[0], nil
		}
		before := make(map[int64]bool)
		for range 60 {
			id, err := add()
			if err != nil {
				t.Fatal(err)
			}
			before[id] = true
		}
		var walking atomic.Bool
		walking.Store(true)
		s.atOnce(2, func(i int) error {
			if i == 1 {
				for walking.Load() {
					if _, err := add(); err != nil {
						return err
					}
				}
				return nil
			}
			defer walking.Store(false)
			visited := make(map[int64]bool)
			for target := "/v1/pets?status=pending&limit=7"; target != ""; {
				a, err := s.try(request("GET", target, key))
				if err != nil {
					return err
				}
				page, err := a.ids()
				if err != nil {
					return err
				}
				for _, id := range page {
					if visited[id] {
						return fmt.Errorf("%d was visited twice", id)
					}
					visited[id] = true
					delete(before, id)
				}
				target = ""
				if link := a.header.Get("Link"); link != "" {
					next := nextPage.FindStringSubmatch(link)
					if next == nil || len(page) != 7 {
						return fmt.Errorf("a page of %d has the link %s", len(page), link)
					}
					target = next[1]
				}
			}
			if len(before) > 0 {
				return fmt.Errorf("never visited: %v", before)
			}
			return nil
		})
	})
}

func TestConcurrentDuplicatesCreateOneAnimal(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		s := serve(t, on(open(t)))
		key := s.key(petstore.Enterprise)
		var fresh, replayed atomic.Int32
		s.atOnce(40, func(i int) error {
			name := fmt.Sprintf("Pet %d", i%4)
			a, err := s.try(withBody(request("POST", "/v1/pets", key, "Idempotency-Key: "+name), fmt.Sprintf(`{"name":%q,"categoryId":1}`, name)))
			if err != nil {
				return err
			}
			if a.status != 201 || !strings.Contains(a.body, name) {
				return fmt.Errorf("%s is answered\n%s", name, a.raw)
			}
			if a.header.Get("Idempotency-Replayed") == "true" {
				replayed.Add(1)
			} else {
				fresh.Add(1)
			}
			return nil
		})
		if pets := s.pets(); len(pets) != 4 || fresh.Load() != 4 || replayed.Load() != 36 {
			t.Errorf("%d animals are stored, %d answers were new and %d replayed; want 4, 4 and 36", len(pets), fresh.Load(), replayed.Load())
		}
	})
}

func TestIdempotencyKeyBelongsToItsOwnerWhateverTheReplicasClock(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		s := serve(t, on(open(t)))
		secret, key := s.createKey(petstore.NewKey("owner", petstore.Enterprise, petstore.FirstKeyLimits, noon, petstore.Forever))
		const once, pet, other = "Idempotency-Key: a", `{"name":"Rex","categoryId":1}`, `{"name":"Max","categoryId":1}`
		first := s.post(secret, pet, once)
		first.is(t, 201, "")
		first.has(t, "Idempotency-Replayed", "")

		stranger := s.post(s.key(petstore.Free), other, once)
		stranger.is(t, 201, "")
		stranger.has(t, "Idempotency-Replayed", "")

		next := s.secret(petstore.Production)
		if _, err := s.storage.RotateKey(t.Context(), key.ID, petstore.HashSecret(next), noon, 1000*time.Hour); err != nil {
			t.Fatal(err)
		}
		again := s.post(next, pet, once)
		again.has(t, "Idempotency-Replayed", "true")
		again.has(t, "Location", first.header.Get("Location"))
		if again.body != first.body {
			t.Errorf("got %s, the first time %s", again.body, first.body)
		}
		s.post(next, other, once).is(t, 409, "idempotency_conflict")

		for _, step := range []time.Duration{25 * time.Hour, -50 * time.Hour} {
			s.clock.step(step)
			s.post(secret, other, once).is(t, 409, "idempotency_conflict")
			s.post(secret, pet, once).has(t, "Idempotency-Replayed", "true")
		}
		if n := len(s.pets()); n != 2 {
			t.Errorf("%d animals are stored, want 2", n)
		}
	})
}

func TestIdempotencyKeyOfEveryLengthAndCharacter(t *testing.T) {
	s := serve(t)
	key := s.key(petstore.Enterprise)
	const pet = `{"name":"Rex","categoryId":1}`
	var every strings.Builder
	for c := '!'; c <= '~'; c++ {
		every.WriteRune(c)
	}
	taken := []string{"a", every.String(), "a b", strings.Repeat("x", 255)}
	for _, k := range taken {
		s.post(key, pet, "Idempotency-Key: "+k).is(t, 201, "")
		s.post(key, pet, "idempotency-key:  "+k+" ").has(t, "Idempotency-Replayed", "true")
	}
	for _, k := range []string{"", strings.Repeat("x", 256), "é", "a\tb", "\xff", strings.Repeat("x", 100_000)} {
		s.post(key, pet, "Idempotency-Key: "+k).is(t, 400, "invalid_parameter")
	}
	s.post(key, pet, "Idempotency-Key: a", "Idempotency-Key: a").is(t, 400, "invalid_parameter")
	if n := len(s.pets()); n != len(taken) {
		t.Errorf("%d animals are stored, want %d", n, len(taken))
	}
}

// Requests share queries and pages, but no request gets the answer to another.
func TestConcurrentAnswersAreNotMixedUp(t *testing.T) {
	s := serve(t)
	const clients, rounds = 16, 10
	var keys, names [clients]string
	for i := range clients {
		keys[i], names[i] = s.key(petstore.Free), fmt.Sprintf("Pet of client %d", i)
	}
	s.atOnce(clients, func(i int) error {
		for round := range rounds {
			id := fmt.Sprintf("%d-%d", i, round)
			created, err := s.try(withBody(request("POST", "/v1/pets", keys[i], "X-Request-Id: a-"+id), `{"name":"`+names[i]+`","categoryId":1}`))
			if err != nil {
				return err
			}
			got, err := s.try(request("GET", created.header.Get("Location"), keys[i], "X-Request-Id: b-"+id))
			if err != nil {
				return err
			}
			for a, want := range map[*answer][2]string{created: {"a-" + id, fmt.Sprint(59 - 2*round)}, got: {"b-" + id, fmt.Sprint(58 - 2*round)}} {
				if a.header.Get("X-Request-Id") != want[0] || a.header.Get("X-RateLimit-Remaining") != want[1] || !strings.Contains(a.body, names[i]) {
					return fmt.Errorf("client %d in round %d: want the request id and the remaining requests %v, and %s, got\n%s", i, round, want, names[i], a.raw)
				}
			}
		}
		return nil
	})
}
