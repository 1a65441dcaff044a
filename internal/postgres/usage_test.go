package postgres

import (
	"fmt"
	"testing"
	"time"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// BenchmarkAddUsage adds the usage of 10,000 owners to a table that already has a month of theirs.
func BenchmarkAddUsage(b *testing.B) {
	db := open(b, testservice.Postgres(b))
	added := make([]petstore.OwnerUsage, 10_000)
	add := func(hour time.Time) {
		for i := range added {
			added[i] = petstore.OwnerUsage{Owner: fmt.Sprintf("key_%09d", i*7919%10_000), Usage: petstore.Usage{Hour: hour, Passed: 5, Refused: 1}}
		}
		_, err := db.AddUsage(b.Context(), added, &petstore.Idempotency{Owner: "usage", Key: fmt.Sprint(time.Now().UnixNano())})
		noError(b, err)
	}
	now := time.Now().Truncate(time.Hour)
	for hour := range 744 {
		add(now.Add(time.Duration(hour-744) * time.Hour))
	}
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			add(now)
		}
	})
	b.Run("read a month", func(b *testing.B) {
		for b.Loop() {
			usage, err := db.Usage(b.Context(), "key_000004711", time.Time{})
			noError(b, err)
			if len(usage) < 743 {
				b.Fatalf("%d hours", len(usage))
			}
		}
	})
}
