package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// Benchmark calls the store from as many goroutines as 64 connections keep busy. The store has 100,000 animals, and the
// server writes every commit to the disk.
func Benchmark(b *testing.B) {
	server := testservice.StartPostgres(b)
	db := open(b, server.URL)
	execute(b, server.URL, `
		INSERT INTO pets (name, category_id, status) SELECT 'Pet ' || n, n % 10, 1 + n % 3 FROM generate_series(1, 100000) n`)
	execute(b, server.URL, "VACUUM ANALYZE pets")
	for _, call := range []struct {
		name string
		call func(ctx context.Context) error
	}{
		{"list, the same page", func(ctx context.Context) error {
			_, err := db.ListPets(ctx, petstore.PetQuery{Status: petstore.Available, Limit: 20})
			return err
		}},
		{"list, other pages", func(ctx context.Context) error {
			_, err := db.ListPets(ctx, petstore.PetQuery{Status: petstore.Available, Before: 100 + rand.Int64N(99_900), Limit: 20})
			return err
		}},
		{"get", func(ctx context.Context) error {
			_, err := db.GetPet(ctx, 1+rand.Int64N(100_000))
			return err
		}},
		{"create", func(ctx context.Context) error {
			_, _, err := db.CreatePet(ctx, rex, nil)
			return err
		}},
		{"create once", func(ctx context.Context) error {
			_, _, err := db.CreatePet(ctx, rex, &petstore.Idempotency{Owner: "ann", Key: fmt.Sprint(rand.Uint64())})
			return err
		}},
	} {
		b.Run(call.name, func(b *testing.B) {
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := call.call(b.Context()); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}
