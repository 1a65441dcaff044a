package httpapi_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"petstore/internal/petstore"
)

// hookedStorage is a storage that counts its calls and runs a hook before each call.
type hookedStorage struct {
	petstore.Storage
	mu    sync.Mutex
	calls map[string]int
	hook  func(ctx context.Context, call string) error
	found func() // runs after each look-up of a key
}

func openHooked(t testing.TB) *hookedStorage {
	return &hookedStorage{Storage: openSQLite(t), calls: make(map[string]int)}
}

// setHook sets the hook, which runs before every later call. If the hook returns an error, the call returns that error.
func (s *hookedStorage) setHook(hook func(ctx context.Context, call string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hook = hook
}

// setFound sets a function that runs after each later look-up of a key.
func (s *hookedStorage) setFound(found func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found = found
}

// blockLookUps blocks the next n look-ups of keys until the channel release is closed. Each blocked look-up sends a value on
// the channel asked.
func (s *hookedStorage) blockLookUps(n int) (asked, release chan struct{}) {
	asked, release = make(chan struct{}, n), make(chan struct{})
	s.setHook(func(_ context.Context, call string) error {
		if call == "FindKey" {
			asked <- struct{}{}
			<-release
		}
		return nil
	})
	return asked, release
}

// failOn makes every later call of one method fail with err.
func (s *hookedStorage) failOn(call string, err error) {
	s.setHook(func(_ context.Context, c string) error {
		if c == call {
			return err
		}
		return nil
	})
}

// count returns how often a method was called since the last call of count for it.
func (s *hookedStorage) count(call string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.calls[call]
	s.calls[call] = 0
	return n
}

func (s *hookedStorage) runHook(ctx context.Context, call string) error {
	s.mu.Lock()
	s.calls[call]++
	hook := s.hook
	s.mu.Unlock()
	if hook == nil {
		return nil
	}
	return hook(ctx, call)
}

func (s *hookedStorage) ListPets(ctx context.Context, q petstore.PetQuery) ([]petstore.Pet, error) {
	if err := s.runHook(ctx, "ListPets"); err != nil {
		return nil, err
	}
	return s.Storage.ListPets(ctx, q)
}

func (s *hookedStorage) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	if err := s.runHook(ctx, "GetPet"); err != nil {
		return petstore.Pet{}, err
	}
	return s.Storage.GetPet(ctx, id)
}

func (s *hookedStorage) CreatePet(ctx context.Context, pet petstore.NewPet, once *petstore.Idempotency) (petstore.Pet, bool, error) {
	if err := s.runHook(ctx, "CreatePet"); err != nil {
		return petstore.Pet{}, false, err
	}
	return s.Storage.CreatePet(ctx, pet, once)
}

func (s *hookedStorage) DeletePet(ctx context.Context, id int64, once *petstore.Idempotency) (bool, error) {
	if err := s.runHook(ctx, "DeletePet"); err != nil {
		return false, err
	}
	return s.Storage.DeletePet(ctx, id, once)
}

func (s *hookedStorage) CloseOrder(ctx context.Context, id int64, to petstore.OrderStatus, once *petstore.Idempotency) (petstore.Order, bool, error) {
	if err := s.runHook(ctx, "CloseOrder"); err != nil {
		return petstore.Order{}, false, err
	}
	return s.Storage.CloseOrder(ctx, id, to, once)
}

func (s *hookedStorage) FindKey(ctx context.Context, hash petstore.SecretHash) (petstore.Key, error) {
	if err := s.runHook(ctx, "FindKey"); err != nil {
		return petstore.Key{}, err
	}
	key, err := s.Storage.FindKey(ctx, hash)
	s.mu.Lock()
	found := s.found
	s.mu.Unlock()
	if found != nil {
		found()
	}
	return key, err
}

func (s *hookedStorage) UseKey(ctx context.Context, id string, hour time.Time) error {
	if err := s.runHook(ctx, "UseKey"); err != nil {
		return err
	}
	return s.Storage.UseKey(ctx, id, hour)
}

func (s *hookedStorage) BanOwner(ctx context.Context, owner string, now time.Time) (petstore.Ban, error) {
	if err := s.runHook(ctx, "BanOwner"); err != nil {
		return petstore.Ban{}, err
	}
	return s.Storage.BanOwner(ctx, owner, now)
}
