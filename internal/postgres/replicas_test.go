package postgres

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"petstore/internal/conformance"
	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// openReplicas opens one database three times, as three replicas do.
func openReplicas(t *testing.T, url string) [3]*DB {
	t.Helper()
	return [3]*DB{serving(t, openEmptied(t, url)), serving(t, open(t, url)), serving(t, open(t, url))}
}

// replicas is a Storage that spreads the calls for animals, categories and orders over three replicas.
type replicas struct {
	*DB
	all   [3]*DB
	calls atomic.Int64
}

func (r *replicas) next() *DB { return r.all[r.calls.Add(1)%3] }

func (r *replicas) ListPets(ctx context.Context, q petstore.PetQuery) ([]petstore.Pet, error) {
	return r.next().ListPets(ctx, q)
}

func (r *replicas) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	return r.next().GetPet(ctx, id)
}

func (r *replicas) CreatePet(ctx context.Context, pet petstore.NewPet, once *petstore.Idempotency) (petstore.Pet, bool, error) {
	return r.next().CreatePet(ctx, pet, once)
}

func (r *replicas) UpdatePet(ctx context.Context, id int64, patch petstore.PetPatch, once *petstore.Idempotency) (petstore.Pet, bool, error) {
	return r.next().UpdatePet(ctx, id, patch, once)
}

func (r *replicas) DeletePet(ctx context.Context, id int64, once *petstore.Idempotency) (bool, error) {
	return r.next().DeletePet(ctx, id, once)
}

func (r *replicas) Inventory(ctx context.Context) (petstore.Inventory, error) {
	return r.next().Inventory(ctx)
}

func (r *replicas) CreateCategory(ctx context.Context, name string, once *petstore.Idempotency) (petstore.Category, bool, error) {
	return r.next().CreateCategory(ctx, name, once)
}

func (r *replicas) GetOrder(ctx context.Context, id int64) (petstore.Order, error) {
	return r.next().GetOrder(ctx, id)
}

func (r *replicas) PlaceOrder(ctx context.Context, order petstore.NewOrder, once *petstore.Idempotency) (petstore.Order, bool, error) {
	return r.next().PlaceOrder(ctx, order, once)
}

func (r *replicas) UpdateOrder(ctx context.Context, id int64, patch petstore.OrderPatch, once *petstore.Idempotency) (petstore.Order, bool, error) {
	return r.next().UpdateOrder(ctx, id, patch, once)
}

func (r *replicas) CloseOrder(ctx context.Context, id int64, to petstore.OrderStatus, once *petstore.Idempotency) (petstore.Order, bool, error) {
	return r.next().CloseOrder(ctx, id, to, once)
}

func (r *replicas) ExpireOrders(ctx context.Context) (int64, error) {
	return r.next().ExpireOrders(ctx)
}

func (r *replicas) Close() error {
	return errors.Join(r.all[0].Close(), r.all[1].Close(), r.all[2].Close())
}

func TestThreeReplicasConform(t *testing.T) {
	url := testservice.Postgres(t)
	conformance.Storage(t, func(t *testing.T) petstore.Database {
		all := openReplicas(t, url)
		return &replicas{DB: all[0], all: all}
	})
}

func TestReplicasPurgeConcurrently(t *testing.T) {
	dbs := openReplicas(t, testservice.Postgres(t))
	execute(t, dbs[0].pool.Config().ConnString(), `
		INSERT INTO idempotency SELECT 'ann', n, '', n, '{}' FROM generate_series(1, 5000) n`)
	var purged atomic.Int64
	var all sync.WaitGroup
	for _, db := range dbs {
		all.Go(func() {
			n, err := db.PurgeIdempotency(t.Context(), time.UnixMilli(4001))
			if err != nil {
				t.Error(err)
			}
			purged.Add(n)
		})
	}
	all.Wait()
	if purged.Load() != 4000 {
		t.Errorf("%d records were purged, want 4000", purged.Load())
	}
}
