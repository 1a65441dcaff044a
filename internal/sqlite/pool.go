package sqlite

import (
	"context"
	"errors"

	"petstore/internal/petstore"
)

var errClosed = errors.New("the database is closed")

// pool lends each member to one goroutine at a time. Waiting goroutines are served in the order of their arrival.
type pool[T any] chan T

func newPool[T any](members ...T) pool[T] {
	p := make(pool[T], len(members))
	for _, m := range members {
		p <- m
	}
	return p
}

func (p pool[T]) take(ctx context.Context) (member T, err error) {
	if ctx.Err() != nil {
		return member, petstore.NotDone(ctx.Err())
	}
	var open bool
	select {
	case member, open = <-p: // usually a member is idle, and a select with only one channel is cheaper
	default:
		select {
		case member, open = <-p:
		case <-ctx.Done():
			return member, petstore.NotDone(ctx.Err())
		}
	}
	if !open {
		return member, petstore.NotDone(errClosed)
	}
	return member, nil
}

func (p pool[T]) give(member T) { p <- member }

// pause waits until all members are idle, calls work, and then lends the members again.
func (p pool[T]) pause(work func(members []T)) {
	members := make([]T, 0, cap(p))
	for range cap(p) {
		m := <-p
		defer p.give(m)
		members = append(members, m)
	}
	work(members)
}

// drain waits until all members are idle. After that, take refuses every call.
func (p pool[T]) drain() {
	for range cap(p) {
		<-p
	}
	close(p)
}
