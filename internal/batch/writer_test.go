package batch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// gatedCommit is a commit function that records the writes it gets. Each commit waits until the test releases it.
type gatedCommit struct {
	commits [][]int
	gate    chan func([]int) ([]int, error)
}

func newGatedCommit() *gatedCommit { return &gatedCommit{gate: make(chan func([]int) ([]int, error))} }

func (g *gatedCommit) commit(ins []int) ([]int, error) {
	g.commits = append(g.commits, slices.Clone(ins))
	return (<-g.gate)(ins)
}

// release lets one commit end with the given outcome, and waits until every goroutine is blocked again.
func (g *gatedCommit) release(outcome func([]int) ([]int, error)) {
	g.gate <- outcome
	synctest.Wait()
}

func tenfold(ins []int) ([]int, error) {
	outs := make([]int, len(ins))
	for i, in := range ins {
		outs[i] = 10 * in
	}
	return outs, nil
}

// result is the outcome of one call of Do.
type result struct {
	done bool
	out  int
	err  error
}

// do starts the calls of Do one after the other, so that the test knows their order.
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

func wantCommits(t *testing.T, g *gatedCommit, want ...[]int) {
	t.Helper()
	if !slices.EqualFunc(g.commits, want, slices.Equal) {
		t.Errorf("commits of %v, want %v", g.commits, want)
	}
}

func TestWriterCommitsALoneWriteAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGatedCommit()
		w := NewWriter(10, g.commit)
		results := do(t.Context(), w, 1)
		wantCommits(t, g, []int{1})
		wantResults(t, results, result{})
		g.release(tenfold)
		wantResults(t, results, result{true, 10, nil})
	})
}

func TestWriterMergesWritesThatArriveDuringACommitInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGatedCommit()
		w := NewWriter(10, g.commit)
		results := do(t.Context(), w, 1, 2, 3, 4)
		g.release(tenfold)
		wantCommits(t, g, []int{1}, []int{2, 3, 4})
		wantResults(t, results, result{true, 10, nil}, result{}, result{}, result{})

		later := do(t.Context(), w, 5)
		g.release(tenfold)
		wantResults(t, results, result{true, 10, nil}, result{true, 20, nil}, result{true, 30, nil}, result{true, 40, nil})
		g.release(tenfold)
		wantCommits(t, g, []int{1}, []int{2, 3, 4}, []int{5})
		wantResults(t, later, result{true, 50, nil})
	})
}

func TestWriterLimitsTheSizeOfACommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGatedCommit()
		w := NewWriter(2, g.commit)
		do(t.Context(), w, 1, 2, 3, 4, 5, 6)
		for range 4 {
			g.release(tenfold)
		}
		wantCommits(t, g, []int{1}, []int{2, 3}, []int{4, 5}, []int{6})
	})
}

func TestWriterReturnsACommitErrorToEveryWriteInThatCommitOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		g := newGatedCommit()
		w := NewWriter(10, g.commit)
		results := do(t.Context(), w, 1, 2, 3)
		g.release(tenfold)
		g.release(func(ins []int) ([]int, error) { return ins, full })
		wantResults(t, results, result{true, 10, nil}, result{true, 0, full}, result{true, 0, full})

		later := do(t.Context(), w, 4)
		g.release(tenfold)
		wantResults(t, later, result{true, 40, nil})
		wantCommits(t, g, []int{1}, []int{2, 3}, []int{4})
	})
}

func TestWriterAnswersEveryCallerAfterAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGatedCommit()
		w := NewWriter(10, g.commit)
		results := do(t.Context(), w, 1, 2, 3)
		g.release(tenfold)
		g.release(func([]int) ([]int, error) { panic("the ceiling fell") })
		for _, r := range results[1:] {
			if !r.done || r.err == nil || !strings.Contains(r.err.Error(), "panic: string") {
				t.Errorf("got %+v, want the panic as an error", *r)
			}
		}
		later := do(t.Context(), w, 4)
		g.release(tenfold)
		wantResults(t, later, result{true, 40, nil})
	})
}

func TestWriterRefusesAWrongNumberOfAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGatedCommit()
		w := NewWriter(10, g.commit)
		results := do(t.Context(), w, 1)
		g.release(func([]int) ([]int, error) { return []int{1, 2}, nil })
		if !results[0].done || results[0].err == nil {
			t.Errorf("got %+v, want an error", *results[0])
		}
	})
}

func TestWriterCommitsEvenIfTheCallerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGatedCommit()
		w := NewWriter(10, g.commit)
		do(t.Context(), w, 1)
		ctx, leave := context.WithCancel(t.Context())
		results := do(ctx, w, 2)
		leave()
		synctest.Wait()
		wantResults(t, results, result{true, 0, context.Canceled})
		g.release(tenfold)
		g.release(tenfold)
		wantCommits(t, g, []int{1}, []int{2})
	})
}

func TestWriterReturnsAKnownOutcomeEvenIfTheContextHasEnded(t *testing.T) {
	w := NewWriter(10, tenfold)
	ended, end := context.WithCancel(t.Context())
	end()
	for i := range 100 {
		if out, err := w.Do(ended, i); out != 10*i || err != nil {
			t.Fatalf("got %d, %v", out, err)
		}
	}
}

func TestWriterCloseWaitsForAcceptedWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGatedCommit()
		w := NewWriter(1, g.commit)
		results := do(t.Context(), w, 1, 2)
		closed := false
		go func() { w.Close(); closed = true }()
		synctest.Wait()

		refused := do(t.Context(), w, 3)
		wantResults(t, refused, result{true, 0, ErrClosed})
		g.release(tenfold)
		if closed {
			t.Error("Close returned before all accepted writes were committed")
		}
		g.release(tenfold)
		if !closed {
			t.Error("Close did not return although all accepted writes were committed")
		}
		wantResults(t, results, result{true, 10, nil}, result{true, 20, nil})
		wantCommits(t, g, []int{1}, []int{2})
		w.Close() // a second Close is harmless
	})
}

func TestWriterUnderLoadGivesEachCallerItsOwnAnswer(t *testing.T) {
	var running int // has no lock, so that the race detector reports two commits at the same time
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
