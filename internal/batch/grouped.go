package batch

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Grouped answers concurrent requests for the same key with one call. Requests that arrive while a call for their key
// runs share the next call. So for each key at most one call runs and at most one waits.
type Grouped[K comparable, V any] struct {
	call func(key K, n int) (V, error)

	mu      sync.Mutex
	flights map[K]*flight[V]
	joined  atomic.Int64
}

type flight[V any] struct {
	next *group[V] // the requests that came while the call runs; nil if there are none
}

type group[V any] struct {
	members int
	value   V
	err     error
	done    chan struct{}
}

// NewGrouped makes a Grouped. The function call learns how many requests it answers. It belongs to none of them, so it
// sets its own deadline. All of them get the same value, so none may change it.
func NewGrouped[K comparable, V any](call func(key K, n int) (V, error)) *Grouped[K, V] {
	return &Grouped[K, V]{call: call, flights: make(map[K]*flight[V])}
}

// Do returns the answer of a call for key that started after Do was called, and the caller's place among the requests
// that share the call, counted from 0. If ctx ends first, the call still happens.
func (g *Grouped[K, V]) Do(ctx context.Context, key K) (value V, place int, err error) {
	return g.Begin(key)(ctx)
}

// Begin is like Do, but does not wait. It returns the function that waits. That function returns an answer that has
// already come even if ctx has ended.
func (g *Grouped[K, V]) Begin(key K) (wait func(ctx context.Context) (value V, place int, err error)) {
	mine, place := g.join(key)
	return func(ctx context.Context) (value V, _ int, err error) {
		select {
		case <-mine.done:
		case <-ctx.Done():
			select {
			case <-mine.done:
			default:
				return value, place, ctx.Err()
			}
		}
		return mine.value, place, mine.err
	}
}

func (g *Grouped[K, V]) join(key K) (mine *group[V], place int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, running := g.flights[key]
	if !running {
		f, mine = &flight[V]{}, newGroup[V]()
		g.flights[key] = f
		go g.run(key, f, mine)
		return mine, 0
	}
	if f.next == nil {
		f.next = newGroup[V]()
		return f.next, 0
	}
	g.joined.Add(1)
	f.next.members++
	return f.next, f.next.members - 1
}

func newGroup[V any]() *group[V] { return &group[V]{members: 1, done: make(chan struct{})} }

// Joined is how many requests so far needed no call of their own.
func (g *Grouped[K, V]) Joined() int64 { return g.joined.Load() }

func (g *Grouped[K, V]) run(key K, f *flight[V], now *group[V]) {
	for now != nil {
		now.value, now.err = guard(func() (V, error) { return g.call(key, now.members) })
		close(now.done)
		runtime.Gosched() // let others that are about to ask join the next group

		g.mu.Lock()
		now, f.next = f.next, nil
		if now == nil {
			delete(g.flights, key)
		}
		g.mu.Unlock()
	}
}
