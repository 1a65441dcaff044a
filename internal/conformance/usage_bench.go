package conformance

import (
	"fmt"
	"testing"
	"time"

	"petstore/internal/petstore"
)

// BenchmarkUsage measures what the usage of 10,000 owners costs in an empty storage, to which it first adds a month of theirs.
func BenchmarkUsage(b *testing.B, storage petstore.Database) {
	const hours = 744
	noError := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	now, flushes := thisHour(), 0
	added := make([]petstore.OwnerUsage, 10_000)
	for i := range added {
		added[i] = usageOf(fmt.Sprintf("key_%09d", i*7919%len(added)), now, 5, 1)
	}
	add := func(hour time.Time) {
		for i := range added {
			added[i].Hour = hour
		}
		flushes++
		noError(errorOf(storage.AddUsage(b.Context(), added, &petstore.Idempotency{Owner: "usage", Key: fmt.Sprint(flushes)})))
	}
	purge := func() {
		_, err := storage.PurgeUsage(b.Context(), time.Time{})
		noError(err)
	}
	addMinute := func() {
		for range 8 {
			add(now)
		}
	}
	for hour := range hours {
		add(now.Add(time.Duration(hour-hours) * time.Hour))
		purge()
	}
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			add(now)
			b.StopTimer()
			if flushes%8 == 0 {
				purge()
			}
			b.StartTimer()
		}
	})
	b.Run("purge after a minute of additions", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			addMinute()
			b.StartTimer()
			purge()
		}
	})
	b.Run("read a month after a minute of additions", func(b *testing.B) {
		addMinute()
		for b.Loop() {
			usage, err := storage.Usage(b.Context(), "key_000004711", time.Time{})
			noError(err)
			if len(usage) < hours-1 {
				b.Fatalf("%d hours", len(usage))
			}
		}
	})
}
