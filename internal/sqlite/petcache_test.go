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
	"unsafe"

	"petstore/internal/petstore"
)

// twins are two animals that get ever higher numbers, first the one and then the other. So at no moment is the second
// ahead, and no number ever goes back.
type twins struct {
	*DB
	pairs [][2]int64
	shown [1501]atomic.Int64 // the highest number so far, by id
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
			pet, err := w.UpdatePet(context.Background(), id, petstore.PetPatch{CategoryID: &number})
			if err != nil {
				return err
			}
			w.show(pet)
		}
	}
	return nil
}

// list reads both twins in one page.
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

// The memory is small and new animals come in, so that reads find their animals in the memory, behind it, and across its
// end.
func TestReadsOfMemoryAndFileAreOfOneMoment(t *testing.T) {
	w := &twins{DB: openNew(t), pairs: [][2]int64{{600, 1400}, {1390, 610}, {900, 905}, {1300, 1310}}}
	w.newest.most = 4 * blockSize * sizeOf(petstore.Pet{NewPet: rex})
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

func TestAnimalsInMemoryAreBounded(t *testing.T) {
	db := openNew(t)
	db.fetch()
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
	if n := db.newest.bytes; n > maxNewest || n < maxNewest-blockSize*5000 {
		t.Errorf("%d bytes are held of 48 MiB", n)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > maxNewest*5/4 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	if size := unsafe.Sizeof(petstore.Pet{}); size > petSize {
		t.Errorf("an animal takes %d bytes", size)
	}
}

func TestAnimalsThatAreDeletedLeaveLittleMemoryBehind(t *testing.T) {
	const lots = 64 * blockSize
	var n newest
	n.init()
	n.extend(nil)
	for id := range int64(lots) {
		n.follow([]alteration{{pet: petstore.Pet{ID: id + 1, NewPet: petstore.NewPet{Status: petstore.Available}}}})
	}
	room := func() (room, held int) {
		for _, b := range n.blocks {
			room, held = room+cap(b.pets), held+len(b.pets)
		}
		return room, held
	}
	for _, each := range []int64{2, 8, blockSize} { // keeps one of so many
		for id := range int64(lots) {
			if id%each != 0 {
				n.follow([]alteration{{pet: petstore.Pet{ID: id + 1}, gone: true}})
			}
		}
		if room, held := room(); held != int(lots/each) || room > 2*held+2*blockSize {
			t.Errorf("with one animal of %d left, there is room for %d, and %d are held", each, room, held)
		}
		for id := int64(0); id < lots; id += each {
			if _, found, _, _ := n.get(id + 1); !found {
				t.Fatalf("animal %d is gone", id+1)
			}
		}
	}
}

func TestAReadOfMemoryIsRefusedOnceItsCallerHasGivenUp(t *testing.T) {
	db := openNew(t)
	pet, _, err := db.CreatePet(t.Context(), rex, nil)
	noError(t, err)
	db.fetch()
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := db.GetPet(ended, pet.ID); !petstore.IsCode(err, petstore.Unavailable) {
		t.Errorf("GetPet returns %v", err)
	}
	if _, err := db.ListPets(ended, petstore.PetQuery{Limit: 9}); !petstore.IsCode(err, petstore.Unavailable) {
		t.Errorf("ListPets returns %v", err)
	}
}

func TestAReadOfMemoryIsRefusedOnceTheDatabaseIsClosed(t *testing.T) {
	db := openNew(t)
	pet, _, err := db.CreatePet(t.Context(), rex, nil)
	noError(t, err)
	db.fetch()
	noError(t, db.Close())
	if _, err := db.GetPet(t.Context(), pet.ID); !petstore.IsCode(err, petstore.Unavailable) {
		t.Errorf("GetPet returns %v", err)
	}
	if _, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 9}); !petstore.IsCode(err, petstore.Unavailable) {
		t.Errorf("ListPets returns %v", err)
	}
}

func TestAnimalsWithIdsBelowZeroAreListed(t *testing.T) {
	var n newest
	n.init()
	n.extend([]petstore.Pet{{ID: -7, NewPet: petstore.NewPet{Status: petstore.Available}}})
	if pets, whole, _ := n.list(petstore.PetQuery{Limit: 9}); len(pets) != 1 || !whole {
		t.Errorf("listed are %v", pets)
	}
}

func TestAStartReadsNoAnimals(t *testing.T) {
	db := openNew(t)
	_, err := db.AddPets(t.Context(), slices.Repeat([]petstore.NewPet{rex}, 1000), nil)
	noError(t, err)
	noError(t, db.Close())
	again := open(t, Config{Path: db.path, Serve: true})
	if len(again.newest.blocks) != 0 || again.newest.from != math.MaxInt64 {
		t.Errorf("%d blocks are held from %d on", len(again.newest.blocks), again.newest.from)
	}
}

func TestAnimalsComeIntoMemoryAsTheyAreAskedFor(t *testing.T) {
	db := openNew(t)
	_, err := db.AddPets(t.Context(), slices.Repeat([]petstore.NewPet{rex}, 1000), nil)
	noError(t, err)
	deadline := time.Now().Add(time.Minute)
	for {
		_, err := db.GetPet(t.Context(), 1)
		noError(t, err)
		if _, more := db.newest.room(); !more {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the oldest animal is not in memory")
		}
	}
	db.readers.pause(func([]*reader) { // no reader is needed
		pets, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 2000})
		if err != nil || len(pets) != 1000 {
			t.Errorf("%d animals, %v", len(pets), err)
		}
	})
}

// The server itself trims the WAL and notes the use of keys. It must not take that for the work of another process.
func TestAServerDoesNotForgetByItself(t *testing.T) {
	db := openNew(t)
	db.fetch()
	batch := slices.Repeat([]change{{pet: big}}, 250)
	for range 6 { // of 2 MiB each
		_, err := db.commit(batch)
		noError(t, err)
	}
	key := petstore.NewKey("a", petstore.Free, limits, time.Now(), petstore.Forever)
	noError(t, db.CreateKey(t.Context(), key, petstore.HashSecret("a")))
	_, _, err := db.CreatePet(t.Context(), rex, nil)
	noError(t, err)
	if db.newest.from != math.MinInt64 {
		t.Errorf("the memory begins at %d, want all animals", db.newest.from)
	}
}

// A reader of animals that are not in memory need not begin a new transaction for every animal that comes in.
func TestAReaderBehindTheMemoryKeepsItsTransaction(t *testing.T) {
	db := openNew(t)
	_, err := db.AddPets(t.Context(), slices.Repeat([]petstore.NewPet{rex}, 1000), nil)
	noError(t, err)
	db.fetch()
	db.newest.most = db.newest.bytes + 9*petSize
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
		t.Errorf("readers have %v, before the create %v", after, before)
	}
	name := "Rex the Old"
	_, err = db.UpdatePet(t.Context(), 5, petstore.PetPatch{Name: &name})
	noError(t, err)
	for range cap(db.readers) {
		if pet := get(); pet.Name != name {
			t.Errorf("%v is shown, whose name is %s", pet, name)
		}
	}
}

// Every reader holds a transaction that began before the animal changed. That does no harm until the animal leaves the
// memory.
func TestAReaderShowsWhatChangedBeforeTheMemoryDroppedIt(t *testing.T) {
	const blocks = 8 // without one of them, the memory is too full to fetch it again
	db := openNew(t)
	_, err := db.AddPets(t.Context(), slices.Repeat([]petstore.NewPet{rex}, blocks*blockSize), nil)
	noError(t, err)
	for range blocks + 1 {
		db.fetch()
	}
	db.newest.most = db.newest.bytes
	hold(t, db)
	name := "Max" // as long as the name before, so that the memory still has room for it
	_, err = db.UpdatePet(t.Context(), 1, petstore.PetPatch{Name: &name})
	noError(t, err)
	_, _, err = db.CreatePet(t.Context(), rex, nil)
	noError(t, err)
	if db.newest.from != blockSize+1 {
		t.Fatalf("the memory begins at %d, want %d", db.newest.from, blockSize+1)
	}
	for range cap(db.readers) {
		if pet, err := db.GetPet(t.Context(), 1); err != nil || pet.Name != name {
			t.Errorf("%v is shown, whose name is %s, %v", pet, name, err)
		}
	}
}
