package sqlite

import (
	"context"
	"errors"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

var errClosed = errors.New("the database is closed")

// pool hands out what only one goroutine may use at a time, to those who wait in the order in which they came.
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
		return member, petstore.Unreachable(ctx.Err())
	}
	var open bool
	select {
	case member, open = <-p: // as a rule one is there, and to look for it alone is cheaper
	default:
		select {
		case member, open = <-p:
		case <-ctx.Done():
			return member, petstore.Unreachable(ctx.Err())
		}
	}
	if !open {
		return member, petstore.Unreachable(errClosed)
	}
	return member, nil
}

func (p pool[T]) give(member T) { p <- member }

// pause does work while no member is lent.
func (p pool[T]) pause(work func()) {
	for range cap(p) {
		defer p.give(<-p)
	}
	work()
}

// drain waits until every member is back and refuses all who come later.
func (p pool[T]) drain() {
	for range cap(p) {
		<-p
	}
	close(p)
}

// read lends a reading connection.
func (db *DB) read(ctx context.Context, work func(*sqlite3.Conn) error) error {
	r, err := db.readers.take(ctx)
	if err != nil {
		return err
	}
	defer db.readers.give(r)
	return unreachable(work(r.conn))
}

// write lends the writer, in a transaction.
func (db *DB) write(ctx context.Context, work func(*writer) error) error {
	w, err := db.writer.take(ctx)
	if err != nil {
		return err
	}
	defer db.writer.give(w)
	return unreachable(transaction(ctx, w.conn, func() error { return work(w) }))
}
