package httpapi_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"petstore/internal/petstore"
)

// lastUsed waits until the storage has that last-used time for the key.
func (s *service) lastUsed(secret string, want time.Time) {
	s.Helper()
	var got time.Time
	for range 10_000 {
		key, err := s.storage.FindKey(s.Context(), petstore.HashSecret(secret))
		if err != nil {
			s.Fatal(err)
		}
		if got = key.LastUsedAt; got.Equal(want) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	s.Fatalf("the key was last used at %v, want %v", got, want)
}

func TestLastUsedTimeIsUpdatedOnceAnHour(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		storage := &hookedStorage{Storage: open(t), calls: make(map[string]int)}
		s := serve(t, on(storage))
		key := s.key(petstore.Enterprise)
		s.clock.step(20 * time.Minute)
		s.get(key, "/v1/pets").is(t, 200, "")
		s.lastUsed(key, noon)
		for range 5 {
			s.clock.step(5 * time.Second)
			s.get(key, "/v1/pets").is(t, 200, "")
		}
		s.clock.step(time.Hour)
		s.get(key, "/v1/pets").is(t, 200, "")
		s.lastUsed(key, noon.Add(time.Hour))
		if n := storage.count("UseKey"); n != 2 {
			t.Errorf("the last-used time was updated %d times in two hours", n)
		}
	})
}

// The two services act as two replicas.
func TestLastUsedTimeFromAnotherReplicaIsNotUpdatedAgain(t *testing.T) {
	storage := openHooked(t)
	one, other := serve(t, on(storage)), serve(t, on(storage))
	key := one.key(petstore.Enterprise)
	one.get(key, "/v1/pets").is(t, 200, "")
	one.lastUsed(key, noon)
	other.get(key, "/v1/pets").is(t, 200, "")
	other.clock.step(time.Hour)
	other.get(key, "/v1/pets").is(t, 200, "")
	other.lastUsed(key, noon.Add(time.Hour))
	if n := storage.count("UseKey"); n != 2 {
		t.Errorf("two replicas updated the last-used time %d times in two hours", n)
	}
}

func TestRefusedKeyHasNoLastUsedTime(t *testing.T) {
	s := serve(t)
	limits := petstore.Limits{PerMinute: 60, PerDay: 1000}
	expired, _ := s.createKey(petstore.NewKey("expired", petstore.Free, limits, noon.Add(-time.Hour), time.Hour))
	revoked, key := s.createKey(petstore.NewKey("revoked", petstore.Free, limits, noon, petstore.Forever))
	noError(t, writeError(s.storage.RevokeKey(t.Context(), key.ID, petstore.ByOperator(noon))))
	s.get(expired, "/v1/pets").is(t, 401, "unauthorized")
	s.get(revoked, "/v1/pets").is(t, 401, "unauthorized")
	used := s.key(petstore.Free)
	s.get(used, "/v1/pets").is(t, 200, "")
	s.lastUsed(used, noon) // by now the storage would also have the updates of the earlier requests
	s.lastUsed(expired, time.Time{})
	s.lastUsed(revoked, time.Time{})
}

func TestUpdateOfTheLastUsedTimeDelaysNoRequest(t *testing.T) {
	storage := openHooked(t)
	s := serve(t, on(storage))
	keys := []string{s.key(petstore.Free), s.key(petstore.Free), s.key(petstore.Free)}
	hanging, release := make(chan struct{}, len(keys)), make(chan struct{})
	storage.setHook(func(_ context.Context, call string) error {
		if call == "UseKey" {
			hanging <- struct{}{}
			<-release
		}
		return nil
	})
	for range 3 {
		for _, key := range keys {
			s.get(key, "/v1/pets").is(t, 200, "")
		}
		s.clock.step(5 * time.Second)
	}
	<-hanging
	if n := storage.count("UseKey"); n != 1 {
		t.Errorf("%d updates run at once", n)
	}
	close(release)
	for _, key := range keys {
		s.lastUsed(key, noon)
	}
}

func TestFailedUpdateOfTheLastUsedTimeIsRetried(t *testing.T) {
	storage := openHooked(t)
	s := serve(t, on(storage))
	key := s.key(petstore.Free)
	failed := make(chan struct{}, 1)
	storage.setHook(func(_ context.Context, call string) error {
		if call != "UseKey" {
			return nil
		}
		failed <- struct{}{}
		return petstore.NotDone(errors.New("the disk is full"))
	})
	s.get(key, "/v1/pets").is(t, 200, "")
	<-failed
	storage.setHook(nil)
	updated := false
	for i := 0; i < 500 && !updated; i++ { // the failed update may still be running when the key is looked up again
		s.clock.step(5 * time.Second)
		s.get(key, "/v1/pets").is(t, 200, "")
		found, err := storage.FindKey(t.Context(), petstore.HashSecret(key))
		updated = err == nil && !found.LastUsedAt.IsZero()
	}
	s.lastUsed(key, noon)
	if strings.Contains(s.log.String(), "the disk is full") {
		t.Error("the failure is logged above debug level")
	}
}
