package client_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"petstore/client"
)

func TestAnAnswerThatIsNotFromTheServiceIsAnError(t *testing.T) {
	for _, body := range []string{"{}", "null", "<html>", ""} {
		store := playing(t, &script{lines: []line{{status: 200, body: body}}})
		_, pet := store.CreatePet(t.Context(), client.NewPet{Name: "Rex", CategoryID: 1})
		_, order := store.PlaceOrder(t.Context(), client.NewOrder{PetID: 1})
		_, category := store.CreateCategory(t.Context(), "Dogs")
		_, inventory := store.GetInventory(t.Context())
		_, list := store.ListPets(t.Context(), client.PetQuery{})
		_, events := store.ListEvents(t.Context(), client.EventQuery{})
		_, webhook := store.CreateWebhook(t.Context(), client.NewWebhook{URL: "https://a.example"})
		_, delivery := store.PingWebhook(t.Context(), "wh_1")
		for what, err := range map[string]error{
			"pet": pet, "order": order, "category": category, "inventory": inventory, "list": list, "events": events, "webhook": webhook, "delivery": delivery, "deletion": store.DeletePet(t.Context(), 1),
		} {
			if err == nil || !strings.Contains(err.Error(), "check that http://petstore.test/v1 is the service") {
				t.Errorf("%s: 200 with the body %q gives %v", what, body, err)
			}
		}
	}
}

func TestAVeryLongRetryAfterDoesNotOverflow(t *testing.T) {
	store := playing(t, &script{lines: []line{refusal(503, client.ErrUnavailable, "Retry-After: 99999999999"), biscuit}})
	var e *client.Error
	if _, err := store.GetPet(t.Context(), 1); !errors.As(err, &e) || e.RetryAfter < 1000*time.Hour {
		t.Errorf("the error is %v, and asks to wait %v", err, e)
	}
}

func TestRetryAfterIsObeyed(t *testing.T) {
	for name, first := range map[string]line{
		"rate_limited":    refusal(429, client.ErrRateLimited, "Retry-After: 7", "X-RateLimit-Remaining: 0"),
		"unavailable":     refusal(503, client.ErrUnavailable, "Retry-After: 7"),
		"outcome_unknown": refusal(503, client.ErrOutcomeUnknown, "Retry-After: 7"),
		"a date":          {status: 503, headers: []string{"Date: Sat, 01 Jan 2000 00:00:03 GMT", "Retry-After: Sat, 01 Jan 2000 00:00:10 GMT"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{lines: []line{first, biscuit}}
				if _, err := playing(t, s).GetPet(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
				if waits := s.waits(); len(waits) != 1 || waits[0] < 7*time.Second || waits[0] > 7200*time.Millisecond {
					t.Errorf("the client waited %s, want once 7 seconds and a little", waits)
				}
			})
		})
	}
}

func TestFailuresAreRetriedAfterARandomWaitThatDoubles(t *testing.T) {
	for name, failure := range map[string]line{
		"no connection":      noServer,
		"a broken one":       hangUp,
		"internal_error":     refusal(500, client.ErrInternalError),
		"a proxy's own page": {status: 502, body: "<html>"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{lines: []line{failure}}
				_, err := playing(t, s, client.WithRetries(9, time.Hour)).GetPet(t.Context(), 1)
				if err == nil || len(s.asked) != 9 {
					t.Fatalf("asked %d times, then %v; want 9 times and an error", len(s.asked), err)
				}
				bound, sum := 200*time.Millisecond, time.Duration(0)
				for i, wait := range s.waits() {
					if wait > bound {
						t.Errorf("wait %d is %s, want %s at most", i+1, wait, bound)
					}
					bound, sum = min(2*bound, 10*time.Second), sum+wait
				}
				if sum < time.Second {
					t.Errorf("the client waited %s in all, which is no backoff", sum)
				}
			})
		})
	}
}

func TestWaitsAreBoundedByTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{lines: []line{refusal(503, client.ErrUnavailable, "Retry-After: 20")}}
		begin := time.Now()
		_, err := playing(t, s, client.WithRetries(100, time.Minute)).GetPet(t.Context(), 1)
		if !errors.Is(err, client.ErrUnavailable) || len(s.asked) != 3 || time.Since(begin) > time.Minute {
			t.Errorf("asked %d times in %s, then %v; want 3 times within a minute", len(s.asked), time.Since(begin), err)
		}
	})
}

func TestAWaitBeyondTheDeadlineFailsAtOnceWithBothErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{lines: []line{refusal(503, client.ErrUnavailable, "Retry-After: 20", "X-Request-Id: abc")}}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		begin := time.Now()
		_, err := playing(t, s).GetPet(ctx, 1)
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Code != client.ErrUnavailable || refused.RequestID != "abc" || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the error is %v, want the refusal and the deadline", err)
		}
		if time.Since(begin) > 0 {
			t.Errorf("the call failed only after %s", time.Since(begin))
		}
	})
}

func TestACancelledWaitEndsAtOnceWithBothErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{lines: []line{refusal(503, client.ErrUnavailable, "Retry-After: 20")}}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, cancel)
		begin := time.Now()
		_, err := playing(t, s).GetPet(ctx, 1)
		if !errors.Is(err, client.ErrUnavailable) || !errors.Is(err, context.Canceled) || time.Since(begin) != 5*time.Second {
			t.Errorf("after %s the error is %v, want the refusal and the cancellation after 5s", time.Since(begin), err)
		}
	})
}

func TestOtherRefusalsAreFinal(t *testing.T) {
	for _, r := range []line{
		refusal(400, client.ErrInvalidField), refusal(401, client.ErrUnauthorized), refusal(403, client.ErrForbidden),
		refusal(404, client.ErrNotFound), refusal(405, client.ErrMethodNotAllowed), refusal(409, client.ErrPetReserved),
		refusal(410, client.ErrGone), refusal(413, client.ErrPayloadTooLarge), refusal(415, client.ErrUnsupportedMediaType),
		{status: 307, headers: []string{"Location: http://elsewhere.test/"}},
	} {
		s := &script{lines: []line{r, biscuit}}
		_, err := playing(t, s).UpdatePet(t.Context(), 1, client.PetPatch{Status: new(client.Sold)})
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Status != r.status || len(s.asked) != 1 {
			t.Errorf("asked %d times, then %v; want once, then %d", len(s.asked), err, r.status)
		}
	}
}

func TestAllTriesOfAWriteSendTheSameRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := line{status: 201, headers: []string{"Idempotency-Replayed: true"}, body: biscuit.body}
		s := &script{lines: []line{noServer, hangUp, refusal(503, client.ErrOutcomeUnknown, "Retry-After: 1"), made}}
		store := playing(t, s)
		var meta client.Meta
		for range 2 {
			pet, err := store.CreatePet(t.Context(), client.NewPet{Name: "Biscuit", CategoryID: 1}, client.WithMeta(&meta))
			if err != nil || pet.ID != 1 {
				t.Fatal(pet, err)
			}
		}
		if meta.Attempts != 1 || !meta.Replayed {
			t.Errorf("the second create says %+v", meta)
		}
		for _, try := range s.asked[:4] {
			if try.idempotencyKey != s.asked[0].idempotencyKey || try.body != `{"name":"Biscuit","categoryId":1}` {
				t.Errorf("a try was %+v, the first %+v", try, s.asked[0])
			}
		}
		if first, second := s.asked[0].idempotencyKey, s.asked[4].idempotencyKey; first == second || len(first) < 20 {
			t.Errorf("two creates have the idempotency keys %q and %q", first, second)
		}
		if _, err := store.CreatePet(t.Context(), client.NewPet{Name: "Biscuit", CategoryID: 1}, client.WithIdempotencyKey("row 7")); err != nil || s.asked[5].idempotencyKey != "row 7" {
			t.Errorf("the caller's idempotency key became %q, %v", s.asked[5].idempotencyKey, err)
		}
	})
}

func TestABanIsReturnedOrWaitedFor(t *testing.T) {
	banned := refusal(429, client.ErrKeyBanned, "Retry-After: 3600", "X-RateLimit-Remaining: 0")
	synctest.Test(t, func(t *testing.T) {
		s := &script{lines: []line{banned}}
		store := playing(t, s)
		for range 3 {
			var refused *client.Error
			if err := store.DeletePet(t.Context(), 1); !errors.As(err, &refused) || refused.Code != client.ErrKeyBanned || refused.RetryAfter != time.Hour {
				t.Errorf("the error is %v, want the ban", err)
			}
		}
		if len(s.asked) != 3 {
			t.Errorf("3 calls asked %d times", len(s.asked))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := &script{lines: []line{banned, banned, deleted}}
		store := playing(t, s, client.WithBanPolicy(client.WaitForBan), client.WithoutRetries())
		if err := store.DeletePet(t.Context(), 1); err != nil {
			t.Error(err)
		}
		if waits := s.waits(); len(waits) != 2 || slices.Min(waits) < time.Hour {
			t.Errorf("the client waited %s, want twice an hour", waits)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := &script{lines: []line{banned, deleted}}
		if err := errors.Join(callAtOnce(t.Context(), playing(t, s, client.WithBanPolicy(client.WaitForBan)), 50)...); err != nil {
			t.Error(err)
		}
		if waits := s.waits(); len(waits) != 50 || waits[0] < time.Hour {
			t.Errorf("50 calls asked %d times, the second after %s; want 51 times, and an hour", len(waits)+1, waits[0])
		}
	})
}

func TestAnUntrustedCertificateIsNotRetried(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	defer server.Close()
	var meta client.Meta
	if _, err := newClient(t, server.URL, "secret").GetInventory(t.Context(), client.WithMeta(&meta)); err == nil || meta.Attempts != 1 {
		t.Errorf("after %d tries the error is %v", meta.Attempts, err)
	}
}
