package batch

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

func TestGroupedReportsTheSizeOfTheGroupAndEachCallersPlace(t *testing.T) {
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

func TestWaitReturnsAnAnswerThatHasComeEvenIfTheContextHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGrouped(func(key string, _ int) (string, error) { return key, nil })
		ended, end := context.WithCancel(t.Context())
		end()
		for range 100 {
			begun := g.Begin("pets")
			synctest.Wait()
			if value, _, err := begun.Wait(ended); value != "pets" || err != nil {
				t.Fatalf("got %q, %v", value, err)
			}
		}
	})
}

func TestACallerThatGivesUpBeforeTheCallIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		goOn := make(chan struct{})
		g := NewGrouped(func(_ string, n int) (string, error) {
			sizes = append(sizes, n)
			<-goOn
			return "", nil
		})
		ended, end := context.WithCancel(t.Context())
		end()
		places := make(chan int, 9)
		stays := func() {
			go func() { _, place, _ := g.Do(t.Context(), "pets"); places <- place }()
			synctest.Wait()
		}
		leaves := func() {
			if _, _, err := g.Begin("pets").Wait(ended); err == nil {
				t.Error("an answer came before the call began")
			}
		}
		stays() // the first call begins
		leaves()
		stays()
		leaves()
		stays()
		goOn <- struct{}{} // the second call begins
		synctest.Wait()
		leaves() // the request leaves before the third call begins
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

func TestACallerThatGivesUpDuringTheCallKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		g := NewGrouped(func(_ string, n int) (int, error) {
			<-goOn
			return n, nil
		})
		ended, end := context.WithCancel(t.Context())
		end()
		g.Begin("pets")
		leaves, stays := g.Begin("pets"), g.Begin("pets")
		goOn <- struct{}{} // the second call begins
		synctest.Wait()
		if _, _, err := leaves.Wait(ended); err == nil {
			t.Error("an answer came before the call ended")
		}
		close(goOn)
		if n, place, err := stays.Wait(t.Context()); n != 2 || place != 1 || err != nil {
			t.Errorf("got the place %d of %d, %v, want the place 1 of 2", place, n, err)
		}
	})
}
