package service

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"petstore/internal/testservice"
)

// startReplicas starts n servers on one database, with a key whose limits no test reaches.
func startReplicas(t *testing.T, n int, database string, args ...string) []*testservice.Instance {
	t.Helper()
	key := newKey(t, database, "--plan", "enterprise", "--per-minute", "1000000000", "--per-day", "1000000000")
	replicas := make([]*testservice.Instance, n)
	for i := range replicas {
		replicas[i] = testservice.ServeRaced(t, append([]string{"--database", database}, args...)...)
		replicas[i].Key = key
	}
	return replicas
}

func TestThreeReplicasAreOneService(t *testing.T) {
	t.Parallel()
	database := testservice.Postgres(t)
	replicas := startReplicas(t, 3, database, "--redis", testservice.Redis(t))

	t.Run("an animal created on one replica is at once first in the list of another", func(t *testing.T) {
		for i := range 30 {
			created := create(t, replicas[i%3], fmt.Sprint("animal ", i))
			listed := testservice.Decode[[]testservice.Pet](t, replicas[(i+1)%3].Ask(t, "GET", "/v1/pets", "").Body)
			if len(listed) == 0 || listed[0] != created {
				t.Fatalf("animal %d was created on replica %d; the next one lists %v", created.ID, i%3, listed)
			}
		}
	})

	t.Run("a rate limit holds for all replicas together", func(t *testing.T) {
		t.Parallel()
		for {
			windows, left := sendSpread(t, 150, replicas, newKey(t, database))
			if len(windows) > 1 {
				continue // a new minute has begun
			}
			slices.Sort(left)
			for i := range left {
				if left[i] != i {
					t.Fatalf("the requests left, as the answers count them, are %v", left)
				}
			}
			if len(left) != 60 {
				t.Errorf("%d of 150 requests passed, want 60", len(left))
			}
			return
		}
	})

	t.Run("an Idempotency-Key creates one animal, whichever replicas it is sent to", func(t *testing.T) {
		t.Parallel()
		for i := range 10 {
			answers := make([]testservice.Answer, 9)
			var sending sync.WaitGroup
			for j := range answers {
				sending.Go(func() {
					s := replicas[j%3]
					answers[j], _ = testservice.Request(s.URL, s.Key, "POST", "/v1/pets", `{"name":"only one","categoryId":7}`, "Idempotency-Key", fmt.Sprint("once ", i))
				})
			}
			sending.Wait()
			first := 0
			for _, a := range answers {
				if a.Status != http.StatusCreated || a.Body != answers[0].Body {
					t.Errorf("%d %s, and %d %s", answers[0].Status, answers[0].Body, a.Status, a.Body)
				}
				if a.Header.Get("Idempotency-Replayed") == "" {
					first++
				}
			}
			if first != 1 {
				t.Errorf("%d of %d answers are not replays", first, len(answers))
			}
		}
	})

	t.Run("a revoked key is refused everywhere within 5 seconds", func(t *testing.T) {
		t.Parallel()
		secret := newKey(t, database, "--plan", "business")
		all := keysOf(t, database)
		id := all[slices.IndexFunc(all, func(k testservice.Key) bool { return k.Plan == "business" })].ID
		expect := func(status int, when string) {
			for i, s := range replicas {
				if got, err := testservice.Request(s.URL, secret, "GET", "/v1/pets?limit=1", ""); err != nil || status != 0 && got.Status != status {
					t.Errorf("%s the key gets %d on replica %d, %v", when, got.Status, i, err)
				}
			}
		}
		expect(http.StatusOK, "before it is revoked")
		if _, stderr, status := testservice.Run(t, "keys", "revoke", id, "--database", database); status != 0 {
			t.Fatal(stderr)
		}
		for revoked := time.Now(); time.Since(revoked) < 5*time.Second; time.Sleep(100 * time.Millisecond) {
			expect(0, "meanwhile") // uses the key all the time, because the 5 seconds also hold for a key in use
		}
		expect(http.StatusUnauthorized, "5 seconds after it was revoked")
	})
}

func TestABanHoldsOnEveryReplicaAtOnceUntilItIsLifted(t *testing.T) {
	t.Parallel()
	database, redis := testservice.Postgres(t), testservice.Redis(t)
	replicas := startReplicas(t, 2, database, "--redis", redis)
	secret := newKey(t, database)
	all := keysOf(t, database)
	id := all[slices.IndexFunc(all, func(k testservice.Key) bool { return k.Plan == "free" })].ID
	ask := func(s *testservice.Instance, secret string) (code string, ends time.Time) {
		t.Helper()
		got, err := testservice.Request(s.URL, secret, "GET", "/v1/pets?limit=1", "")
		noError(t, err)
		if got.Status == http.StatusOK {
			return "", time.Time{}
		}
		wait, _ := strconv.Atoi(got.Header.Get("Retry-After"))
		return testservice.Decode[struct{ Code string }](t, got.Body).Code, time.Now().Add(time.Duration(wait) * time.Second)
	}
	expectBan := func(s *testservice.Instance, secret string, end time.Time, where string) {
		t.Helper()
		code, ends := ask(s, secret)
		if off := ends.Sub(end).Abs(); code != "key_banned" || off > 2*time.Second {
			t.Errorf("%s the key gets %q until %v, want the ban until %v", where, code, ends, end)
		}
	}

	code, end := "", time.Time{}
	for i := 0; code != "key_banned"; i++ {
		if i > 1000 {
			t.Fatal("1,000 requests earned no ban")
		}
		if i%10 == 0 { // so that the replica that does not give the ban has just looked the key up
			slices.Reverse(replicas)
		}
		code, end = ask(replicas[0], secret)
	}
	expectBan(replicas[1], secret, end, "on the other replica")

	rotated, stderr, status := testservice.Run(t, "keys", "rotate", id, "--database", database)
	if status != 0 {
		t.Fatal(stderr)
	}
	expectBan(replicas[1], strings.TrimSpace(rotated), end, "after a rotation")
	late := testservice.ServeRaced(t, "--database", database, "--redis", redis)
	expectBan(late, secret, end, "on a replica that starts later")

	if _, stderr, status := testservice.Run(t, "keys", "unban", id, "--database", database); status != 0 {
		t.Fatal(stderr)
	}
	for lifted := time.Now(); time.Since(lifted) < 5*time.Second; time.Sleep(250 * time.Millisecond) {
		for _, s := range replicas {
			ask(s, secret) // the deadline also holds for a key in use
		}
	}
	for i, s := range append(replicas, late) {
		if code, _ := ask(s, secret); code == "key_banned" {
			t.Errorf("5 seconds after the ban was lifted, the key is still banned on replica %d", i)
		}
	}
}

// newKey creates a key with the given arguments of petstore keys create.
func newKey(t *testing.T, database string, args ...string) string {
	t.Helper()
	return testservice.NewKey(t, testservice.Build(t), database, args...)
}

// keysOf returns the keys in a database.
func keysOf(t *testing.T, database string) []testservice.Key {
	t.Helper()
	out, stderr, status := testservice.Run(t, "keys", "list", "--json", "--database", database)
	if status != 0 {
		t.Fatalf("keys list: %s", stderr)
	}
	return testservice.Decode[[]testservice.Key](t, out)
}

// create adds an animal and returns the animal.
func create(t *testing.T, s *testservice.Instance, name string) testservice.Pet {
	t.Helper()
	got := s.Ask(t, "POST", "/v1/pets", fmt.Sprintf(`{"name":%q,"categoryId":1}`, name))
	if got.Status != http.StatusCreated {
		t.Fatalf("create: %d %s", got.Status, got.Body)
	}
	return testservice.Decode[testservice.Pet](t, got.Body)
}

// sendSpread sends n requests at the same time, spread over the replicas. For each answer that is not 429, it returns the
// window and the number of requests left.
func sendSpread(t *testing.T, n int, replicas []*testservice.Instance, key string) (windows map[string]bool, left []int) {
	t.Helper()
	var mu sync.Mutex
	var sending sync.WaitGroup
	windows = map[string]bool{}
	for i := range n {
		sending.Go(func() {
			got, err := testservice.Request(replicas[i%len(replicas)].URL, key, "GET", "/v1/pets?limit=1", "")
			switch {
			case err == nil && got.Status == http.StatusOK:
				mu.Lock()
				defer mu.Unlock()
				remaining, _ := strconv.Atoi(got.Header.Get("X-RateLimit-Remaining"))
				windows[got.Header.Get("X-RateLimit-Reset")], left = true, append(left, remaining)
			case err != nil || got.Status != http.StatusTooManyRequests:
				t.Errorf("%d %s %v", got.Status, got.Body, err)
			}
		})
	}
	sending.Wait()
	return windows, left
}

func TestReplicasSurviveAPostgreSQLOutageWithoutRestart(t *testing.T) {
	t.Parallel()
	database := testservice.StartPostgres(t)
	replicas := startReplicas(t, 2, database.URL)
	s := replicas[1]
	create(t, s, "before")
	database.Stop(t)
	for _, method := range []string{"POST", "GET"} {
		got := s.Ask(t, method, "/v1/pets", `{"name":"meanwhile","categoryId":1}`)
		refusal := testservice.Decode[struct {
			Code, Message string
			Status        int
		}](t, got.Body)
		if got.Status != 503 || refusal.Status != 503 || refusal.Code != "unavailable" || refusal.Message == "" || got.Header.Get("Retry-After") == "" {
			t.Errorf("%s without the database: %d %s, Retry-After %q", method, got.Status, got.Body, got.Header.Get("Retry-After"))
		}
	}
	testservice.Eventually(t, "it is unready", 30*time.Second, func() bool { return s.Ask(t, "GET", "/readyz", "").Status == 503 })
	if got := s.Ask(t, "GET", "/healthz", ""); got.Status != 200 {
		t.Errorf("without the database, /healthz is %d", got.Status)
	}

	database.Start(t)
	for _, s := range replicas {
		testservice.Eventually(t, "it is ready again", 30*time.Second, func() bool { return s.Ask(t, "GET", "/readyz", "").Status == 200 })
		create(t, s, "after")
	}
	if pets := s.EveryPet(t); len(pets) != 3 || pets[2].Name != "before" {
		t.Errorf("after the database's return the list is %v", pets)
	}
}

func TestDuringARedisOutageEachReplicaCountsByItself(t *testing.T) {
	t.Parallel()
	redis := testservice.StartRedis(t)
	database := testservice.Postgres(t)
	replicas := append(
		startReplicas(t, 1, database, "--redis", redis.URL, "--admin-listen", "127.0.0.1:0"),
		startReplicas(t, 1, database, "--redis", redis.URL)...)
	key := newKey(t, database, "--plan", "business")
	degraded := func() string {
		return regexp.MustCompile(`(?m)^petstore_limiter_degraded (.*)$`).FindStringSubmatch(replicas[0].Scrape(t))[1]
	}
	ask := func(s *testservice.Instance) (reset string, left int) {
		got, err := testservice.Request(s.URL, key, "GET", "/v1/pets", "")
		if err != nil || got.Status != http.StatusOK {
			t.Fatalf("%d %s %v", got.Status, got.Body, err)
		}
		left, _ = strconv.Atoi(got.Header.Get("X-RateLimit-Remaining"))
		return got.Header.Get("X-RateLimit-Reset"), left
	}
	countTogether := func() bool {
		window, left := ask(replicas[0])
		next, leftNext := ask(replicas[1])
		return window == next && leftNext == left-1
	}
	if testservice.Eventually(t, "they count together", time.Minute, countTogether); degraded() != "0" {
		t.Error("with Redis, the metric is not 0")
	}

	redis.Stop(t)
	for range 10 {
		ask(replicas[0])
		ask(replicas[1])
	}
	if degraded() != "1" {
		t.Error("without Redis, the metric is not 1")
	}

	redis.Start(t)
	testservice.Eventually(t, "Redis is in use again", 30*time.Second, func() bool { return degraded() == "0" })
	testservice.Eventually(t, "they count together again", 30*time.Second, countTogether)
	replicas[0].Stop(t)
	if log := replicas[0].Stderr.String(); strings.Count(log, "Redis is out of reach") != 1 || strings.Count(log, "Redis is back") != 1 {
		t.Errorf("the outage and its end are not each logged once:\n%s", log)
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
