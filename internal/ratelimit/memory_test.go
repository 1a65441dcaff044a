package ratelimit

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"petstore/internal/limitertest"
	"petstore/internal/petstore"
)

var (
	morning = time.Date(2026, time.November, 15, 9, 30, 0, 0, time.UTC)
	owner   = petstore.Ask{Subject: "key_000000001", Limits: petstore.Limits{PerMinute: 60, PerDay: 1_000}}
	address = petstore.Ask{Subject: "192.0.2.1", Limits: petstore.AddressLimits}
)

func TestMemoryConforms(t *testing.T) {
	limitertest.Run(t, func(_ *testing.T, now func() time.Time) petstore.Limiter { return NewMemory(now) })
}

func TestMemoryBoundsTheCountersOfAddressesAndKeepsThoseOfOwners(t *testing.T) {
	now := morning
	m := NewMemory(func() time.Time { return now })
	before := heap()
	for range 60 {
		take(t, m, owner)
	}
	subject := []byte("2001:db8:0:")
	const addresses = 4 * maxAddresses
	for i := range addresses {
		if i == addresses/2 {
			now = now.Add(5 * time.Minute)
		}
		ask := petstore.Ask{Subject: string(strconv.AppendInt(subject, int64(i), 10)), Limits: petstore.AddressLimits}
		m.Take(context.Background(), ask)
	}
	used := heap() - before
	t.Logf("%d counters take %d bytes", m.len(), used)
	if n := m.len(); n > maxAddresses+1 {
		t.Errorf("%d counters are kept, more than %d", n, maxAddresses+1)
	}
	if used > 16<<20 {
		t.Errorf("they take %d bytes, more than the 16 MiB that docs/counting.md states", used)
	}
	if m.shard(owner.Subject).owners[owner.Subject].today != 60 {
		t.Error("the owner's counter was thrown out")
	}
}

func TestMemoryForgetsIdleCounters(t *testing.T) {
	now := morning
	m := NewMemory(func() time.Time { return now })
	for i := range 1_000 {
		take(t, m, petstore.Ask{Subject: fmt.Sprintf("owner %d", i), Limits: owner.Limits})
		take(t, m, petstore.Ask{Subject: fmt.Sprintf("address %d", i), Limits: petstore.AddressLimits})
	}
	counts := func(after time.Duration, want int) {
		t.Helper()
		now = now.Add(after)
		for i := range m.shards {
			m.shards[i].sweep(now.UnixMilli() / millisPerMinute)
		}
		if n := m.len(); n != want {
			t.Errorf("%d counters are kept at %v, want %d", n, now, want)
		}
	}
	counts(time.Minute, 2_000)
	counts(time.Minute, 1_000)
	counts(14*time.Hour, 1_000)
	counts(time.Hour, 0)
}

func TestMemoryKeepsTheLastMinuteInCaseTheClockStepsBack(t *testing.T) {
	now := morning
	m := NewMemory(func() time.Time { return now })
	for range 1_000 {
		take(t, m, address)
	}
	now = now.Add(time.Minute)
	for i := range 10_000 {
		take(t, m, petstore.Ask{Subject: fmt.Sprintf("address %d", i), Limits: petstore.AddressLimits})
	}
	now = morning
	if d := take(t, m, address); d.Outcome != petstore.Limited {
		t.Errorf("after the clock stepped back, a used-up minute was granted again: %+v", d)
	}
}

func TestMemoryForgetsFutureDatedCounters(t *testing.T) {
	now := morning.AddDate(1, 0, 0)
	m := NewMemory(func() time.Time { return now })
	at := func(moment time.Time, want int) {
		t.Helper()
		now = moment
		for i := range m.shards {
			m.shards[i].sweep(now.UnixMilli() / millisPerMinute)
		}
		if n := m.len(); n != want {
			t.Errorf("%d counters are kept at %v, want %d", n, now, want)
		}
	}
	take(t, m, owner)
	take(t, m, address)
	at(morning, 1)
	at(morning.Add(24*time.Hour), 0)
}

func TestRetryAfterNeverExceedsTheCurrentWindows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		walk := newWalk(rt, 24*time.Hour)
		m := NewMemory(func() time.Time { return walk.now })
		for range 200 {
			ask := walk.next(rt)
			longest := 2 * time.Minute // the longest wait if the clock stepped back by up to a minute
			if ask.Limits.PerDay > 0 {
				longest = 24*time.Hour + time.Minute
			}
			if d := take(t, m, ask); d.Outcome != petstore.Banned && d.RetryAfter > longest {
				rt.Fatalf("%+v at %v gets %+v", ask, walk.now, d)
			}
		}
	})
}

func TestMemoryKeepsNoCounterForAPeek(t *testing.T) {
	m := NewMemory(time.Now)
	peek := address
	peek.Peek = true
	take(t, m, peek)
	if m.len() != 0 {
		t.Error("a peek left a counter behind")
	}
}

func TestMemoryDecidesWithoutAllocation(t *testing.T) {
	m := NewMemory(time.Now)
	take(t, m, owner)
	if n := testing.AllocsPerRun(1_000, func() { m.Take(t.Context(), owner) }); n != 0 {
		t.Errorf("%v allocations a decision, want none", n)
	}
}

func BenchmarkMemory(b *testing.B) {
	asks := make([]petstore.Ask, 1_024)
	for i := range asks {
		asks[i] = petstore.Ask{Subject: fmt.Sprintf("key_%09d", i), Limits: petstore.FirstKeyLimits}
	}
	b.Run("one subject", func(b *testing.B) {
		m, ctx := NewMemory(time.Now), b.Context()
		b.ReportAllocs()
		for b.Loop() {
			m.Take(ctx, asks[0])
		}
	})
	b.Run("one subject, without the clock", func(b *testing.B) {
		now := time.Now()
		m, ctx := NewMemory(func() time.Time { return now }), b.Context()
		b.ReportAllocs()
		for b.Loop() {
			m.Take(ctx, asks[0])
		}
	})
	b.Run("many subjects in parallel", func(b *testing.B) {
		m := NewMemory(time.Now)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				m.Take(context.Background(), asks[i%len(asks)])
			}
		})
	})
}

func take(t testing.TB, limiter petstore.Limiter, ask petstore.Ask) petstore.Decision {
	t.Helper()
	d, err := limiter.Take(t.Context(), ask)
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
	return d
}

func giveBack(t testing.TB, limiter petstore.Limiter, ask petstore.Ask, taken petstore.Decision) {
	t.Helper()
	if err := limiter.GiveBack(t.Context(), ask, taken); err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func (m *Memory) len() (n int) {
	for i := range m.shards {
		n += len(m.shards[i].owners) + len(m.shards[i].addresses)
	}
	return n
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
