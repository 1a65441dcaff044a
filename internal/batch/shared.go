package batch

import (
	"context"
	"sync"
	"sync/atomic"
)

// Shared lets concurrent reads of the same thing share one query, never a stale one: a read joins only a query that
// starts after the read arrived. So for each key one query runs and at most one waits.
type Shared[K comparable, V any] struct {
	query func(K) (V, error)

	mu      sync.Mutex
	flights map[K]*flight[V]
	joined  atomic.Int64
}

type flight[V any] struct {
	next *answer[V] // who came while the query runs; nil if nobody did
}

type answer[V any] struct {
	value V
	err   error
	done  chan struct{}
}

// NewShared makes a Shared. The function query belongs to no caller, so it sets its own deadline; what it returns is
// given to several readers and must not be changed by them.
func NewShared[K comparable, V any](query func(K) (V, error)) *Shared[K, V] {
	return &Shared[K, V]{query: query, flights: make(map[K]*flight[V])}
}

// Do returns the answer of a query for key that started after Do was called.
func (s *Shared[K, V]) Do(ctx context.Context, key K) (V, error) {
	s.mu.Lock()
	f, running := s.flights[key]
	var a *answer[V]
	switch {
	case !running:
		f = &flight[V]{}
		s.flights[key] = f
		a = &answer[V]{done: make(chan struct{})}
		go s.run(key, f, a)
	case f.next == nil:
		f.next = &answer[V]{done: make(chan struct{})}
		a = f.next
	default:
		a = f.next
		s.joined.Add(1)
	}
	s.mu.Unlock()

	select {
	case <-a.done:
		return a.value, a.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// Joined is how many reads so far needed no query of their own.
func (s *Shared[K, V]) Joined() int64 { return s.joined.Load() }

func (s *Shared[K, V]) run(key K, f *flight[V], a *answer[V]) {
	for a != nil {
		a.value, a.err = guard(func() (V, error) { return s.query(key) })
		close(a.done)

		s.mu.Lock()
		a, f.next = f.next, nil
		if a == nil {
			delete(s.flights, key)
		}
		s.mu.Unlock()
	}
}
