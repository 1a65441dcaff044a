package usage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"petstore/internal/petstore"
)

var noon = time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)

// storage adds usage up in memory, as a Storage must: a repeat adds nothing.
type storage struct {
	sums  map[petstore.OwnerUsage]petstore.Usage // by owner and hour
	done  map[string]bool                        // the idempotency keys
	calls int
	// fail, if not nil, decides whether the next call fails, and whether the storage adds the usage all the same.
	fail func() (adds bool, err error)
}

func newStorage() *storage {
	return &storage{sums: make(map[petstore.OwnerUsage]petstore.Usage), done: make(map[string]bool)}
}

func (s *storage) AddUsage(_ context.Context, added []petstore.OwnerUsage, idempotency *petstore.Idempotency) (bool, error) {
	s.calls++
	adds, err := true, error(nil)
	if s.fail != nil {
		adds, err = s.fail()
	}
	if !adds || s.done[idempotency.Key] {
		return err == nil, err
	}
	s.done[idempotency.Key] = true
	for _, u := range added {
		key := petstore.OwnerUsage{Owner: u.Owner, Usage: petstore.Usage{Hour: u.Hour}}
		sum := s.sums[key]
		sum.Passed, sum.Refused = sum.Passed+u.Passed, sum.Refused+u.Refused
		s.sums[key] = sum
	}
	return false, err
}

func (s *storage) want(t *testing.T, want ...petstore.OwnerUsage) {
	t.Helper()
	sums := make(map[petstore.OwnerUsage]petstore.Usage)
	for _, u := range want {
		key := petstore.OwnerUsage{Owner: u.Owner, Usage: petstore.Usage{Hour: u.Hour}}
		sums[key] = petstore.Usage{Passed: u.Passed, Refused: u.Refused}
	}
	if !maps.Equal(s.sums, sums) {
		t.Errorf("got %v\nwant %v", s.sums, sums)
	}
}

func used(owner string, hour time.Time, passed, refused int64) petstore.OwnerUsage {
	return petstore.OwnerUsage{Owner: owner, Usage: petstore.Usage{Hour: hour, Passed: passed, Refused: refused}}
}

func flush(t *testing.T, c *Counter) {
	t.Helper()
	if err := c.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestRequestsAreCountedByOwnerHourAndOutcome(t *testing.T) {
	s := newStorage()
	c := New(s)
	flush(t, c)
	if s.calls != 0 {
		t.Error("a flush without counts called the storage")
	}
	c.Count("ann", noon, false)
	c.Count("ann", noon.Add(59*time.Minute), true)
	c.Count("ann", noon.Add(time.Hour), false)
	c.Count("bob", noon.Add(-time.Nanosecond).In(time.FixedZone("", 1800)), false)
	flush(t, c)
	c.Count("ann", noon, false)
	flush(t, c)
	flush(t, c)
	s.want(t, used("ann", noon, 2, 1), used("ann", noon.Add(time.Hour), 1, 0), used("bob", noon.Add(-time.Hour), 1, 0))
	if s.calls != 2 {
		t.Errorf("the storage was called %d times, want 2", s.calls)
	}
}

func TestAFailedFlushLosesNothingAndAddsNothingTwice(t *testing.T) {
	for name, adds := range map[string]bool{"the storage did nothing": false, "the storage did it": true} {
		t.Run(name, func(t *testing.T) {
			s := newStorage()
			c := New(s)
			s.fail = func() (bool, error) { return adds, petstore.MaybeDone(errors.New("cut off")) }
			for range 3 {
				c.Count("ann", noon, false)
				if err := c.Flush(t.Context()); !petstore.IsCode(err, petstore.OutcomeUnknown) {
					t.Fatalf("got %v", err)
				}
			}
			s.fail = nil
			flush(t, c)
			s.want(t, used("ann", noon, 3, 0))
		})
	}
}

func TestConcurrentCountsAreExact(t *testing.T) {
	s := newStorage()
	c := New(s)
	const goroutines, requests, owners = 8, 5000, 10
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for i := range requests {
				c.Count(fmt.Sprint(i%owners), noon, i%3 == 0)
				if i%1000 == 0 {
					c.Flush(context.Background())
				}
			}
		})
	}
	all.Wait()
	flush(t, c)
	var want []petstore.OwnerUsage
	for owner := range owners {
		refused := int64(0)
		for i := owner; i < requests; i += owners {
			if i%3 == 0 {
				refused++
			}
		}
		want = append(want, used(fmt.Sprint(owner), noon, goroutines*(requests/owners-refused), goroutines*refused))
	}
	s.want(t, want...)
}

func TestAFlushForgetsTheOwners(t *testing.T) {
	c := New(newStorage())
	for i := range 1000 {
		c.Count(fmt.Sprint(i), noon, false)
	}
	flush(t, c)
	for i := range c.shards {
		if n := len(c.shards[i].counts); n > 0 {
			t.Errorf("a shard still has %d counts", n)
		}
	}
	if c.batch != nil {
		t.Errorf("the batch still has %d counts", len(c.batch))
	}
}

func BenchmarkCount(b *testing.B) {
	for _, owners := range []int{1, 10_000} {
		b.Run(fmt.Sprint(owners, " owners"), func(b *testing.B) {
			c := New(newStorage())
			names := make([]string, owners)
			for i := range names {
				names[i] = fmt.Sprintf("key_%09d", i)
			}
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					c.Count(names[i%owners], noon, false)
				}
			})
		})
	}
}
