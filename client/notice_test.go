package client_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"petstore/client"
)

func TestTheWaitNoticeComesBeforeTheWait(t *testing.T) {
	for name, lines := range map[string][]line{
		"a refusal":        {refusal(429, client.ErrRateLimited, "Retry-After: 7", "X-RateLimit-Remaining: 0"), biscuit},
		"a window is used": {{status: 200, headers: []string{"X-RateLimit-Remaining: 0"}, body: biscuit.body}, biscuit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told time.Duration
				s := &script{lines: lines}
				store := playing(t, s, client.WithWaitNotice(func(wait time.Duration, because error) {
					if len(s.asked) == 1 && errors.Is(because, client.ErrRateLimited) {
						told = wait
					}
				}))
				for range 2 {
					if _, err := store.GetCategory(t.Context(), 1); err != nil {
						t.Fatal(err)
					}
				}
				if waited := s.waits()[0]; told < time.Second || waited < told || waited > told+time.Second {
					t.Errorf("the client announced a wait of %s and waited %s", told, waited)
				}
			})
		})
	}
}

// Several calls queue behind the first call, whose answer says that no requests are left.
func TestEveryQueuedCallGetsTheWaitNotice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Int64
		s := &script{lines: []line{{status: 200, headers: []string{"X-RateLimit-Remaining: 0"}, body: biscuit.body}, biscuit}}
		s.before = func() { time.Sleep(time.Second) }
		store := playing(t, s, client.WithWaitNotice(func(time.Duration, error) { told.Add(1) }))
		var calls sync.WaitGroup
		for range 4 {
			calls.Go(func() {
				if _, err := store.GetCategory(t.Context(), 1); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		if told.Load() != 3 {
			t.Errorf("%d of the 3 calls that waited got a notice", told.Load())
		}
	})
}

func TestANilWaitNoticeIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := playing(t, &script{lines: []line{refusal(503, client.ErrUnavailable), biscuit}}, client.WithWaitNotice(nil))
		if _, err := store.GetCategory(t.Context(), 1); err != nil {
			t.Error(err)
		}
	})
}
