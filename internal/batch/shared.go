package batch

import "context"

// Shared lets concurrent reads of the same key share one query. No answer is stale: a read shares a query only if the query
// starts after the read arrived.
type Shared[K comparable, V any] struct{ queries *Grouped[K, V] }

// NewShared makes a Shared. The function query must set its own deadline, because it serves several callers. All callers get
// the same value, so no caller may change it.
func NewShared[K comparable, V any](query func(K) (V, error)) *Shared[K, V] {
	return &Shared[K, V]{NewGrouped(func(key K, _ int) (V, error) { return query(key) })}
}

// Do returns the answer of a query for key that started after Do was called. A caller that finds no query running runs the
// query itself, and waits for the end of the query even if ctx ends. Other callers stop waiting when ctx ends.
func (s *Shared[K, V]) Do(ctx context.Context, key K) (V, error) {
	value, _, err := s.queries.Do(ctx, key)
	return value, err
}

// Joined returns how many reads so far needed no query of their own.
func (s *Shared[K, V]) Joined() int64 { return s.queries.Joined() }
