package batch

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Grouped answers concurrent requests for the same key with one call. Requests that arrive while a call for their key runs
// share the next call. For each key, at most one call runs and at most one call waits.
type Grouped[K comparable, V any] struct {
	call func(key K, n int) (V, error)

	mu sync.Mutex
	// next has an entry for each key whose call is running. The entry is the group that will share the next call, or nil if
	// no request waits.
	next   map[K]*group[V]
	joined atomic.Int64
}

type group[V any] struct {
	joined int   // the number of requests that have joined, even if they left later
	left   []int // the places of the requests that left before the call began
	called bool  // whether the call has begun; after that, no request leaves or joins
	value  V
	err    error
	done   chan struct{}
}

// NewGrouped makes a Grouped. The function call gets the number n of requests that the call answers. It must set its own
// deadline, because it serves several callers. All callers get the same value, so no caller may change it.
func NewGrouped[K comparable, V any](call func(key K, n int) (V, error)) *Grouped[K, V] {
	return &Grouped[K, V]{call: call, next: make(map[K]*group[V])}
}

// Do returns the answer of a call for key that started after Do was called. It also returns the caller's place among the
// requests that share the call, counted from 0. If no call is running, the caller makes the call itself, without waiting for
// another goroutine, and stays until the call ends, even if ctx ends first. If another goroutine makes the call and ctx ends
// meanwhile, the call continues and only this answer is lost. If ctx ends before the call begins, the call does not count
// this request.
func (g *Grouped[K, V]) Do(ctx context.Context, key K) (value V, place int, err error) {
	mine, place, first := g.join(key)
	if first {
		if next := g.answer(key, mine); next != nil {
			go g.run(key, next)
		}
	}
	return Begun[V]{mine, place, &g.mu}.Wait(ctx)
}

// Begin is like Do, but does not wait. Another goroutine makes the call.
func (g *Grouped[K, V]) Begin(key K) Begun[V] {
	mine, place, first := g.join(key)
	if first {
		go g.run(key, mine)
	}
	return Begun[V]{mine, place, &g.mu}
}

// Begun is a request that [Grouped.Begin] started. The method Wait returns its answer.
type Begun[V any] struct {
	group *group[V]
	place int
	mu    *sync.Mutex // guards the group
}

// Wait returns what Do would return. If the answer has already come, Wait returns it even if ctx has ended.
func (b Begun[V]) Wait(ctx context.Context) (value V, place int, err error) {
	if err := await(ctx, b.group.done); err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		if !b.group.called {
			b.group.left = append(b.group.left, b.place)
		}
		return value, b.place, err
	}
	place = b.place
	for _, left := range b.group.left {
		if left < b.place {
			place--
		}
	}
	return b.group.value, place, b.group.err
}

// join returns the group to which a request for key belongs. If first is true, no call runs for key, and the caller must
// answer the group.
func (g *Grouped[K, V]) join(key K) (mine *group[V], place int, first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	mine, running := g.next[key]
	if mine != nil {
		g.joined.Add(1)
		mine.joined++
		return mine, mine.joined - 1, false
	}
	mine = &group[V]{joined: 1, done: make(chan struct{})}
	if running {
		g.next[key] = mine
	} else {
		g.next[key] = nil
	}
	return mine, 0, !running
}

// Joined returns how many requests so far needed no call of their own.
func (g *Grouped[K, V]) Joined() int64 { return g.joined.Load() }

func (g *Grouped[K, V]) run(key K, now *group[V]) {
	for now != nil {
		now = g.answer(key, now)
	}
}

// answer makes the call for the group now. It returns the group that formed in the meantime, or nil if there is none.
func (g *Grouped[K, V]) answer(key K, now *group[V]) (next *group[V]) {
	g.mu.Lock()
	now.called = true
	n := now.joined - len(now.left)
	g.mu.Unlock()
	now.value, now.err = catchPanic(func() (V, error) { return g.call(key, n) })
	close(now.done)
	if n > 1 {
		runtime.Gosched() // lets requests that are about to arrive join the next group
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if next = g.next[key]; next != nil {
		g.next[key] = nil
	} else {
		delete(g.next, key)
	}
	return next
}
