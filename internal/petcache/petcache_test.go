package petcache

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"petstore/internal/petstore"
)

func pet(id int64) petstore.Pet {
	return petstore.Pet{ID: id, NewPet: petstore.NewPet{Status: petstore.Available}}
}

// modelTest compares a cache with all animals of a store.
type modelTest struct {
	*testing.T
	Cache
	random *rand.Rand
	all    map[int64]petstore.Pet
}

// sorted returns all animals from an id on, newest first.
func (m *modelTest) sorted(from int64) (pets []petstore.Pet) {
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(m.all))) {
		if id >= from {
			pets = append(pets, m.all[id])
		}
	}
	return pets
}

// change stores or deletes an animal of the store, and tells the cache.
func (m *modelTest) change(id int64) {
	change := Change{Pet: pet(id), Deleted: m.random.IntN(3) == 0}
	change.Pet.Name = strings.Repeat("x", m.random.IntN(40))
	change.Pet.Status = petstore.Statuses[m.random.IntN(3)]
	if change.Deleted {
		delete(m.all, id)
	} else {
		m.all[id] = change.Pet
	}
	if known := id >= m.from; m.Apply(change) != known {
		m.Fatalf("the cache from %d on does not say whether it holds animal %d", m.from, id)
	}
	m.Shrink()
}

// addOlder adds the next animals of the store to the cache.
func (m *modelTest) addOlder() {
	if !m.HasRoom() {
		return
	}
	var older []petstore.Pet
	for _, p := range m.sorted(math.MinInt64) {
		if p.ID < m.from && len(older) < BlockSize {
			older = append(older, p)
		}
	}
	m.AddOlder(older)
}

func (m *modelTest) check() {
	m.Helper()
	want := m.sorted(m.from)
	q := petstore.PetQuery{Limit: 1 + m.random.IntN(600), Before: m.random.Int64N(2) * m.random.Int64N(4000), Status: petstore.Status(m.random.IntN(4))}
	page, complete := m.List(q)
	selected := slices.DeleteFunc(slices.Clone(want), func(p petstore.Pet) bool {
		return q.Before != 0 && p.ID >= q.Before || q.Status != petstore.AnyStatus && p.Status != q.Status
	})
	if selected = selected[:min(q.Limit, len(selected))]; m.Reaches(q) && !slices.Equal(page, selected) {
		m.Fatalf("%+v shows %d animals, want %d", q, len(page), len(selected))
	}
	if complete != (m.Reaches(q) && (len(selected) == q.Limit || m.from == math.MinInt64)) {
		m.Fatalf("%+v is complete: %v", q, complete)
	}
	id := m.random.Int64N(4000)
	kept, exists := m.all[id]
	if got, found, known := m.Get(id); known != (id >= m.from) || known && (found != exists || got != kept) {
		m.Fatalf("the animal %d is %+v, %v, %v", id, got, found, known)
	}
	bytes := 0
	var held []petstore.Pet
	for _, b := range m.blocks {
		if len(b.pets) == 0 || len(b.pets) > BlockSize || b.first > b.pets[0].ID || newBlock(b.pets).byStatus != b.byStatus {
			m.Fatalf("a block of %d animals counts %v", len(b.pets), b.byStatus)
		}
		for _, p := range b.pets {
			bytes += SizeOf(p)
		}
		held = append(held, b.pets...)
	}
	if slices.Reverse(held); !slices.Equal(held, want) || bytes != m.bytes || bytes > m.MaxBytes {
		m.Fatalf("%d animals are in the cache from %d on, want %d; it counts %d bytes, and there are %d of at most %d", len(held), m.from, len(want), m.bytes, bytes, m.MaxBytes)
	}
}

// New animals come in any order, because transactions do not commit in the order of their ids.
func TestACacheShowsEveryAnimalFromItsLowerBoundOn(t *testing.T) {
	for seed := range uint64(20) {
		m := &modelTest{T: t, Cache: New(), random: rand.New(rand.NewPCG(seed, 1)), all: make(map[int64]petstore.Pet)}
		m.MaxBytes = (4 + m.random.IntN(4)) * BlockSize * (petSize + 40)
		newest := int64(0)
		for range 400 {
			switch m.random.IntN(4) {
			case 0:
				m.addOlder()
			case 1:
				for range m.random.IntN(100) {
					m.change(1 + m.random.Int64N(newest+20))
				}
			case 2:
				ids := m.random.Perm(1 + m.random.IntN(40))
				for _, i := range ids {
					m.change(newest + 1 + int64(i))
				}
				newest += int64(len(ids))
			case 3:
				if m.random.IntN(50) == 0 {
					m.Empty()
				}
			}
			m.check()
		}
	}
}

func TestTheSizeOfAnAnimalIsNotTooLow(t *testing.T) {
	if size := unsafe.Sizeof(petstore.Pet{}); size > petSize {
		t.Errorf("an animal takes %d bytes", size)
	}
}

func TestDeletedAnimalsLeaveLittleMemoryInUse(t *testing.T) {
	const lots = 64 * BlockSize
	c := New()
	c.AddOlder(nil)
	for id := range int64(lots) {
		c.Apply(Change{Pet: pet(id + 1)})
	}
	room := func() (room, held int) {
		for _, b := range c.blocks {
			room, held = room+cap(b.pets), held+len(b.pets)
		}
		return room, held
	}
	for _, each := range []int64{2, 8, BlockSize} { // keep every second animal, then every eighth, then one animal in each block
		for id := range int64(lots) {
			if id%each != 0 {
				c.Apply(Change{Pet: pet(id + 1), Deleted: true})
			}
		}
		if room, held := room(); held != int(lots/each) || room > 2*held+2*BlockSize {
			t.Errorf("with one animal in %d left, the cache has room for %d and holds %d", each, room, held)
		}
		for id := int64(0); id < lots; id += each {
			if _, found, _ := c.Get(id + 1); !found {
				t.Fatalf("animal %d is gone", id+1)
			}
		}
	}
}

func TestAnimalsWithIdsBelowZeroAreListed(t *testing.T) {
	c := New()
	c.AddOlder([]petstore.Pet{pet(-7)})
	if pets, complete := c.List(petstore.PetQuery{Limit: 9}); len(pets) != 1 || !complete {
		t.Errorf("listed are %v", pets)
	}
}
