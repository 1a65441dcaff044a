package history

import (
	"encoding/json"
	"slices"
	"sync"
)

// How many animals and orders the workers remember.
const (
	hotPets     = 6
	manyPets    = 40
	knownOrders = 12
)

// known is what the workers have learned from answers. The first animals are those that everybody wants.
type known struct {
	mu       sync.Mutex
	pets     []int64
	orders   []int64
	named    string // the name that a category got most recently
	orderPut int
}

// see remembers the animals of an answer.
func (k *known) see(e Exchange) {
	type pet struct {
		ID int64 `json:"id"`
	}
	var pets []pet
	if json.Unmarshal(e.Answer, &pets) != nil {
		pets = []pet{{idOf(e)}}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range pets {
		if p.ID != 0 && !slices.Contains(k.pets, p.ID) {
			k.pets = append(k.pets, p.ID)
		}
	}
}

func (k *known) forget(id int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := slices.Index(k.pets, id); i >= 0 {
		k.pets = slices.Delete(k.pets, i, i+1)
	}
}

func (k *known) crowded() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.pets) > manyPets
}

// pet is an animal, mostly one that everybody wants.
func (k *known) pet(w *worker) int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case len(k.pets) == 0:
		return 1
	case w.chance(60):
		return k.pets[w.random.IntN(min(hotPets, len(k.pets)))]
	}
	return oneOf(w, k.pets...)
}

// fresh is an animal that is not among those that everybody wants.
func (k *known) fresh(w *worker) (int64, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.pets) <= hotPets {
		return 0, false
	}
	return oneOf(w, k.pets[hotPets:]...), true
}

// order remembers an order instead of one that was remembered long ago.
func (k *known) order(id int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case slices.Contains(k.orders, id):
	case len(k.orders) < knownOrders:
		k.orders = append(k.orders, id)
	default:
		k.orders[k.orderPut%knownOrders] = id
		k.orderPut++
	}
}

func (k *known) anOrder(w *worker) int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.orders) == 0 {
		return 1
	}
	return oneOf(w, k.orders...)
}

func (k *known) nameCategory(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.named = name
}

func (k *known) category() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.named
}
