package batch

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

func TestGroupIsToldItsSizeAndEachItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		goOn := make(chan struct{})
		g := NewGrouped(func(key string, n int) (string, error) {
			sizes = append(sizes, n)
			<-goOn
			return key, nil
		})
		var mu sync.Mutex
		var places []int
		var callers sync.WaitGroup
		ask := func() {
			callers.Go(func() {
				value, place, err := g.Do(t.Context(), "pets")
				if value != "pets" || err != nil {
					t.Errorf("got %q, %v", value, err)
				}
				mu.Lock()
				defer mu.Unlock()
				places = append(places, place)
			})
		}
		ask()
		synctest.Wait()
		for range 5 {
			ask()
		}
		synctest.Wait()
		close(goOn)
		callers.Wait()
		slices.Sort(places)
		if !slices.Equal(sizes, []int{1, 5}) || !slices.Equal(places, []int{0, 0, 1, 2, 3, 4}) {
			t.Errorf("the groups had %v members, in the places %v", sizes, places)
		}
		if g.Joined() != 4 {
			t.Errorf("%d needed no call of their own", g.Joined())
		}
	})
}

func TestAnAnswerThatIsThereIsTakenThoughTheWaitIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGrouped(func(key string, _ int) (string, error) { return key, nil })
		over, end := context.WithCancel(t.Context())
		end()
		for range 100 {
			begun := g.Begin("pets")
			synctest.Wait()
			if value, _, err := begun.Wait(over); value != "pets" || err != nil {
				t.Fatalf("got %q, %v", value, err)
			}
		}
	})
}

func TestWhoStopsWaitingBeforeTheCallIsNotPartOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		goOn := make(chan struct{})
		g := NewGrouped(func(_ string, n int) (string, error) {
			sizes = append(sizes, n)
			<-goOn
			return "", nil
		})
		over, end := context.WithCancel(t.Context())
		end()
		places := make(chan int, 9)
		stays := func() {
			go func() { _, place, _ := g.Do(t.Context(), "pets"); places <- place }()
			synctest.Wait()
		}
		leaves := func() {
			if _, _, err := g.Begin("pets").Wait(over); err == nil {
				t.Error("there was an answer before the call")
			}
		}
		stays() // its call has begun
		leaves()
		stays()
		leaves()
		stays()
		goOn <- struct{}{} // the second call begins
		synctest.Wait()
		leaves() // its call does not begin before the second ends
		close(goOn)
		synctest.Wait()
		if !slices.Equal(sizes, []int{1, 2, 0}) {
			t.Errorf("the calls were for %v requests, want 1, 2 and none", sizes)
		}
		if first, second, third := <-places, <-places, <-places; first != 0 || second+third != 1 {
			t.Errorf("the places are %d; %d and %d", first, second, third)
		}
	})
}

func TestWhoStopsWaitingDuringTheCallKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		g := NewGrouped(func(_ string, n int) (int, error) {
			<-goOn
			return n, nil
		})
		over, end := context.WithCancel(t.Context())
		end()
		g.Begin("pets")
		leaves, stays := g.Begin("pets"), g.Begin("pets")
		goOn <- struct{}{} // the second call begins
		synctest.Wait()
		if _, _, err := leaves.Wait(over); err == nil {
			t.Error("there was an answer before the end of the call")
		}
		close(goOn)
		if n, place, err := stays.Wait(t.Context()); n != 2 || place != 1 || err != nil {
			t.Errorf("got the place %d of %d, %v, want the place 1 of 2", place, n, err)
		}
	})
}
