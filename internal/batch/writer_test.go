package batch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// desk is a commit function that notes the writes it gets. Its commits wait until the test lets them go.
type desk struct {
	commits [][]int
	gate    chan func([]int) ([]int, error)
}

func newDesk() *desk { return &desk{gate: make(chan func([]int) ([]int, error))} }

func (d *desk) commit(ins []int) ([]int, error) {
	d.commits = append(d.commits, slices.Clone(ins))
	return (<-d.gate)(ins)
}

// let lets one commit go and waits until everything that follows from it has happened.
func (d *desk) let(outcome func([]int) ([]int, error)) {
	d.gate <- outcome
	synctest.Wait()
}

func tenfold(ins []int) ([]int, error) {
	outs := make([]int, len(ins))
	for i, in := range ins {
		outs[i] = 10 * in
	}
	return outs, nil
}

// result is how one Do ended.
type result struct {
	done bool
	out  int
	err  error
}

// do starts one Do after the other, so that their order is known.
func do(ctx context.Context, w *Writer[int, int], ins ...int) []*result {
	results := make([]*result, len(ins))
	for i, in := range ins {
		r := new(result)
		results[i] = r
		go func() {
			r.out, r.err = w.Do(ctx, in)
			r.done = true
		}()
		synctest.Wait()
	}
	return results
}

func wantResults(t *testing.T, results []*result, want ...result) {
	t.Helper()
	for i, r := range results {
		if *r != want[i] {
			t.Errorf("result %d is %+v, want %+v", i, *r, want[i])
		}
	}
}

func wantCommits(t *testing.T, d *desk, want ...[]int) {
	t.Helper()
	if !slices.EqualFunc(d.commits, want, slices.Equal) {
		t.Errorf("commits of %v, want %v", d.commits, want)
	}
}

func TestWriterCommitsALoneWriteAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		w := NewWriter(10, d.commit)
		results := do(t.Context(), w, 1)
		wantCommits(t, d, []int{1})
		wantResults(t, results, result{})
		d.let(tenfold)
		wantResults(t, results, result{true, 10, nil})
	})
}

func TestWriterGathersWhatComesDuringACommitInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		w := NewWriter(10, d.commit)
		results := do(t.Context(), w, 1, 2, 3, 4)
		d.let(tenfold)
		wantCommits(t, d, []int{1}, []int{2, 3, 4})
		wantResults(t, results, result{true, 10, nil}, result{}, result{}, result{})

		later := do(t.Context(), w, 5)
		d.let(tenfold)
		wantResults(t, results, result{true, 10, nil}, result{true, 20, nil}, result{true, 30, nil}, result{true, 40, nil})
		d.let(tenfold)
		wantCommits(t, d, []int{1}, []int{2, 3, 4}, []int{5})
		wantResults(t, later, result{true, 50, nil})
	})
}

func TestWriterKeepsToItsMaximum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		w := NewWriter(2, d.commit)
		do(t.Context(), w, 1, 2, 3, 4, 5, 6)
		for range 4 {
			d.let(tenfold)
		}
		wantCommits(t, d, []int{1}, []int{2, 3}, []int{4, 5}, []int{6})
	})
}

func TestWriterGivesAnErrorToAllOfItsCommitAndNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		d := newDesk()
		w := NewWriter(10, d.commit)
		results := do(t.Context(), w, 1, 2, 3)
		d.let(tenfold)
		d.let(func(ins []int) ([]int, error) { return ins, full })
		wantResults(t, results, result{true, 10, nil}, result{true, 0, full}, result{true, 0, full})

		later := do(t.Context(), w, 4)
		d.let(tenfold)
		wantResults(t, later, result{true, 40, nil})
		wantCommits(t, d, []int{1}, []int{2, 3}, []int{4})
	})
}

func TestWriterAnswersAllAfterAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		w := NewWriter(10, d.commit)
		results := do(t.Context(), w, 1, 2, 3)
		d.let(tenfold)
		d.let(func([]int) ([]int, error) { panic("the ceiling fell") })
		for _, r := range results[1:] {
			if !r.done || r.err == nil || !strings.Contains(r.err.Error(), "panic: string") {
				t.Errorf("got %+v, want the panic as an error", *r)
			}
		}
		later := do(t.Context(), w, 4)
		d.let(tenfold)
		wantResults(t, later, result{true, 40, nil})
	})
}

func TestWriterRefusesAWrongNumberOfAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		w := NewWriter(10, d.commit)
		results := do(t.Context(), w, 1)
		d.let(func([]int) ([]int, error) { return []int{1, 2}, nil })
		if !results[0].done || results[0].err == nil {
			t.Errorf("got %+v, want an error", *results[0])
		}
	})
}

func TestWriterWritesEvenIfTheCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		w := NewWriter(10, d.commit)
		do(t.Context(), w, 1)
		ctx, leave := context.WithCancel(t.Context())
		results := do(ctx, w, 2)
		leave()
		synctest.Wait()
		wantResults(t, results, result{true, 0, context.Canceled})
		d.let(tenfold)
		d.let(tenfold)
		wantCommits(t, d, []int{1}, []int{2})
	})
}

func TestAKnownOutcomeIsToldThoughTheWaitIsOver(t *testing.T) {
	w := NewWriter(10, tenfold)
	over, end := context.WithCancel(t.Context())
	end()
	for i := range 100 {
		if out, err := w.Do(over, i); out != 10*i || err != nil {
			t.Fatalf("got %d, %v", out, err)
		}
	}
}

func TestWriterCloseFinishesWhatWasAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		w := NewWriter(1, d.commit)
		results := do(t.Context(), w, 1, 2)
		closed := false
		go func() { w.Close(); closed = true }()
		synctest.Wait()

		refused := do(t.Context(), w, 3)
		wantResults(t, refused, result{true, 0, ErrClosed})
		d.let(tenfold)
		if closed {
			t.Error("it was closed before all was committed")
		}
		d.let(tenfold)
		if !closed {
			t.Error("it is not closed although all is committed")
		}
		wantResults(t, results, result{true, 10, nil}, result{true, 20, nil})
		wantCommits(t, d, []int{1}, []int{2})
		w.Close() // closing twice is harmless
	})
}

func TestWriterUnderLoadAnswersEachWithItsOwn(t *testing.T) {
	var running int // unguarded: the race detector complains if two commits run at once
	w := NewWriter(16, func(ins []int) ([]int, error) {
		running++
		defer func() { running-- }()
		if running != 1 || len(ins) > 16 {
			t.Errorf("%d commits at once, of %d writes", running, len(ins))
		}
		return tenfold(ins)
	})
	const callers, each = 50, 40
	errs := make(chan error, callers)
	for c := range callers {
		go func() {
			for i := range each {
				in := c*each + i
				if out, err := w.Do(t.Context(), in); err != nil || out != 10*in {
					errs <- errors.Join(err, errors.New("a wrong answer"))
					return
				}
			}
			errs <- nil
		}()
	}
	for range callers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
