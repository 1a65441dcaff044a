package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"petstore/client/webhook"
	"petstore/internal/egress"
	"petstore/internal/petstore"
)

func TestAChangeHoldsForAttemptsThatBeginASecondLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newStore(), &receiver{}
		h := newHooks(s, "https://a.example")
		r.answer = func(int, sent) (int, http.Header, error) {
			time.Sleep(50 * time.Millisecond)
			return 200, nil, nil
		}
		delivering(t, s, h, r)
		s.add(pets(1000)...)
		time.Sleep(3*time.Second + 7*time.Millisecond)
		for i, change := range []petstore.WebhookPatch{
			{URL: new("https://b.example")}, {Position: &petstore.EventPosition{Feed: "test"}}, {Types: new([]string{"order.*"})}, {Enabled: new(false)},
		} {
			h.change(func(w *petstore.Webhook) { *w, _ = w.Patch(change, s.feed) })
			changed := time.Now()
			time.Sleep(5 * time.Second)
			var after []sent
			for _, s := range r.requests() {
				if s.at.Sub(changed) >= time.Second {
					after = append(after, s)
				}
			}
			if i == 0 && slices.ContainsFunc(after, func(s sent) bool { return s.url != "https://b.example" }) {
				t.Error("the old URL was still used")
			}
			if i == 1 && !slices.ContainsFunc(after, func(s sent) bool { return s.header.Get("webhook-id") == "evt_test_20" }) {
				t.Error("the deliveries do not go on at the new position")
			}
			if i >= 2 && len(after) != 0 {
				t.Errorf("change %d: %d attempts began later", i, len(after))
			}
		}
		if pings := len(r.requests()) - len(r.events()); pings != 2 {
			t.Errorf("%d pings were sent, one for each URL is right", pings)
		}
	})
}

func TestRemovedReferencesAreNotSentAfterAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newStore(), &receiver{}
		h := newHooks(s, "https://a.example")
		r.answer = func(n int, _ sent) (int, http.Header, error) {
			return map[bool]int{true: 500, false: 200}[n == 2], nil, nil
		}
		delivering(t, s, h, r)
		s.add(order("Ann"), order("Bob"))
		time.Sleep(time.Second)
		s.mu.Lock()
		for i := range s.events {
			erased := *s.events[i].Order // others may read the old one
			erased.Now.Reference = ""
			s.events[i].Order = &erased
		}
		s.mu.Unlock()
		erased := order("")
		erased.Type = petstore.OrderUpdated
		s.add(erased)
		time.Sleep(time.Minute)
		expectEvents(t, r, slices.Concat(eventIDs(1, 1), eventIDs(1, 3)))
		for _, s := range r.requests()[2:] {
			if strings.Contains(s.body, "Ann") || strings.Contains(s.body, "Bob") {
				t.Errorf("sent %s", s.body)
			}
		}
	})
}

func TestRemovedReferencesAreNotSentByASlowReceiversWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newStore(), &receiver{}
		h := newHooks(s, "https://a.example")
		h.change(func(w *petstore.Webhook) { w.Confirmed = true })
		r.answer = func(int, sent) (int, http.Header, error) {
			time.Sleep(3 * time.Second)
			return 200, nil, nil
		}
		delivering(t, s, h, r)
		time.Sleep(time.Second)
		s.add(order("Ann"), order("Bob"))
		time.Sleep(time.Second) // Ann is under way
		s.mu.Lock()
		s.events[1].Order.Now.Reference = ""
		s.mu.Unlock()
		erased := order("")
		erased.Type = petstore.OrderUpdated
		s.add(erased)
		time.Sleep(time.Minute)
		expectEvents(t, r, eventIDs(1, 3))
		if body := r.requests()[1].body; strings.Contains(body, "Bob") {
			t.Errorf("sent %s", body)
		}
	})
}

func TestAWebhookThatAnotherProcessTookIsLeftAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newStore(), &receiver{}
		h := newHooks(s, "https://a.example")
		r.answer = func(int, sent) (int, http.Header, error) {
			time.Sleep(10 * time.Millisecond)
			return 200, nil, nil
		}
		delivering(t, s, h, r)
		s.add(pets(3000)...)
		time.Sleep(5*time.Second + 700*time.Millisecond)
		h.mu.Lock()
		for _, w := range h.all {
			w.holder, w.until = "another", time.Now().Add(time.Hour)
		}
		h.mu.Unlock()
		taken := time.Now()
		time.Sleep(20 * time.Second)
		for _, got := range r.requests() {
			if got.at.Sub(taken) > time.Second {
				t.Fatalf("an attempt began %s after another process took the webhook", got.at.Sub(taken))
			}
		}
	})
}

func TestWhenAnAttemptMayBegin(t *testing.T) {
	now := time.Now()
	for name, test := range map[string]struct {
		change func(*worker)
		want   bool
	}{
		"everything is known and saved":             {func(*worker) {}, true},
		"the last look was almost a second ago":     {func(w *worker) { w.d.refreshed = now.Add(time.Millisecond - time.Second) }, true},
		"the last look was a second ago":            {func(w *worker) { w.d.refreshed = now.Add(-time.Second) }, false},
		"there was no look yet":                     {func(w *worker) { w.d.refreshed = time.Time{} }, false},
		"outcomes were unsaved for almost a second": {func(w *worker) { w.unsavedSince = now.Add(time.Millisecond - time.Second) }, true},
		"outcomes were unsaved for a second":        {func(w *worker) { w.unsavedSince = now.Add(-time.Second) }, false},
		"the webhook is disabled":                   {func(w *worker) { w.hook.Enabled = false }, false},
		"a save was refused":                        {func(w *worker) { w.stale = true }, false},
		"the server stops":                          {func(w *worker) { w.stopped = true }, false},
		"the wait after a failure is not over":      {func(w *worker) { w.hook.NextAttempt = now.Add(time.Millisecond) }, false},
		"the wait after a failure is over":          {func(w *worker) { w.hook.NextAttempt = now }, true},
		"the wait is the longest there is":          {func(w *worker) { w.hook.NextAttempt = now.Add(72 * time.Minute) }, false},
		"the clock was set back by a day":           {func(w *worker) { w.hook.NextAttempt = now.Add(24 * time.Hour) }, true},
	} {
		w := &worker{d: &Deliverer{refreshed: now}, hook: petstore.Webhook{Enabled: true}}
		test.change(w)
		if got := w.mayBegin(now); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

func TestNoAttemptBeginsWhileOutcomesCannotBeSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newStore(), &receiver{}
		h := newHooks(s, "https://a.example")
		r.answer = func(int, sent) (int, http.Header, error) {
			time.Sleep(10 * time.Millisecond)
			return 200, nil, nil
		}
		delivering(t, s, h, r)
		s.add(pets(3000)...)
		time.Sleep(5*time.Second + 3*time.Millisecond)
		h.fail(errors.New("away"))
		failed := time.Now()
		time.Sleep(10 * time.Second)
		for _, got := range r.requests() {
			if got.at.Sub(failed) > time.Second {
				t.Fatalf("an attempt began %s after the database failed", got.at.Sub(failed))
			}
		}
		h.fail(nil)
		time.Sleep(40 * time.Second)
		expectEvents(t, r, eventIDs(1, 3000))
	})
}

func TestAnotherProcessGoesOnAfterAKillAndRepeatsASecondAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := newHooks(s, "https://a.example", "https://b.example", "https://c.example")
		var mu sync.Mutex
		var dead *hooks
		took := make(map[string][]string) // by URL
		first, second := &receiver{}, &receiver{}
		for _, r := range []*receiver{first, second} {
			r.answer = func(_ int, got sent) (int, http.Header, error) {
				time.Sleep(20 * time.Millisecond)
				mu.Lock()
				defer mu.Unlock()
				if r == first && dead != nil {
					return 0, nil, errors.New("killed")
				}
				took[got.url] = append(took[got.url], got.header.Get("webhook-id"))
				return 200, nil, nil
			}
		}
		var killed atomic.Bool
		delivering(t, s, guarded{h, func() error {
			if killed.Load() {
				return errors.New("killed")
			}
			return nil
		}}, first)
		time.Sleep(3 * time.Second)
		delivering(t, s, h, second)
		s.add(pets(1000)...)
		time.Sleep(10 * time.Second)
		mu.Lock()
		dead = h
		killed.Store(true)
		repeatable := make(map[string]string)
		for url, ids := range took {
			repeatable[url] = ids[len(ids)-51] // in one second, at most 50 were delivered
		}
		mu.Unlock()
		if len(second.requests()) != 0 {
			t.Errorf("two processes delivered")
		}
		time.Sleep(2 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		for _, url := range slices.Sorted(maps.Keys(took)) {
			ids := took[url][1:] // without the ping
			again := slices.IndexFunc(ids, func(id string) bool { return slices.Contains(ids[slices.Index(ids, id)+1:], id) })
			if again >= 0 && again < slices.Index(ids, repeatable[url]) {
				t.Errorf("%s: %s was repeated, which is more than a second", url, ids[again])
			}
			var once []string
			for _, id := range ids {
				if !slices.Contains(once, id) {
					once = append(once, id)
				}
			}
			if !slices.Equal(once, eventIDs(1, 1000)) {
				t.Errorf("%s got %d different events, not all in order", url, len(once))
			}
		}
	})
}

// A process that was suspended does not know that its lease has ended, that another process has moved the webhook on, and that
// this one has stopped since.
func TestAProcessWhoseLeaseHadEndedGoesOnWhereAnotherStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, first, second := newStore(), &receiver{}, &receiver{}
		h := newHooks(s, "https://a.example")
		storage, paused := pausable(h)
		delivering(t, s, storage, first)
		s.add(pets(3)...)
		time.Sleep(2*time.Second + time.Millisecond)
		paused <- struct{}{}
		stop := deliverer(s, h, second).Start()
		time.Sleep(petstore.WebhookLease + leaseEvery)
		s.add(pets(4)...)
		time.Sleep(2 * time.Second)
		stop(t.Context())
		<-paused
		time.Sleep(10 * time.Second)
		s.add(pets(1)...)
		time.Sleep(2 * time.Second)
		expectEvents(t, second, eventIDs(4, 7))
		expectEvents(t, first, slices.Concat(eventIDs(1, 3), eventIDs(8, 8)))
	})
}

func TestAProcessThatSavesTooLateChangesNothingAndDeliversNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, first, second := newStore(), &receiver{}, &receiver{}
		h := newHooks(s, "https://a.example")
		storage, paused := pausable(h)
		first.answer = func(_ int, got sent) (int, http.Header, error) {
			time.Sleep(50 * time.Millisecond)
			if got.header.Get("webhook-id") == "evt_test_2" {
				paused <- struct{}{} // before the outcome of this attempt is saved
			}
			return 200, nil, nil
		}
		delivering(t, s, storage, first)
		time.Sleep(2*time.Second + time.Millisecond)
		s.add(pets(1)...)
		time.Sleep(time.Second)
		s.add(pets(1)...)
		delivering(t, s, h, second)
		time.Sleep(petstore.WebhookLease + leaseEvery)
		s.add(pets(3)...)
		time.Sleep(2 * time.Second)
		<-paused
		time.Sleep(time.Second)
		if w := h.only(); w.Position != 5 {
			t.Errorf("after the late save the position is %d", w.Position)
		}
		s.add(pets(2)...)
		time.Sleep(10 * time.Second)
		expectEvents(t, first, eventIDs(1, 2))
		expectEvents(t, second, eventIDs(2, 7))
		if n := len(h.logged()); n != 1+2+6 {
			t.Errorf("%d deliveries are in the log, want the ping and those of both processes", n)
		}
	})
}

func TestAStopSavesAndReleasesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newStore(), &receiver{}
		h := newHooks(s, "https://a.example")
		r.answer = func(int, sent) (int, http.Header, error) {
			time.Sleep(30 * time.Millisecond)
			return 200, nil, nil
		}
		stop := deliverer(s, h, r).Start()
		s.add(pets(200)...)
		time.Sleep(2*time.Second + time.Millisecond)
		stop(context.Background())
		got := r.events()
		if w := h.only(); w.Position != int64(len(got)) || len(got) == 0 {
			t.Errorf("%d events were delivered, and the position is %d", len(got), w.Position)
		}
		delivering(t, s, h, r)
		time.Sleep(20 * time.Second)
		expectEvents(t, r, eventIDs(1, 200))
	})
}

func TestAStopAbandonsAnAttemptThatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := newHooks(s, "https://a.example")
		post := func(ctx context.Context, _ string, _ http.Header, _ []byte) (int, http.Header, error) {
			<-ctx.Done()
			return 0, nil, ctx.Err()
		}
		stop := NewDeliverer(DelivererConfig{Follower: follow(s), Storage: h, Post: post, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}).Start()
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		stop(ctx)
		if took := time.Since(began); took < 3*time.Second || took > 4*time.Second {
			t.Errorf("the stop took %s", took)
		}
		if w := h.only(); !w.FailingSince.IsZero() || len(h.logged()) != 0 {
			t.Errorf("an abandoned attempt counts as a failure: %+v", w.WebhookProgress)
		}
	})
}

func TestBothSecretsSignForADayAfterARotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newStore(), &receiver{}
		h := newHooks(s, "https://a.example")
		delivering(t, s, h, r)
		time.Sleep(time.Second)
		old, rotated := h.only().Secret, petstore.NewWebhookSecret()
		h.change(func(w *petstore.Webhook) { *w = w.Rotate(rotated, time.Now().Add(time.Minute-24*time.Hour)) })
		for _, test := range []struct {
			wait time.Duration
			olds bool
		}{{time.Second, true}, {57 * time.Second, true}, {3 * time.Second, false}} {
			time.Sleep(test.wait)
			s.add(pets(1)...)
			time.Sleep(500 * time.Millisecond)
			got := r.requests()[len(r.requests())-1]
			signatures := strings.Fields(got.header.Get("webhook-signature"))
			if err := webhook.Verify(got.header, []byte(got.body), rotated); err != nil {
				t.Errorf("by the new secret: %v", err)
			}
			if err := webhook.Verify(got.header, []byte(got.body), old); (err == nil) != test.olds || len(signatures) != map[bool]int{true: 2, false: 1}[test.olds] {
				t.Errorf("by the old secret: %v, signatures %s", err, signatures)
			}
			got.header.Set("webhook-signature", signatures[0])
			if err := webhook.Verify(got.header, []byte(got.body), rotated); err != nil {
				t.Errorf("the newer signature is not the first: %v", err)
			}
		}
	})
}

func TestPingSendsOnePingAndSaysHowItWent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newStore(), &receiver{answer: answering(404)}
		h := newHooks(s, "https://a.example")
		d := deliverer(s, h, r)
		got := d.Ping(t.Context(), h.only())
		if got.Status != 404 || got.Error != "not_2xx" || !strings.HasPrefix(got.EventID, "ping_") || got.WebhookID != h.only().ID || len(r.requests()) != 1 {
			t.Errorf("got %+v after %d requests", got, len(r.requests()))
		}
		r.answer = func(int, sent) (int, http.Header, error) { return 0, nil, fmt.Errorf("dial: %w", egress.ErrRefused) }
		if got := d.Ping(t.Context(), h.only()); got.Error != "address_refused" || got.Status != 0 {
			t.Errorf("got %+v", got)
		}
		r.answer = answering(302)
		if got := d.Ping(t.Context(), h.only()); got.Error != "redirect_refused" {
			t.Errorf("got %+v", got)
		}
	})
}

func TestAProcessMakesABoundedNumberOfRequestsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newStore(), &receiver{}
		h := newHooks(s, "https://a.example")
		release := make(chan struct{})
		r.answer = func(int, sent) (int, http.Header, error) { <-release; return 200, nil, nil }
		d := deliverer(s, h, r)
		var pings sync.WaitGroup
		for range 100 {
			pings.Go(func() { d.Ping(t.Context(), h.only()) })
		}
		synctest.Wait()
		if n := len(r.requests()); n != 64 {
			t.Errorf("%d requests are under way", n)
		}
		close(release)
		pings.Wait()
	})
}
