package petstore

import (
	"cmp"
	"context"
)

// Tally counts what a copy did to one kind of record in the target.
type Tally struct {
	Kind                    string
	Added, Changed, Removed int64
	// Kept counts the records that only the target has, for a kind whose records are not removed.
	Kept int64
}

// kind describes how one kind of record is copied: a walk passes through both storages in the same order.
type kind[T comparable] struct {
	name string
	// stored returns at most limit records after the given one. It returns the first ones if after is zero.
	stored func(s Source, ctx context.Context, after T, limit int) ([]T, error)
	order  func(a, b T) int
	// merge makes one record of two that have the same place in the order. If it is nil, the source's record wins.
	merge func(source, target T) T
	// keeps says that the target keeps the records that the source does not have.
	keeps   bool
	replace func(to Target, ctx context.Context, put, remove []T) error
}

// copyStep is how many records are read or stored at a time.
const copyStep = 1000

// copy makes the target's records equal to the source's. After every step it reports how many of the source's records
// it has passed.
func (k kind[T]) copy(ctx context.Context, from Source, to Target, passed func(n int64)) (Tally, error) {
	w := walk[T]{kind: k, source: side[T]{storage: from}, target: side[T]{storage: to}, tally: Tally{Kind: k.name}}
	for told := int64(0); ; {
		if err := cmp.Or(w.source.fill(ctx, k), w.target.fill(ctx, k)); err != nil {
			return w.tally, err
		}
		ended := w.source.ended && w.target.ended
		if changes := len(w.put) + len(w.remove); changes >= copyStep || ended && changes > 0 {
			if err := k.replace(to, ctx, w.put, w.remove); err != nil {
				return w.tally, err
			}
			w.put, w.remove = w.put[:0], w.remove[:0]
		}
		if n := w.source.passed; n >= told+copyStep || ended {
			told = n
			passed(n)
		}
		if ended {
			return w.tally, nil
		}
		w.step()
	}
}

// walk holds how far a copy has come, and what it is about to change.
type walk[T comparable] struct {
	kind[T]
	source, target side[T]
	put, remove    []T
	tally          Tally
}

// step passes the record that comes next, on both sides if both have it.
func (w *walk[T]) step() {
	switch place := w.compare(); {
	case place < 0:
		w.put = append(w.put, w.source.pop())
		w.tally.Added++
	case place > 0 && w.keeps:
		w.target.pop()
		w.tally.Kept++
	case place > 0:
		w.remove = append(w.remove, w.target.pop())
		w.tally.Removed++
	default:
		record, there := w.source.pop(), w.target.pop()
		if w.merge != nil {
			record = w.merge(record, there)
		}
		if record != there {
			w.put = append(w.put, record)
			w.tally.Changed++
		}
	}
}

// compare says whether the source's next record comes before the target's, comes after it, or has the same place.
func (w *walk[T]) compare() int {
	switch {
	case w.target.ended:
		return -1
	case w.source.ended:
		return 1
	}
	return w.order(w.source.page[0], w.target.page[0])
}

// side is one of the two storages of a walk, with the records that were read but not passed yet.
type side[T comparable] struct {
	storage Source
	page    []T
	last    T
	ended   bool
	passed  int64
}

// fill reads the next records once all those read before are passed.
func (s *side[T]) fill(ctx context.Context, k kind[T]) (err error) {
	if len(s.page) > 0 || s.ended {
		return nil
	}
	if s.page, err = k.stored(s.storage, ctx, s.last, copyStep); err != nil {
		return err
	}
	if s.ended = len(s.page) == 0; !s.ended {
		s.last = s.page[len(s.page)-1]
	}
	return nil
}

func (s *side[T]) pop() T {
	record := s.page[0]
	s.page = s.page[1:]
	s.passed++
	return record
}
