// Package batch merges operations that arrive at the same time into fewer operations. It never waits for more operations to
// arrive.
//
//   - [Writer] makes one call for operations that differ, such as creating several animals or reading several animals by
//     id. Each caller gets its own answer.
//   - [Shared] makes one query for equal reads. All callers get the same answer.
//   - [Grouped] is like Shared, and also tells each caller its place among those that share a call, as rate limits need.
//     Its Begin lets a caller do other work while the call runs.
package batch

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"petstore/internal/petstore"
)

// ErrClosed is the error of every write after Close.
var ErrClosed = errors.New("batch: closed")

// Writer merges concurrent writes: all writes that arrive while one commit runs go into the next commit together. If the
// function commit is a query, Writer merges reads in the same way.
type Writer[In, Out any] struct {
	commit    func([]In) ([]Out, error)
	maxWrites int

	mu      sync.Mutex
	waiting []*call[In, Out]
	running bool
	crowded bool // whether the last commit had several writes; used only by the goroutine that commits
	closed  bool
	idle    sync.Cond
}

type call[In, Out any] struct {
	in   In
	out  Out
	err  error
	done chan struct{}
}

// NewWriter makes a Writer that puts at most maxWrites writes into a commit. The function commit gets the writes in the
// order in which they arrived. It returns an answer for each write, or an error for all. It must set its own deadline,
// because it serves several callers. Only one commit runs at a time.
func NewWriter[In, Out any](maxWrites int, commit func([]In) ([]Out, error)) *Writer[In, Out] {
	w := &Writer[In, Out]{commit: commit, maxWrites: maxWrites}
	w.idle.L = &w.mu
	return w
}

// Do returns when the commit that contains in has finished. A caller that finds no commit running runs the commit itself,
// without waiting for another goroutine. It then waits for the end of the commit, even if ctx ends. If ctx ends while
// another goroutine commits, the write is still committed and only its answer is lost.
func (w *Writer[In, Out]) Do(ctx context.Context, in In) (Out, error) {
	c := &call[In, Out]{in: in, done: make(chan struct{})}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return c.out, ErrClosed
	}
	w.waiting = append(w.waiting, c)
	first := !w.running
	w.running = true
	w.mu.Unlock()

	if first && w.next() {
		go w.run()
	}
	if err := await(ctx, c.done); err != nil {
		var none Out
		return none, err
	}
	return c.out, c.err
}

// Close waits until all accepted writes are committed. The Writer refuses later writes.
func (w *Writer[In, Out]) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for w.running {
		w.idle.Wait()
	}
}

func (w *Writer[In, Out]) run() {
	for w.next() {
	}
}

// next commits the waiting writes. It reports whether more writes arrived in the meantime.
func (w *Writer[In, Out]) next() (more bool) {
	if w.crowded {
		runtime.Gosched() // lets other goroutines that are about to write join this commit
	}
	batch := w.takeBatch()
	w.crowded = len(batch) > 1
	ins := make([]In, len(batch))
	for i, c := range batch {
		ins[i] = c.in
	}
	outs, err := catchPanic(func() ([]Out, error) { return w.commit(ins) })
	if err == nil && len(outs) != len(ins) {
		err = fmt.Errorf("batch: %d answers to %d writes", len(outs), len(ins))
	}
	for i, c := range batch {
		if err != nil {
			c.err = err
		} else {
			c.out = outs[i]
		}
		close(c.done)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) == 0 {
		w.running = false
		w.idle.Broadcast()
	}
	return w.running
}

func (w *Writer[In, Out]) takeBatch() []*call[In, Out] {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.waiting), w.maxWrites)
	batch := w.waiting[:n:n]
	w.waiting = w.waiting[n:]
	return batch
}

// await waits until done is closed or ctx ends. If both have happened, it succeeds.
func await(ctx context.Context, done <-chan struct{}) error {
	if finished(done) { // a caller that made the call itself needs no select, which is expensive
		return nil
	}
	select {
	case <-done:
	case <-ctx.Done():
		if !finished(done) {
			return ctx.Err()
		}
	}
	return nil
}

func finished(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// catchPanic turns a panic in f into an error, so that every waiting caller gets an answer.
func catchPanic[V any](f func() (V, error)) (v V, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = petstore.Panicked(p)
		}
	}()
	return f()
}
