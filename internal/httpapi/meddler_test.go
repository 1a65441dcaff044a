package httpapi_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"petstore/internal/petstore"
)

// meddler is a storage that counts its calls. A test can do something before each of them.
type meddler struct {
	petstore.Storage
	mu     sync.Mutex
	calls  map[string]int
	before func(ctx context.Context, call string) error
}

func meddle(t testing.TB) *meddler {
	return &meddler{Storage: openSQLite(t), calls: make(map[string]int)}
}

// with sets what happens before every call from now on. If that returns an error, the call returns it.
func (m *meddler) with(before func(ctx context.Context, call string) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before = before
}

// holdLookUps holds back the next n look-ups of keys until ask is closed. Each of them sends a value on asked.
func (m *meddler) holdLookUps(n int) (asked, ask chan struct{}) {
	asked, ask = make(chan struct{}, n), make(chan struct{})
	m.with(func(_ context.Context, call string) error {
		if call == "FindKey" {
			asked <- struct{}{}
			<-ask
		}
		return nil
	})
	return asked, ask
}

// failing makes a call fail with that error from now on.
func (m *meddler) failing(call string, err error) {
	m.with(func(_ context.Context, c string) error {
		if c == call {
			return err
		}
		return nil
	})
}

// count is how often a call was made since the last count.
func (m *meddler) count(call string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.calls[call]
	m.calls[call] = 0
	return n
}

func (m *meddler) called(ctx context.Context, call string) error {
	m.mu.Lock()
	m.calls[call]++
	before := m.before
	m.mu.Unlock()
	if before == nil {
		return nil
	}
	return before(ctx, call)
}

func (m *meddler) ListPets(ctx context.Context, q petstore.PetQuery) ([]petstore.Pet, error) {
	if err := m.called(ctx, "ListPets"); err != nil {
		return nil, err
	}
	return m.Storage.ListPets(ctx, q)
}

func (m *meddler) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	if err := m.called(ctx, "GetPet"); err != nil {
		return petstore.Pet{}, err
	}
	return m.Storage.GetPet(ctx, id)
}

func (m *meddler) CreatePet(ctx context.Context, pet petstore.NewPet, once *petstore.Idempotency) (petstore.Pet, bool, error) {
	if err := m.called(ctx, "CreatePet"); err != nil {
		return petstore.Pet{}, false, err
	}
	return m.Storage.CreatePet(ctx, pet, once)
}

func (m *meddler) DeletePet(ctx context.Context, id int64) error {
	if err := m.called(ctx, "DeletePet"); err != nil {
		return err
	}
	return m.Storage.DeletePet(ctx, id)
}

func (m *meddler) CloseOrder(ctx context.Context, id int64, to petstore.OrderStatus) (petstore.Order, error) {
	if err := m.called(ctx, "CloseOrder"); err != nil {
		return petstore.Order{}, err
	}
	return m.Storage.CloseOrder(ctx, id, to)
}

func (m *meddler) FindKey(ctx context.Context, hash petstore.SecretHash) (petstore.Key, error) {
	if err := m.called(ctx, "FindKey"); err != nil {
		return petstore.Key{}, err
	}
	return m.Storage.FindKey(ctx, hash)
}

func (m *meddler) UseKey(ctx context.Context, id string, hour time.Time) error {
	if err := m.called(ctx, "UseKey"); err != nil {
		return err
	}
	return m.Storage.UseKey(ctx, id, hour)
}

func (m *meddler) BanOwner(ctx context.Context, owner string, now time.Time) (petstore.Ban, error) {
	if err := m.called(ctx, "BanOwner"); err != nil {
		return petstore.Ban{}, err
	}
	return m.Storage.BanOwner(ctx, owner, now)
}
