package postgres

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// openReplicas opens one database three times.
func openReplicas(t *testing.T) [3]*DB {
	t.Helper()
	url := testservice.Postgres(t)
	return [3]*DB{open(t, url), open(t, url), open(t, url)}
}

func TestEveryReplicaShowsWhatOneAcknowledged(t *testing.T) {
	dbs := openReplicas(t)
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			here, there := dbs[i%3], dbs[(i+1)%3]
			for range 10 {
				pet, _, err := here.CreatePet(t.Context(), rex, nil)
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := there.GetPet(t.Context(), pet.ID); err != nil || got != pet {
					t.Errorf("created %v, another replica gets %v, %v", pet, got, err)
				}
				page, err := there.ListPets(t.Context(), petstore.PetQuery{Limit: 100})
				if err != nil || !slices.Contains(page, pet) {
					t.Errorf("created %v, another replica lists %v, %v", pet, page, err)
				}
			}
		})
	}
	all.Wait()
}

func TestDuplicatesAtEveryReplicaMakeOnePet(t *testing.T) {
	dbs := openReplicas(t)
	now := time.Now()
	const keys, duplicates = 10, 6
	for _, round := range []struct {
		name  string
		now   time.Time
		fresh int64
		pets  int
	}{
		{"the first time", now, keys, keys},
		{"again", now, 0, keys},
		{"after the records have expired", now.Add(petstore.IdempotencyKept), keys, 2 * keys},
	} {
		t.Run(round.name, func(t *testing.T) {
			var fresh atomic.Int64
			var all sync.WaitGroup
			for i := range keys * duplicates {
				all.Go(func() {
					idempotency := &petstore.Idempotency{Owner: "ann", Key: fmt.Sprint(i % keys), Now: round.now}
					_, replayed, err := dbs[i%3].CreatePet(t.Context(), rex, idempotency)
					if err != nil {
						t.Error(err)
					}
					if !replayed {
						fresh.Add(1)
					}
				})
			}
			all.Wait()
			pets, err := dbs[0].ListPets(t.Context(), petstore.PetQuery{Limit: 1000})
			if err != nil || len(pets) != round.pets {
				t.Errorf("%d animals, %v; want %d", len(pets), err, round.pets)
			}
			if fresh.Load() != round.fresh {
				t.Errorf("%d answers are not replays, want %d", fresh.Load(), round.fresh)
			}
		})
	}
}

func TestReplicasPurgeConcurrently(t *testing.T) {
	dbs := openReplicas(t)
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
