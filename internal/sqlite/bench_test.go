package sqlite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"petstore/internal/petstore"
)

const benchPets = 100_000

func BenchmarkList(b *testing.B) {
	db := openFilled(b)
	newest := func() int64 { return 0 }
	random := func() int64 { return 21 + rand.Int64N(benchPets-20) }
	for _, c := range []struct {
		name   string
		status petstore.Status
		before func() int64
	}{
		{"newest", 0, newest},
		{"newest of a status", petstore.Pending, newest},
		{"random", 0, random},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					q := petstore.PetQuery{Limit: 20, Status: c.status, Before: c.before()}
					if pets, err := db.ListPets(b.Context(), q); err != nil || len(pets) != q.Limit {
						b.Error(len(pets), err)
					}
				}
			})
		})
	}
}

func BenchmarkGet(b *testing.B) {
	db := openFilled(b)
	b.Run("random", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := db.GetPet(b.Context(), 1+rand.Int64N(benchPets)); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

// BenchmarkCreate also reports how many creates shared a commit.
func BenchmarkCreate(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprintf("%d callers", callers), func(b *testing.B) {
			db := openNew(b)
			b.SetParallelism(callers)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, _, err := db.CreatePet(b.Context(), petstore.NewPet{Name: "Rex", Status: petstore.Sold}, nil); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/float64(db.cache.version.Load()), "creates/commit")
		})
	}
}

// BenchmarkListWhileOthersCreate also reports how often the version changed.
func BenchmarkListWhileOthersCreate(b *testing.B) {
	db := openFilled(b)
	ctx, stop := context.WithCancel(b.Context())
	var creators sync.WaitGroup
	for range 4 {
		creators.Go(func() {
			for ctx.Err() == nil {
				db.CreatePet(ctx, rex, nil)
			}
		})
	}
	before := db.cache.version.Load()
	b.SetParallelism(16)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := db.ListPets(b.Context(), petstore.PetQuery{Limit: 20}); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(db.cache.version.Load()-before)/b.Elapsed().Seconds(), "commits/s")
	stop()
	creators.Wait()
}

// openFilled opens a database with benchPets animals.
func openFilled(b *testing.B) *DB {
	db := openNew(b)
	for done := 0; done < benchPets; done += maxBatch {
		batch := make([]change, min(maxBatch, benchPets-done))
		for i := range batch {
			batch[i].pet = petstore.NewPet{Name: fmt.Sprintf("Pet number %d", done+i), Status: petstore.Statuses[i%3]}
		}
		if _, err := db.commitBatch(batch); err != nil {
			b.Fatal(err)
		}
	}
	return db
}
