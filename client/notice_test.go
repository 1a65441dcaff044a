package client_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"petstore/client"
)

func TestEveryWaitIsToldBeforeItBegins(t *testing.T) {
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
					t.Errorf("the client told of %s and waited %s", told, waited)
				}
			})
		})
	}
}

func TestNoNoticeIsAsGoodAsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := playing(t, &script{lines: []line{refusal(503, client.ErrUnavailable), biscuit}}, client.WithWaitNotice(nil))
		if _, err := store.GetCategory(t.Context(), 1); err != nil {
			t.Error(err)
		}
	})
}
