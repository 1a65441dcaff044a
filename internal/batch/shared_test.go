package batch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

// gatedQuery is a query function for tests. Each query waits until the test releases it. The answer is the number of the
// query.
type gatedQuery struct {
	started int
	gate    chan func(n int) (int, error)
}

func newGatedQuery() *gatedQuery { return &gatedQuery{gate: make(chan func(int) (int, error))} }

func (q *gatedQuery) query(string) (int, error) {
	q.started++
	n := q.started
	return (<-q.gate)(n)
}

func (q *gatedQuery) release(outcome func(n int) (int, error)) {
	q.gate <- outcome
	synctest.Wait()
}

func number(n int) (int, error) { return n, nil }

func read(ctx context.Context, s *Shared[string, int], key string, readers int) []*result {
	results := make([]*result, readers)
	for i := range results {
		r := new(result)
		results[i] = r
		go func() {
			r.out, r.err = s.Do(ctx, key)
			r.done = true
		}()
		synctest.Wait()
	}
	return results
}

func TestSharedNeverJoinsAQueryThatHasStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newGatedQuery()
		s := NewShared(q.query)
		first := read(t.Context(), s, "a", 1) // query 1 has started
		late := read(t.Context(), s, "a", 3)  // these reads come too late for query 1
		q.release(number)
		wantResults(t, first, result{true, 1, nil})
		wantResults(t, late, result{}, result{}, result{})

		later := read(t.Context(), s, "a", 1) // comes too late for query 2, which has just started
		q.release(number)
		wantResults(t, late, result{true, 2, nil}, result{true, 2, nil}, result{true, 2, nil})
		wantResults(t, later, result{})
		q.release(number)
		wantResults(t, later, result{true, 3, nil})
		if q.started != 3 {
			t.Errorf("%d queries, want 3", q.started)
		}
	})
}

func TestSharedRunsOneQueryAtATimePerKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newGatedQuery()
		s := NewShared(q.query)
		read(t.Context(), s, "a", 20)
		if q.started != 1 {
			t.Errorf("%d queries run at once", q.started)
		}
		q.release(number)
		q.release(number)
		if q.started != 2 {
			t.Errorf("20 readers took %d queries, want 2", q.started)
		}
		wantNothingLeft(t, s)
	})
}

func TestSharedQueriesEachKeySeparately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newGatedQuery()
		s := NewShared(q.query)
		a, b := read(t.Context(), s, "a", 1), read(t.Context(), s, "b", 1)
		if q.started != 2 {
			t.Errorf("%d queries run for 2 keys", q.started)
		}
		q.release(number)
		q.release(number)
		if !a[0].done || !b[0].done || a[0].out == b[0].out {
			t.Errorf("got %+v and %+v", *a[0], *b[0])
		}
		wantNothingLeft(t, s)
	})
}

func TestSharedReturnsAnErrorToEveryReaderOfThatQueryOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("connection lost")
		q := newGatedQuery()
		s := NewShared(q.query)
		results := read(t.Context(), s, "a", 3)
		q.release(number)
		q.release(func(int) (int, error) { return 0, gone })
		wantResults(t, results, result{true, 1, nil}, result{true, 0, gone}, result{true, 0, gone})

		again := read(t.Context(), s, "a", 1)
		q.release(number)
		wantResults(t, again, result{true, 3, nil})
	})
}

func TestSharedAnswersEveryReaderAfterAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newGatedQuery()
		s := NewShared(q.query)
		panics := func(int) (int, error) { panic("the ceiling fell") }
		results := read(t.Context(), s, "a", 3)
		q.release(panics)
		q.release(panics)
		for _, r := range results {
			if !r.done || r.err == nil || !strings.Contains(r.err.Error(), "panic: string") {
				t.Errorf("got %+v, want the panic as an error", *r)
			}
		}
		wantNothingLeft(t, s)

		again := read(t.Context(), s, "a", 1)
		q.release(number)
		wantResults(t, again, result{true, 3, nil})
	})
}

func TestAReaderThatFindsNoQueryRunningRunsOneAndWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newGatedQuery()
		s := NewShared(q.query)
		ended, end := context.WithCancel(t.Context())
		end()
		results := read(ended, s, "a", 1)
		wantResults(t, results, result{})
		q.release(number)
		wantResults(t, results, result{true, 1, nil})
	})
}

func TestSharedQueryContinuesWhenAReaderGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newGatedQuery()
		s := NewShared(q.query)
		ctx, leave := context.WithCancel(t.Context())
		first := read(t.Context(), s, "a", 1)
		leaves := read(ctx, s, "a", 1)
		stays := read(t.Context(), s, "a", 1)
		leave()
		synctest.Wait()
		wantResults(t, leaves, result{true, 0, context.Canceled})
		q.release(number)
		q.release(number)
		wantResults(t, first, result{true, 1, nil})
		wantResults(t, stays, result{true, 2, nil})
		wantNothingLeft(t, s)
	})
}

func wantNothingLeft(t *testing.T, s *Shared[string, int]) {
	t.Helper()
	if len(s.queries.next) != 0 {
		t.Errorf("%d entries are left behind", len(s.queries.next))
	}
}
