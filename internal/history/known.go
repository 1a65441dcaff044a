package history

import (
	"slices"
	"sync"

	"petstore/internal/model"
)

// These constants limit how many things the workers use at the same time.
const (
	hotPets     = 6
	manyPets    = 40
	manyDoubts  = 10
	knownOrders = 12
	manyRepeats = 12
	numbers     = 6   // of categories that workers name
	numbersLast = 200 // requests, before workers use other numbers
)

// The type known holds what the workers have learned from answers. Most requests are about the first few animals.
type known struct {
	mu       sync.Mutex
	pets     []int64
	doubtful []int64       // animals whose last change has an unknown outcome; workers no longer change them
	orders   []model.Order // the latest open orders
	made     []int64       // the categories that createCategory created
	number   int64         // workers name categories with the numbers just below this one
	used     int           // how often workers used these numbers
	name     string        // the latest name that one of these categories got
}

// learn remembers what an answer shows.
func (k *known) learn(e model.Exchange) {
	op, ok := model.Parse(e)
	if !ok {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case op.Unknown:
		k.doubt(op)
	case op.Name == "deletePet" && op.Code != "pet_reserved":
		k.forget(op.ID)
	case op.Name == "nameCategory" && op.Code == "":
		k.name = op.GivenName()
	case op.Name == "createCategory" && op.Code == "" && !op.Replayed:
		k.made = append(k.made, op.ID)
	case op.Lists() || op.Makes():
		for _, p := range op.Pets {
			if !slices.Contains(k.pets, p.ID) && !slices.Contains(k.doubtful, p.ID) {
				k.pets = append(k.pets, p.ID)
			}
		}
		for _, o := range op.Orders {
			if o.Status == "open" && !slices.ContainsFunc(k.orders, func(other model.Order) bool { return other.ID == o.ID }) {
				k.orders = append(k.orders[max(0, len(k.orders)-knownOrders+1):], o)
			}
		}
	}
}

// doubt makes the workers stop using what a write with an unknown outcome may have changed.
func (k *known) doubt(op *model.Operation) {
	pet := op.ID
	if op.Name == "placeOrder" {
		pet = *op.Fields.PetID
	}
	for _, o := range k.orders {
		if op.Noun == "orders" && o.ID == op.ID {
			pet = o.PetID
		}
	}
	if op.Noun == "categories" {
		k.used = numbersLast
	} else if k.forget(pet) {
		k.doubtful = append(k.doubtful, pet)
	}
}

// forget makes the workers stop using an animal and its orders. It reports whether they were using the animal.
func (k *known) forget(pet int64) bool {
	k.orders = slices.DeleteFunc(k.orders, func(o model.Order) bool { return o.PetID == pet })
	i := slices.Index(k.pets, pet)
	if i >= 0 {
		k.pets = slices.Delete(k.pets, i, i+1)
	}
	return i >= 0
}

// value returns a value for a word in an action. It returns false if there is none.
func (k *known) value(w *worker, word string) (value any, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case word == "pet" && len(k.pets) > 0 && w.chance(60):
		return oneOf(w, k.pets[:min(hotPets, len(k.pets))]), true
	case word == "unwanted" && len(k.doubtful) > manyDoubts:
		value, k.doubtful = k.doubtful[0], k.doubtful[1:]
		return value, true
	case word == "pet" && len(k.pets) > 0, word == "unwanted" && len(k.pets) > hotPets:
		return oneOf(w, k.pets), true
	case word == "order" && len(k.orders) > 0:
		return oneOf(w, k.orders).ID, true
	case word == "made" && len(k.made) > 0:
		value, k.made = k.made[0], k.made[1:]
		return value, true
	case word == "taken":
		return k.name, k.name != ""
	case word == "category": // a negative number, which createCategory never uses
		if k.used++; k.used > numbersLast {
			k.number, k.used, k.name = k.number-numbers, 0, ""
		}
		return k.number - 1 - w.random.Int64N(numbers), true
	}
	return nil, false
}

func (k *known) isCrowded() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.pets) > manyPets
}
