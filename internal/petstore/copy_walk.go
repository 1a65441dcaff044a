package petstore

import (
	"cmp"
	"context"
)

// Tally counts what a copy did to one kind of record in the target.
type Tally struct {
	Kind                    string
	Added, Changed, Removed int64
	// Kept counts the records that exist only in the target and stay there. Only keys do.
	Kept int64
}

// kind describes how to copy one kind of record. A copy reads both storages in the same order.
type kind[T comparable] struct {
	name string
	// step is the number of records to read or store at a time; zero means copyStep.
	step int
	// stored returns at most limit records after the given one, or the first records if after is zero.
	stored func(s Source, ctx context.Context, after T, limit int) ([]T, error)
	order  func(a, b T) int
	// merge combines the two versions of a record that both storages have. If merge is nil, the source's version wins.
	merge func(source, target T) T
	// keepExtra means that the target keeps records that the source does not have.
	keepExtra bool
	replace   func(to Target, ctx context.Context, put, remove []T) error
}

// copyStep is the number of records to read or store at a time, unless they are large.
const copyStep = 1000

// copyRecords makes the target's records equal to the source's. After every step it reports how many of the
// source's records it has compared.
func (k kind[T]) copyRecords(ctx context.Context, from Source, to Target, report func(n int64)) (Tally, error) {
	k.step = cmp.Or(k.step, copyStep)
	w := walk[T]{kind: k, source: side[T]{storage: from}, target: side[T]{storage: to}, tally: Tally{Kind: k.name}}
	for reported := int64(0); ; {
		if err := cmp.Or(w.source.fill(ctx, k), w.target.fill(ctx, k)); err != nil {
			return w.tally, err
		}
		ended := w.source.ended && w.target.ended
		if changes := len(w.put) + len(w.remove); changes >= k.step || ended && changes > 0 {
			if err := k.replace(to, ctx, w.put, w.remove); err != nil {
				return w.tally, err
			}
			w.put, w.remove = w.put[:0], w.remove[:0]
		}
		if n := w.source.compared; n >= reported+int64(k.step) || ended {
			reported = n
			report(n)
		}
		if ended {
			return w.tally, nil
		}
		w.step()
	}
}

// walk holds the progress of a copy, and the changes that the target has not stored yet.
type walk[T comparable] struct {
	kind[T]
	source, target side[T]
	put, remove    []T
	tally          Tally
}

// step compares the next records of the source and the target, and takes the record that comes first. If both are the same
// record, step takes both.
func (w *walk[T]) step() {
	switch place := w.compare(); {
	case place < 0:
		w.put = append(w.put, w.source.pop())
		w.tally.Added++
	case place > 0 && w.keepExtra:
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

// compare returns a negative number if the source's next record comes before the target's, zero if they are the same
// record, and a positive number otherwise.
func (w *walk[T]) compare() int {
	switch {
	case w.target.ended:
		return -1
	case w.source.ended:
		return 1
	}
	return w.order(w.source.page[0], w.target.page[0])
}

// side is one of the two storages of a walk, with the records that the walk has read but not compared yet.
type side[T comparable] struct {
	storage  Source
	page     []T
	last     T
	ended    bool
	compared int64
}

// fill reads the next page once every record of the current page has been compared.
func (s *side[T]) fill(ctx context.Context, k kind[T]) (err error) {
	if len(s.page) > 0 || s.ended {
		return nil
	}
	if s.page, err = k.stored(s.storage, ctx, s.last, k.step); err != nil {
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
	s.compared++
	return record
}
