package httpapi

import (
	"context"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/sqlite"
)

func openStorage(t testing.TB) *sqlite.DB {
	t.Helper()
	return openWith(t, sqlite.Config{Path: filepath.Join(t.TempDir(), "petstore.db"), Environment: petstore.Production, Create: true, Serve: true})
}

func openWith(t testing.TB, config sqlite.Config) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), config)
	noError(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// blockedStorage reads a key and sends a value on the channel found. It returns the key only after it has received a value
// from the channel letGo.
type blockedStorage struct {
	petstore.Storage
	found, letGo chan struct{}
}

func (s blockedStorage) FindKey(ctx context.Context, hash petstore.SecretHash) (petstore.Key, error) {
	key, err := s.Storage.FindKey(ctx, hash)
	s.found <- struct{}{}
	<-s.letGo
	return key, err
}

func TestLookUpDuringABanIsNotCached(t *testing.T) {
	noon := time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)
	storage := blockedStorage{openStorage(t), make(chan struct{}), make(chan struct{})}
	key, hash := petstore.NewKey("loud", petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, noon, petstore.Forever), petstore.HashSecret("a")
	noError(t, storage.CreateKey(t.Context(), key, hash, petstore.KeyRequest{}))
	cache := newKeyCache(storage, slog.New(slog.DiscardHandler), func() time.Time { return noon })
	done := make(chan error)
	go func() {
		_, err := cache.lookUp(context.Background(), hash)
		done <- err
	}()

	<-storage.found
	ban, err := storage.BanOwner(t.Context(), key.Owner, noon)
	noError(t, err)
	cache.ban(key.Owner, ban)
	storage.letGo <- struct{}{}
	noError(t, <-done)
	if key, _, fresh := cache.cached(hash, noon); fresh && !key.BannedUntil.Equal(ban.Until) {
		t.Error("the cache returns a key that was read before its owner was banned")
	}
}

// slowStorage takes a tenth of a second to find a key.
type slowStorage struct{ petstore.Storage }

func (slowStorage) FindKey(context.Context, petstore.SecretHash) (petstore.Key, error) {
	time.Sleep(100 * time.Millisecond)
	return petstore.Key{}, petstore.NoSuchSecret()
}

func TestLookUpsWaitAsLongAsTheStorageAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newKeyCache(slowStorage{}, slog.New(slog.DiscardHandler), time.Now)
		var all sync.WaitGroup
		for i := range 20 * maxLookUps {
			all.Go(func() {
				if _, err := cache.lookUp(t.Context(), petstore.HashSecret(strconv.Itoa(i))); !petstore.IsCode(err, petstore.NotFound) {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
}

func TestKeyCacheIsBounded(t *testing.T) {
	cache := newKeyCache(nil, nil, time.Now)
	for i := range maxKeys + 100 {
		cache.put(petstore.HashSecret(strconv.Itoa(i)), keyEntry{queriedAt: time.Now()}, 0)
	}
	if n := len(cache.entries); n != maxKeys {
		t.Errorf("%d keys are cached, want %d", n, maxKeys)
	}
	last := petstore.HashSecret(strconv.Itoa(maxKeys + 99))
	if _, known, _ := cache.cached(last, time.Now()); !known {
		t.Error("the latest key is not cached")
	}
	for range 100 {
		cache.put(last, keyEntry{queriedAt: time.Now()}, 0)
	}
	if n := len(cache.entries); n != maxKeys {
		t.Errorf("%d keys are cached after one of them was renewed, want %d", n, maxKeys)
	}
}

func TestKeyThatIsNotInTheStorageIsForgotten(t *testing.T) {
	noon := time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)
	cache := newKeyCache(openStorage(t), slog.New(slog.DiscardHandler), func() time.Time { return noon })
	hash := petstore.HashSecret("a")
	cache.put(hash, keyEntry{queriedAt: noon}, 0)
	if _, err := cache.lookUp(t.Context(), hash); !petstore.IsCode(err, petstore.NotFound) {
		t.Fatalf("got %v, want a refusal with the code %s", err, petstore.NotFound)
	}
	if _, known, _ := cache.cached(hash, noon); known {
		t.Error("the cache still has a key that the storage does not have")
	}
}

func TestScheduledKeyUsesAreBounded(t *testing.T) {
	uses := newKeyUses(nil, nil)
	uses.writing = true // pretends that a goroutine is writing while the storage hangs
	for i := range maxScheduled + 100 {
		uses.schedule(petstore.Key{ID: strconv.Itoa(i)}, time.Now())
	}
	if n := len(uses.waiting); n != maxScheduled {
		t.Errorf("%d uses wait, want %d", n, maxScheduled)
	}
}

func TestKeyIsCachedFor5Seconds(t *testing.T) {
	noon := time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)
	cache := newKeyCache(nil, nil, nil)
	hash := petstore.HashSecret("a")
	renewed := new(atomic.Bool)
	renewed.Store(true) // prevents a new look-up
	cache.put(hash, keyEntry{queriedAt: noon, renewing: renewed}, 0)
	for age, want := range map[time.Duration]bool{0: true, 5*time.Second - 1: true, 5 * time.Second: false, time.Hour: false, -1: false} {
		if _, known, fresh := cache.cached(hash, noon.Add(age)); !known || fresh != want {
			t.Errorf("after %v: known %v, fresh %v, want %v", age, known, fresh, want)
		}
	}
}

// versionedStorage is a storage whose version the tests set.
type versionedStorage struct {
	petstore.Storage
	version uint64
}

func (c *versionedStorage) Version() (uint64, bool) { return c.version, true }

func queryWithLimit(limit int) petsQuery { return petsQuery{PetQuery: petstore.PetQuery{Limit: limit}} }

func TestAnswerIsReusedUntilTheVersionChanges(t *testing.T) {
	storage := &versionedStorage{version: 1}
	a := newPageCache(storage)
	made := 0
	get := func(q petsQuery) (answer, bool) {
		p, reused, err := a.get(q, func() (answer, error) { made++; return answer{body: strconv.Itoa(made), link: "next"}, nil })
		noError(t, err)
		return p, reused
	}
	first, reused := get(queryWithLimit(20))
	if again, reusedAgain := get(queryWithLimit(20)); reused || !reusedAgain || again != first {
		t.Error("the same query of the same version was made twice")
	}
	if other, reused := get(queryWithLimit(21)); reused || other == first {
		t.Error("another query got the same answer")
	}
	storage.version++
	if other, reused := get(queryWithLimit(20)); reused || other == first {
		t.Error("an answer outlived its version")
	}
	if made != 3 {
		t.Errorf("%d answers were made, want 3", made)
	}
}

func TestAnswerOfAnOlderVersionIsNotReused(t *testing.T) {
	storage := &versionedStorage{version: 1}
	a := newPageCache(storage)
	q := queryWithLimit(20)
	slowly := func() (answer, error) {
		storage.version = 2 // another request writes while the query for version 1 runs
		_, _, err := a.get(q, func() (answer, error) { return answer{body: "new"}, nil })
		return answer{body: "old"}, err
	}
	if _, _, err := a.get(q, slowly); err != nil {
		t.Fatal(err)
	}
	if p, reused, _ := a.get(q, nil); !reused || p.body != "new" {
		t.Errorf("got %s", p.body)
	}
	storage.version = 1 // a slow request read this version before the write
	if _, reused, _ := a.get(q, func() (answer, error) { return answer{}, nil }); reused {
		t.Error("an answer of another version was reused")
	}
}

// A storage that was opened without Serve learns only later what the server writes.
func TestNothingIsCachedIfAnotherProcessMayWrite(t *testing.T) {
	config := sqlite.Config{Path: filepath.Join(t.TempDir(), "petstore.db"), Environment: petstore.Production, Create: true, Serve: true}
	server := openWith(t, config)
	config.Serve = false
	beside := openWith(t, config)
	a := newPageCache(beside)
	list := func() string {
		page, _, err := a.get(queryWithLimit(20), func() (answer, error) {
			pets, err := beside.ListPets(t.Context(), petstore.PetQuery{Limit: 20})
			return answer{body: strconv.Itoa(len(pets))}, err
		})
		noError(t, err)
		return page.body
	}
	before := list()
	if _, _, err := server.CreatePet(t.Context(), petstore.NewPet{Name: "Rex", CategoryID: 1, Status: petstore.Available}, nil); err != nil {
		t.Fatal(err)
	}
	if after := list(); before != "0" || after != "1" {
		t.Errorf("the list has %s animals before the server creates one, and %s after", before, after)
	}
}

func TestPageCacheIsBoundedInNumberAndBytes(t *testing.T) {
	for _, size := range []int{100, 33 << 10, 1 << 20} {
		a, body := newPageCache(&versionedStorage{}), strings.Repeat(".", size)
		for i := range 1000 {
			a.get(queryWithLimit(i), func() (answer, error) { return answer{body: body}, nil })
		}
		g, bytes := a.current.Load(), 0
		for _, page := range g.pages {
			bytes += len(page.body)
		}
		if len(g.pages) > maxPages || bytes > maxPageBytes || len(g.pages) < min(maxPages, maxPageBytes/size) {
			t.Errorf("%d answers of %d bytes are kept", len(g.pages), size)
		}
	}
}
