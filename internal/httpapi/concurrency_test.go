package httpapi_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"petstore/internal/petstore"
)

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
		if _, err := s.storage.RotateKey(t.Context(), key.ID, petstore.HashSecret(next), petstore.Rotation{Overlap: 1000 * time.Hour}, petstore.ByOperator(noon)); err != nil {
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

// Requests share queries and pages, but no request gets the answer to another request.
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
