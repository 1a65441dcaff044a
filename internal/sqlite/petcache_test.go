package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"petstore/internal/petcache"
	"petstore/internal/petstore"
)

// twins is a test with pairs of animals. The test raises the category numbers of each pair step by step, always the first
// animal's number before the second's. So the second animal never has a higher number than the first, and no number ever
// falls.
type twins struct {
	*DB
	pairs [][2]int64
	shown [1501]atomic.Int64 // the highest category number shown so far, by animal id
}

func (w *twins) show(p petstore.Pet) {
	for {
		before := w.shown[p.ID].Load()
		if p.CategoryID <= before || w.shown[p.ID].CompareAndSwap(before, p.CategoryID) {
			return
		}
	}
}

func (w *twins) raise(pair [2]int64) error {
	for number := range int64(100) {
		for _, id := range pair {
			pet, _, err := w.UpdatePet(context.Background(), id, petstore.PetPatch{CategoryID: &number}, nil)
			if err != nil {
				return err
			}
			w.show(pet)
		}
	}
	return nil
}

// The method list reads both twins in one page.
func (w *twins) list(pair [2]int64) error {
	low, high := min(pair[0], pair[1]), max(pair[0], pair[1])
	before := [2]int64{w.shown[pair[0]].Load(), w.shown[pair[1]].Load()}
	page, err := w.ListPets(context.Background(), petstore.PetQuery{Before: high + 1 + rand.Int64N(3), Limit: int(high - low + 9)})
	if err != nil {
		return err
	}
	var now [2]int64
	for _, pet := range page {
		if i := slices.Index(pair[:], pet.ID); i >= 0 {
			now[i] = pet.CategoryID
			w.show(pet)
		}
	}
	if now[0] < before[0] || now[1] < before[1] || now[0] < now[1] {
		return fmt.Errorf("the animals %v show %v, and %v before", pair, now, before)
	}
	return nil
}

func (w *twins) get(id int64) error {
	before := w.shown[id].Load()
	pet, err := w.GetPet(context.Background(), id)
	if err != nil {
		return err
	}
	if w.show(pet); pet.CategoryID < before {
		return fmt.Errorf("the animal %d shows %d, and %d before", id, pet.CategoryID, before)
	}
	return nil
}

// The cache is small, and new animals arrive. So some reads find their animals in the cache, some in the file, and some
// partly in each.
func TestReadsOfCacheAndFileShowOneMoment(t *testing.T) {
	w := &twins{DB: openNew(t), pairs: [][2]int64{{600, 1400}, {1390, 610}, {900, 905}, {1300, 1310}}}
	w.cache.pets.MaxBytes = 4 * petcache.BlockSize * petcache.SizeOf(petstore.Pet{NewPet: rex})
	_, err := w.AddPets(t.Context(), slices.Repeat([]petstore.NewPet{{Name: "Rex", Status: petstore.Sold}}, 1500), nil)
	noError(t, err)
	var writing atomic.Int32
	var all sync.WaitGroup
	begin := func(work func() error) {
		all.Go(func() {
			if err := work(); err != nil {
				t.Error(err)
			}
		})
	}
	for _, pair := range w.pairs {
		writing.Add(1)
		begin(func() error {
			defer writing.Add(-1)
			return w.raise(pair)
		})
	}
	begin(func() (err error) {
		for writing.Load() > 0 && err == nil {
			_, err = w.AddPets(context.Background(), []petstore.NewPet{rex, rex}, nil)
		}
		return err
	})
	for range 4 {
		begin(func() (err error) {
			for writing.Load() > 0 && err == nil {
				pair := w.pairs[rand.IntN(len(w.pairs))]
				err = errors.Join(w.list(pair), w.get(pair[rand.IntN(2)]))
			}
			return err
		})
	}
	all.Wait()
}

func TestTheCacheIsBounded(t *testing.T) {
	db := openNew(t)
	db.fillCache()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range 24 {
		pets := make([]petstore.NewPet, 512)
		for i := range pets {
			pets[i] = petstore.NewPet{Name: strings.Repeat("🐘", petstore.MaxNameLength), Status: petstore.Sold}
		}
		_, err := db.AddPets(t.Context(), pets, nil)
		noError(t, err)
	}
	most := db.cache.pets.MaxBytes
	if n := db.cache.pets.Bytes(); n > most || n < most-petcache.BlockSize*5000 {
		t.Errorf("the cache holds %d bytes of at most %d", n, most)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > int64(most)*5/4 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
}

func TestAReadFromTheCacheIsRefusedIfItsCallerHasGivenUpOrTheDatabaseIsClosed(t *testing.T) {
	db := openNew(t)
	pet, _, err := db.CreatePet(t.Context(), rex, nil)
	noError(t, err)
	db.fillCache()
	ended, end := context.WithCancel(t.Context())
	end()
	for _, ctx := range []context.Context{ended, t.Context()} {
		if _, err := db.GetPet(ctx, pet.ID); !petstore.IsCode(err, petstore.Unavailable) {
			t.Errorf("GetPet returns %v", err)
		}
		if _, err := db.ListPets(ctx, petstore.PetQuery{Limit: 9}); !petstore.IsCode(err, petstore.Unavailable) {
			t.Errorf("ListPets returns %v", err)
		}
		noError(t, db.Close())
	}
}

func TestOpenReadsNoAnimals(t *testing.T) {
	db := openNew(t)
	_, err := db.AddPets(t.Context(), slices.Repeat([]petstore.NewPet{rex}, 1000), nil)
	noError(t, err)
	noError(t, db.Close())
	again := open(t, Config{Path: db.path, Serve: true})
	if from := again.cache.pets.From(); from != math.MaxInt64 {
		t.Errorf("the cache holds the animals from %d on", from)
	}
}

func TestReadsFillTheCache(t *testing.T) {
	db := openNew(t)
	_, err := db.AddPets(t.Context(), slices.Repeat([]petstore.NewPet{rex}, 1000), nil)
	noError(t, err)
	deadline := time.Now().Add(time.Minute)
	for {
		_, err := db.GetPet(t.Context(), 1)
		noError(t, err)
		if _, more := db.cache.room(); !more {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the oldest animal is not in the cache")
		}
	}
	db.readers.pause(func([]*reader) { // all readers are in use, so the answer must come from the cache
		pets, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 2000})
		if err != nil || len(pets) != 1000 {
			t.Errorf("%d animals, %v", len(pets), err)
		}
	})
}

// The server itself trims the WAL and writes keys. It must not mistake its own writes for the work of another process.
func TestAServersOwnWritesDoNotEmptyTheCache(t *testing.T) {
	db := openNew(t)
	db.fillCache()
	batch := slices.Repeat([]change{{pet: big}}, 250)
	for range 6 { // six commits of 2 MiB each
		_, err := db.commitBatch(batch)
		noError(t, err)
	}
	key := petstore.NewKey("a", petstore.Free, limits, time.Now(), petstore.Forever)
	noError(t, db.CreateKey(t.Context(), key, petstore.HashSecret("a"), petstore.KeyRequest{}))
	_, _, err := db.CreatePet(t.Context(), rex, nil)
	noError(t, err)
	if db.cache.pets.From() != math.MinInt64 {
		t.Errorf("the cache begins at %d, want all animals", db.cache.pets.From())
	}
}

// A reader that reads animals outside the cache need not begin a new transaction for every new animal.
func TestAReaderOfOldAnimalsKeepsItsTransaction(t *testing.T) {
	db := openNew(t)
	_, err := db.AddPets(t.Context(), slices.Repeat([]petstore.NewPet{rex}, 1000), nil)
	noError(t, err)
	db.fillCache()
	db.cache.pets.MaxBytes = db.cache.pets.Bytes() + 9*petcache.SizeOf(petstore.Pet{})
	get := func() (pet petstore.Pet) {
		pet, err = db.GetPet(t.Context(), 5)
		noError(t, err)
		return pet
	}
	held := func() (versions []uint64) {
		db.readers.pause(func(readers []*reader) {
			for _, r := range readers {
				versions = append(versions, r.version)
			}
		})
		slices.Sort(versions)
		return versions
	}
	for range cap(db.readers) {
		get()
	}
	before := held()
	_, _, err = db.CreatePet(t.Context(), rex, nil)
	noError(t, err)
	for range cap(db.readers) {
		get()
	}
	if after := held(); !slices.Equal(after, before) {
		t.Errorf("after the create the readers show the versions %v, before it %v", after, before)
	}
	name := "Rex the Old"
	_, _, err = db.UpdatePet(t.Context(), 5, petstore.PetPatch{Name: &name}, nil)
	noError(t, err)
	for range cap(db.readers) {
		if pet := get(); pet.Name != name {
			t.Errorf("the store shows %v, want the name %s", pet, name)
		}
	}
}

// Every reader has a transaction that began before the animal changed. The old transaction does no harm until the cache
// evicts the animal.
func TestAReaderShowsAChangeMadeBeforeTheCacheEvictedTheAnimal(t *testing.T) {
	const blocks = 8 // after one block is evicted, the cache is still too full to read the block again
	db := openNew(t)
	_, err := db.AddPets(t.Context(), slices.Repeat([]petstore.NewPet{rex}, blocks*petcache.BlockSize), nil)
	noError(t, err)
	for range blocks + 1 {
		db.fillCache()
	}
	db.cache.pets.MaxBytes = db.cache.pets.Bytes()
	holdTransactions(t, db)
	name := "Max" // as long as the old name, so that the cache still has room for it
	_, _, err = db.UpdatePet(t.Context(), 1, petstore.PetPatch{Name: &name}, nil)
	noError(t, err)
	_, _, err = db.CreatePet(t.Context(), rex, nil)
	noError(t, err)
	if db.cache.pets.From() != petcache.BlockSize+1 {
		t.Fatalf("the cache begins at %d, want %d", db.cache.pets.From(), petcache.BlockSize+1)
	}
	for range cap(db.readers) {
		if pet, err := db.GetPet(t.Context(), 1); err != nil || pet.Name != name {
			t.Errorf("the store shows %v, want the name %s (%v)", pet, name, err)
		}
	}
}
