package httpapi_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/postgres"
	"petstore/internal/testservice"
)

// openHookedAt returns a hookedStorage on the PostgreSQL server at that address.
func openHookedAt(t testing.TB, address string) *hookedStorage {
	t.Helper()
	db, err := postgres.Open(t.Context(), postgres.Config{
		URL: "postgres://postgres@" + address + "/postgres?sslmode=disable", Environment: petstore.Production, Create: true,
	})
	return &hookedStorage{Storage: closeAfterTest(t, db, err), calls: make(map[string]int)}
}

// uncachedKeys creates n keys that no cache contains yet.
func (s *service) uncachedKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = s.key(petstore.Enterprise)
	}
	return keys
}

func TestRequestsDuringADatabaseOutageAreNotCounted(t *testing.T) {
	server := testservice.StartPostgres(t)
	s := serve(t, on(openHookedAt(t, server.Address)))
	keys := s.uncachedKeys(10)
	stale := s.key(petstore.Free)
	s.get(stale, "/v1/pets").is(t, 200, "")
	s.clock.step(5 * time.Second)
	server.Stop(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 150 {
				a, err := s.try(request("GET", "/v1/pets", keys[(i+n)%len(keys)]))
				if err != nil {
					t.Error(err)
					return
				}
				if code, _ := a.refusal(); a.status != 503 || code != "unavailable" {
					t.Errorf("request %d: %s", n, a.raw)
					return
				}
			}
		})
	}
	all.Wait()
	a := s.get(stale, "/v1/pets")
	a.is(t, 503, "unavailable")
	a.has(t, "WWW-Authenticate", "")
	a.hasLimits(t, 1000, 1000, noon.Add(time.Minute))
	s.get("garbage", "/v1/pets").hasLimits(t, 1000, 999, noon.Add(time.Minute))
	server.Start(t)
	for _, key := range keys {
		s.get(key, "/v1/pets").is(t, 200, "")
	}
	s.get(stale, "/v1/pets").hasLimits(t, 60, 58, noon.Add(time.Minute))
}

func TestLookUpsDoNotPileUpWhileTheDatabaseHangs(t *testing.T) {
	const most = 64
	server := testservice.StartPostgres(t)
	storage := openHookedAt(t, server.Address)
	s := serve(t, on(storage))
	keys := s.uncachedKeys(most + 20)
	asked, release := storage.blockLookUps(len(keys))
	server.Pause(t)
	answers := make(chan string)
	for _, key := range keys[:most] {
		go func() {
			a, err := s.try(request("GET", "/v1/pets", key))
			if err != nil {
				answers <- err.Error()
				return
			}
			code, _ := a.refusal()
			answers <- fmt.Sprint(a.status, " ", code)
		}()
	}
	for range most {
		<-asked
	}
	for _, key := range keys[most:] {
		s.get(key, "/v1/pets").is(t, 503, "unavailable") // refused while the other requests still wait
	}
	if n := storage.count("FindKey"); n != most {
		t.Errorf("%d look-ups wait, want %d", n, most)
	}
	close(release)
	for range most {
		if got := <-answers; got != "503 unavailable" {
			t.Errorf("a look-up that waited got %s", got)
		}
	}
	s.get("garbage", "/v1/pets").hasLimits(t, 1000, 999, noon.Add(time.Minute))
	server.Resume(t)
	for _, key := range keys {
		s.get(key, "/v1/pets").is(t, 200, "")
	}
}

func TestLookUpsBeyondTheMaximumGetTheirTurn(t *testing.T) {
	const most = 64
	storage := openHooked(t)
	s := serve(t, on(storage))
	keys := s.uncachedKeys(3 * most)
	asked, release := storage.blockLookUps(len(keys))
	answers := make(chan int)
	for _, key := range keys {
		go func() {
			a, err := s.try(request("GET", "/v1/pets", key))
			if err != nil {
				t.Error(err)
			}
			answers <- a.status
		}()
	}
	for range most {
		<-asked
	}
	close(release)
	for range keys {
		if got := <-answers; got != 200 {
			t.Errorf("a key got %d", got)
		}
	}
}

// If a client hangs up before the database answers, its request does not count against any limit.
func TestAbandonedLookUpIsNotCounted(t *testing.T) {
	storage := openHooked(t)
	s := serve(t, on(storage))
	key := s.key(petstore.Free)
	asked, release := storage.blockLookUps(1)
	conn := dial(t, s.address)
	fmt.Fprint(conn, request("GET", "/v1/pets", key, "X-Request-Id: gone"))
	<-asked
	conn.Close()
	if line := s.log.lineOf("gone"); !strings.Contains(line, `"status":499`) {
		t.Errorf("the log says %s", line)
	}
	close(release)
	s.get("garbage", "/v1/pets").hasLimits(t, 1000, 999, noon.Add(time.Minute))
}

func TestCreateWithALostDatabaseAnswerCanBeRepeated(t *testing.T) {
	server := testservice.StartPostgres(t)
	proxy := testservice.StartProxy(t, server.Address)
	s := serve(t, on(openHookedAt(t, proxy.Address)))
	key := s.key(petstore.Enterprise)
	for _, way := range []struct {
		name string
		lose func(sent string) <-chan struct{}
	}{{"Broken", proxy.Break}, {"Silent", proxy.Silence}} {
		body := fmt.Sprintf(`{"name":%q,"categoryId":1}`, way.name)
		answered := way.lose(way.name)
		s.post(key, body, "Idempotency-Key: "+way.name).is(t, 503, "outcome_unknown")
		<-answered
		a := s.post(key, body, "Idempotency-Key: "+way.name)
		a.is(t, 201, "")
		a.has(t, "Idempotency-Replayed", "true")
	}
	if pets := s.pets(); len(pets) != 2 {
		t.Errorf("%v are stored, want each once", pets)
	}
}
