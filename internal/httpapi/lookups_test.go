package httpapi_test

import (
	"context"
	"errors"
	"maps"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"petstore/internal/httpapi"
	"petstore/internal/petstore"
)

// flood sends one request with each key, all at once and all from one address, and returns how many answers had each
// status.
func (s *service) flood(keys []string) map[int]int {
	var mu sync.Mutex
	var all sync.WaitGroup
	start, statuses := make(chan struct{}), make(map[int]int)
	for _, key := range keys {
		all.Go(func() {
			r := httptest.NewRequest("GET", "/v1/pets", nil)
			r.RemoteAddr = "127.0.0.1:4711"
			r.Header.Set("Authorization", "Bearer "+key)
			w := httptest.NewRecorder()
			<-start
			s.api.ServeHTTP(w, r)
			mu.Lock()
			defer mu.Unlock()
			statuses[w.Code]++
		})
	}
	close(start)
	all.Wait()
	return statuses
}

// sends fails the test unless a flood with these keys gets exactly these statuses.
func (s *service) sends(keys []string, want map[int]int) {
	s.Helper()
	if got := s.flood(keys); !maps.Equal(got, want) {
		s.Errorf("%d keys got the statuses %v, want %v", len(keys), got, want)
	}
}

// useUp uses n requests of the address, without a look-up.
func (s *service) useUp(n int) {
	s.Helper()
	s.sends(make([]string, n), map[int]int{401: n})
}

func unknownKeys(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = petstore.NewSecret(petstore.Production)
	}
	return keys
}

// countingStorage counts the look-ups of keys that the storage answered. On a busy machine some may time out.
type countingStorage struct {
	petstore.Storage
	lookUps atomic.Int64
}

func (s *countingStorage) FindKey(ctx context.Context, hash petstore.SecretHash) (petstore.Key, error) {
	key, err := s.Storage.FindKey(ctx, hash)
	if err == nil || petstore.IsCode(err, petstore.NotFound) {
		s.lookUps.Add(1)
	}
	return key, err
}

func TestConcurrentUnknownKeysCostNoMoreLookUpsThanTheirAddressHasRequests(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		storage := &countingStorage{Storage: open(t)}
		s := serve(t, on(storage))
		statuses := s.flood(unknownKeys(6000))
		if n := storage.lookUps.Load(); n == 0 || n > 1000 || statuses[401]+statuses[429]+statuses[503] != 6000 {
			t.Errorf("6,000 unknown keys cost %d look-ups, want at most 1,000, and got the statuses %v", n, statuses)
		}
		s.clock.step(time.Minute)
		s.get("", "/v1/pets").hasLimits(t, 1000, 999, noon.Add(2*time.Minute))
	})
}

func TestValidKeysBehindOneAddressLoseNothing(t *testing.T) {
	for _, used := range []int{1, 950, 999} {
		t.Run(strconv.Itoa(used)+" of its 1,000 requests are used", func(t *testing.T) {
			s := serve(t)
			keys := s.uncachedKeys(100)
			s.useUp(used)
			s.sends(keys, map[int]int{200: len(keys)})
			s.get("", "/v1/pets").hasLimits(t, 1000, int64(999-used), noon.Add(time.Minute))
		})
	}
}

func TestValidKeysAmongUnknownOnesAreLookedUpWhileAnyRequestIsLeft(t *testing.T) {
	s := serve(t)
	keys := s.uncachedKeys(200)
	s.useUp(900)
	s.sends(append(unknownKeys(90), keys...), map[int]int{200: len(keys), 401: 90})
	s.get("", "/v1/pets").hasLimits(t, 1000, 9, noon.Add(time.Minute))
}

func TestEndedKeyCountsForItsAddress(t *testing.T) {
	s := serve(t)
	secret, key := s.createKey(petstore.NewKey("ended", petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, noon, petstore.Forever))
	noError(t, writeError(s.storage.RevokeKey(t.Context(), key.ID, petstore.ByOperator(noon))))
	for left := int64(999); left > 996; left-- { // the first from the storage, the others from the cache
		a := s.get(secret, "/v1/pets")
		a.is(t, 401, "unauthorized")
		a.hasLimits(t, 1000, left, noon.Add(time.Minute))
	}
}

func TestKeysThatCannotBeLookedUpAreNeverRefusedByALimit(t *testing.T) {
	for name, hook := range map[string]func(ctx context.Context, call string) error{
		"the storage fails": func(context.Context, string) error { return petstore.NotDone(errors.New("no storage")) },
		"the storage hangs": func(ctx context.Context, _ string) error { <-ctx.Done(); return petstore.NotDone(ctx.Err()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storage := openHooked(t)
			s := serve(t, on(storage))
			s.useUp(990)
			storage.setHook(hook)
			s.sends(unknownKeys(1500), map[int]int{503: 1500})
			s.get("", "/v1/pets").hasLimits(t, 1000, 9, noon.Add(time.Minute))
		})
	}
}

func TestUnknownKeysAreCountedOnceWhileLimitsAreOff(t *testing.T) {
	s := serve(t, func(c *httpapi.Config) { c.CountOnly = true })
	s.get(s.key(petstore.Free), "/v1/pets").is(t, 200, "")
	s.sends(unknownKeys(10), map[int]int{401: 10})
	s.get(unknownKeys(1)[0], "/v1/pets").hasLimits(t, 1000, 989, noon.Add(time.Minute))
	s.useUp(1000)
	s.sends(unknownKeys(10), map[int]int{401: 10})
	s.clock.step(time.Minute)
	s.get(unknownKeys(1)[0], "/v1/pets").hasLimits(t, 1000, 999, noon.Add(2*time.Minute))
}

func TestRequestThatWaitsForUncheckedKeysOfOthersEndsWithItsClient(t *testing.T) {
	storage := openHooked(t)
	s := serve(t, on(storage))
	s.useUp(999)
	key := s.key(petstore.Free)
	asked, release := storage.blockLookUps(1)
	first := make(chan map[int]int)
	go func() { first <- s.flood([]string{key}) }()
	<-asked
	conn := dial(t, s.address)
	if _, err := conn.Write([]byte(request("GET", "/v1/pets", unknownKeys(1)[0], "X-Request-Id: gone"))); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond) // enough time for the request to wait
	conn.Close()
	if line := s.log.lineOf("gone"); line == "" {
		t.Error("the request of a client that is gone still waits")
	}
	close(release)
	if got := <-first; got[200] != 1 {
		t.Errorf("the valid key got %v", got)
	}
	s.get("", "/v1/pets").hasLimits(t, 1000, 0, noon.Add(time.Minute))
}
