package batch

import "context"

// Shared lets concurrent reads of the same key share one query. No answer is stale: a read joins only a query that
// starts after the read arrived.
type Shared[K comparable, V any] struct{ queries *Grouped[K, V] }

// NewShared makes a Shared. The function query belongs to no caller, so it sets its own deadline. Several readers get
// the same value, so none may change it.
func NewShared[K comparable, V any](query func(K) (V, error)) *Shared[K, V] {
	return &Shared[K, V]{NewGrouped(func(key K, _ int) (V, error) { return query(key) })}
}

// Do returns the answer of a query for key that started after Do was called. A reader that finds no query running makes
// one itself and waits for its end whatever ctx does. Others stop waiting when ctx ends.
func (s *Shared[K, V]) Do(ctx context.Context, key K) (V, error) {
	value, _, err := s.queries.Do(ctx, key)
	return value, err
}

// Joined is how many reads so far needed no query of their own.
func (s *Shared[K, V]) Joined() int64 { return s.queries.Joined() }
