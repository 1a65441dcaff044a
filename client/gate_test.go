package client_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"petstore/client"
)

// window is a transport that acts as a service with a limit of requests. It answers after the time latency.
type window struct {
	mu               sync.Mutex
	limit, remaining int64
	reset            time.Time
	skew             time.Duration // how far the service's clock is ahead of this machine's
	latency          time.Duration
	inFlight, most   int64
	refused          int
	asked            []time.Time
}

func (w *window) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.asked = append(w.asked, time.Now())
	w.inFlight++
	w.most = max(w.most, w.inFlight)
	now := time.Now().Add(w.skew)
	if !now.Before(w.reset) {
		w.remaining, w.reset = w.limit, now.Truncate(time.Minute).Add(time.Minute)
	}
	l := line{status: 204}
	if w.remaining == 0 {
		w.refused++
		l = refusal(429, client.ErrRateLimited, "Retry-After: "+strconv.Itoa(int(w.reset.Sub(now).Seconds())+1))
	}
	w.remaining = max(0, w.remaining-1)
	l.headers = append(l.headers, "X-RateLimit-Limit: "+strconv.FormatInt(w.limit, 10),
		"X-RateLimit-Remaining: "+strconv.FormatInt(w.remaining, 10), "X-RateLimit-Reset: "+strconv.FormatInt(w.reset.Unix(), 10),
		"Date: "+now.UTC().Format(http.TimeFormat))
	latency := w.latency
	w.mu.Unlock()

	select {
	case <-time.After(latency):
	case <-r.Context().Done():
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inFlight--
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return l.response(), nil
}

func (w *window) client(t *testing.T, options ...client.Option) *client.Client {
	return newClient(t, "http://petstore.test", "secret", append([]client.Option{client.WithHTTPClient(&http.Client{Transport: w})}, options...)...)
}

// callAtOnce makes n calls at the same time and returns their errors.
func callAtOnce(ctx context.Context, store *client.Client, n int) []error {
	errs := make([]error, n)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() { errs[i] = store.DeletePet(ctx, int64(i+1)) })
	}
	group.Wait()
	return errs
}

func TestNoMoreRequestsAreInFlightThanAreLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &window{limit: 10, remaining: 10, reset: time.Now().Add(time.Minute), latency: 100 * time.Millisecond}
		for _, err := range callAtOnce(t.Context(), w.client(t), 25) {
			if err != nil {
				t.Error(err)
			}
		}
		if w.refused > 0 || w.most != 9 {
			t.Errorf("%d requests were refused and %d in flight at once, want none and 9", w.refused, w.most)
		}
	})
}

func TestRequestsWaitForTheResetByTheClockOfTheService(t *testing.T) {
	for _, skew := range []time.Duration{0, -time.Hour, 10 * time.Hour} {
		t.Run(skew.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &window{limit: 5, remaining: 3, skew: skew, reset: time.Now().Add(skew + 40*time.Second)}
				for _, err := range callAtOnce(t.Context(), w.client(t), 6) {
					if err != nil {
						t.Error(err)
					}
				}
				if wait := w.asked[3].Sub(w.asked[0]); w.refused > 0 || wait < 40*time.Second || wait > 42*time.Second {
					t.Errorf("the fourth request came after %s, and %d were refused; want 40s and none", wait, w.refused)
				}
			})
		})
	}
}

func TestACallFailsAtOnceIfTheUsedUpWindowLastsTooLong(t *testing.T) {
	cases := map[string]struct {
		left     time.Duration // the time left in the window
		deadline time.Duration
		options  []client.Option
	}{
		"beyond the budget, as a day's is": {left: 5 * time.Hour, deadline: 10 * time.Hour},
		"beyond the deadline":              {left: time.Minute, deadline: 10 * time.Second},
		"without retries":                  {left: time.Minute, deadline: time.Hour, options: []client.Option{client.WithoutRetries()}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.deadline)
				defer cancel()
				w := &window{limit: 1000, remaining: 3, reset: time.Now().Add(c.left), latency: time.Second}
				store := w.client(t, c.options...)
				var refused []error
				for _, err := range callAtOnce(ctx, store, 8) {
					if err != nil {
						refused = append(refused, err)
					}
				}
				if len(refused) != 5 || len(w.asked) != 3 {
					t.Fatalf("%d requests were sent and %d calls refused, want 3 and 5: %v", len(w.asked), len(refused), refused)
				}
				for _, err := range refused {
					var e *client.Error
					if !errors.As(err, &e) || e.Code != client.ErrRateLimited || e.RetryAfter < c.left-3*time.Second {
						t.Errorf("the error is %v", err)
					}
					if late := c.deadline < c.left; late != errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("the error is %v", err)
					}
				}
				if took := time.Since(w.asked[0]); took > 5*time.Second {
					t.Errorf("the calls failed only after %s", took)
				}
			})
		})
	}
}

func TestALargerPlanOpensTheGateAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &window{limit: 1000, remaining: 5, reset: time.Now().Add(10 * time.Hour)} // few requests left, as late on a busy day
		store := w.client(t)
		callAtOnce(t.Context(), store, 2)
		w.limit, w.remaining, w.reset = 100_000, 100_000, time.Now().Add(time.Minute)
		for _, err := range callAtOnce(t.Context(), store, 50) {
			if err != nil {
				t.Error(err)
			}
		}
		if limits := store.Limits(); limits.Limit != 100_000 || limits.Remaining != 99_950 {
			t.Errorf("the client knows %+v", limits)
		}
	})
}

func TestARefusalOfAProxyHoldsRequestsOnlyForItsRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{lines: []line{deleted, {status: 429, proxy: true, headers: []string{"Retry-After: 3"}}, deleted}}
		store := playing(t, s)
		callAtOnce(t.Context(), store, 1)
		begin := time.Now()
		if err := errors.Join(callAtOnce(t.Context(), store, 1)...); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took < 3*time.Second || took > 4*time.Second {
			t.Errorf("the call took %s, want 3s and a little", took)
		}
	})
}

func TestARefusalOfAProxyIsReportedAsNeitherABanNorALimit(t *testing.T) {
	proxy := line{status: 429, proxy: true, headers: []string{"Retry-After: 600"}}
	for name, lines := range map[string][]line{
		"at first":    {proxy},
		"after a ban": {refusal(429, client.ErrKeyBanned, "Retry-After: 3", "X-RateLimit-Remaining: 0"), proxy},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := playing(t, &script{lines: lines}, client.WithBanPolicy(client.WaitForBan))
				callAtOnce(t.Context(), store, 1)
				begin := time.Now()
				err := errors.Join(callAtOnce(t.Context(), store, 1)...)
				if !errors.Is(err, client.ErrRateLimited) || strings.Contains(err.Error(), "limit of 0") || time.Since(begin) > 0 {
					t.Errorf("after %s the error is %v", time.Since(begin), err)
				}
			})
		})
	}
}

func TestACallThatGivesUpFreesItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &window{limit: 100, remaining: 100, reset: time.Now().Add(time.Hour), latency: 10 * time.Second}
		store := w.client(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, err := range callAtOnce(ctx, store, 20) {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the error is %v", err)
			}
		}
		w.latency = 0
		begin := time.Now()
		if err := errors.Join(callAtOnce(t.Context(), store, 5)...); err != nil || time.Since(begin) > 0 {
			t.Errorf("afterwards calls take %s and end with %v", time.Since(begin), err)
		}
	})
}

func TestRequestsToAServiceWithoutLimitsAreNotHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newClient(t, "http://petstore.test", "secret", client.WithHTTPClient(&http.Client{Transport: unlimited{}}))
		begin := time.Now()
		if err := errors.Join(callAtOnce(t.Context(), store, 100)...); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took != 2*time.Second { // the first request goes alone, then all others go together
			t.Errorf("100 calls of a second took %s, want 2s", took)
		}
	})
}

// unlimited is a transport that answers after a second and says nothing about limits.
type unlimited struct{}

func (unlimited) RoundTrip(*http.Request) (*http.Response, error) {
	time.Sleep(time.Second)
	return &http.Response{StatusCode: 204, Header: http.Header{}, Body: http.NoBody}, nil
}
