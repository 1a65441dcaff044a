package batch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

// library is a query function whose queries wait until the test lets them go. Each answers with its number.
type library struct {
	started int
	gate    chan func(n int) (int, error)
}

func newLibrary() *library { return &library{gate: make(chan func(int) (int, error))} }

func (l *library) query(string) (int, error) {
	l.started++
	n := l.started
	return (<-l.gate)(n)
}

func (l *library) let(outcome func(n int) (int, error)) {
	l.gate <- outcome
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
		l := newLibrary()
		s := NewShared(l.query)
		first := read(t.Context(), s, "a", 1) // query 1 has started
		late := read(t.Context(), s, "a", 3)  // too late for query 1
		l.let(number)
		wantResults(t, first, result{true, 1, nil})
		wantResults(t, late, result{}, result{}, result{})

		later := read(t.Context(), s, "a", 1) // too late for query 2, which has started now
		l.let(number)
		wantResults(t, late, result{true, 2, nil}, result{true, 2, nil}, result{true, 2, nil})
		wantResults(t, later, result{})
		l.let(number)
		wantResults(t, later, result{true, 3, nil})
		if l.started != 3 {
			t.Errorf("%d queries, want 3", l.started)
		}
	})
}

func TestSharedRunsOneQueryAndLetsOneWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLibrary()
		s := NewShared(l.query)
		read(t.Context(), s, "a", 20)
		if l.started != 1 {
			t.Errorf("%d queries run at once", l.started)
		}
		l.let(number)
		l.let(number)
		if l.started != 2 {
			t.Errorf("20 readers took %d queries, want 2", l.started)
		}
		wantNothingLeft(t, s)
	})
}

func TestSharedQueriesEachKeyByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLibrary()
		s := NewShared(l.query)
		a, b := read(t.Context(), s, "a", 1), read(t.Context(), s, "b", 1)
		if l.started != 2 {
			t.Errorf("%d queries run for 2 keys", l.started)
		}
		l.let(number)
		l.let(number)
		if !a[0].done || !b[0].done || a[0].out == b[0].out {
			t.Errorf("got %+v and %+v", *a[0], *b[0])
		}
		wantNothingLeft(t, s)
	})
}

func TestSharedGivesAnErrorToAllOfItsQueryAndNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("connection lost")
		l := newLibrary()
		s := NewShared(l.query)
		results := read(t.Context(), s, "a", 3)
		l.let(number)
		l.let(func(int) (int, error) { return 0, gone })
		wantResults(t, results, result{true, 1, nil}, result{true, 0, gone}, result{true, 0, gone})

		again := read(t.Context(), s, "a", 1)
		l.let(number)
		wantResults(t, again, result{true, 3, nil})
	})
}

func TestSharedAnswersAllAfterAPanicAndForgetsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLibrary()
		s := NewShared(l.query)
		fall := func(int) (int, error) { panic("the ceiling fell") }
		results := read(t.Context(), s, "a", 3)
		l.let(fall)
		l.let(fall)
		for _, r := range results {
			if !r.done || r.err == nil || !strings.Contains(r.err.Error(), "panic: string") {
				t.Errorf("got %+v, want the panic as an error", *r)
			}
		}
		wantNothingLeft(t, s)

		again := read(t.Context(), s, "a", 1)
		l.let(number)
		wantResults(t, again, result{true, 3, nil})
	})
}

func TestAReaderThatFindsNoQueryMakesItAndWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLibrary()
		s := NewShared(l.query)
		over, end := context.WithCancel(t.Context())
		end()
		results := read(over, s, "a", 1)
		wantResults(t, results, result{})
		l.let(number)
		wantResults(t, results, result{true, 1, nil})
	})
}

func TestSharedQueryOutlivesTheReaderWhoLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLibrary()
		s := NewShared(l.query)
		ctx, leave := context.WithCancel(t.Context())
		first := read(t.Context(), s, "a", 1)
		impatient := read(ctx, s, "a", 1)
		patient := read(t.Context(), s, "a", 1)
		leave()
		synctest.Wait()
		wantResults(t, impatient, result{true, 0, context.Canceled})
		l.let(number)
		l.let(number)
		wantResults(t, first, result{true, 1, nil})
		wantResults(t, patient, result{true, 2, nil})
		wantNothingLeft(t, s)
	})
}

func wantNothingLeft(t *testing.T, s *Shared[string, int]) {
	t.Helper()
	if len(s.queries.next) != 0 {
		t.Errorf("%d entries are left behind", len(s.queries.next))
	}
}
