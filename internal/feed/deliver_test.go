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

// hooks stores webhooks in memory.
type hooks struct {
	mu         sync.Mutex
	all        map[string]*storedHook
	deliveries []petstore.Delivery
	failure    error // what every call returns, if not nil
	leases     int
}

type storedHook struct {
	petstore.Webhook
	holder string
	until  time.Time
}

func newHooks(s *store, urls ...string) *hooks {
	h := &hooks{all: make(map[string]*storedHook)}
	for _, url := range urls {
		w := petstore.NewWebhook(petstore.WebhookSettings{URL: url, Types: []string{"*"}}, time.Now())
		w.Feed, w.Position = s.feed.Name, s.feed.Last
		h.all[w.ID] = &storedHook{Webhook: w}
	}
	return h
}

// only returns the only webhook.
func (h *hooks) only() petstore.Webhook {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.all {
		return w.Webhook
	}
	panic("there is none")
}

// change makes a change by an administrator to all webhooks.
func (h *hooks) change(change func(*petstore.Webhook)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.all {
		change(&w.Webhook)
		w.Version++
	}
}

func (h *hooks) fail(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failure = err
}

func (h *hooks) LeaseWebhooks(_ context.Context, holder string) (held []petstore.Webhook, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leases++
	for _, w := range h.all {
		if w.holder == holder || !time.Now().Before(w.until) {
			w.holder, w.until = holder, time.Now().Add(petstore.WebhookLease)
			held = append(held, w.Webhook)
		}
	}
	return held, h.failure
}

func (h *hooks) WebhookVersions(context.Context) (map[string]int64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	versions := make(map[string]int64)
	for id, w := range h.all {
		versions[id] = w.Version
	}
	return versions, h.failure
}

func (h *hooks) ReleaseWebhooks(_ context.Context, holder string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.all {
		if w.holder == holder {
			w.holder, w.until = "", time.Time{}
		}
	}
	return h.failure
}

func (h *hooks) SaveAttempts(_ context.Context, holder string, attempts []petstore.WebhookAttempts) (refused []string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failure != nil {
		return nil, h.failure
	}
	for _, a := range attempts {
		h.deliveries = append(h.deliveries, a.Deliveries...)
		w := h.all[a.ID]
		if w == nil || w.holder != holder || w.Version != a.Version {
			refused = append(refused, a.ID)
			continue
		}
		w.WebhookProgress = a.Progress
		if a.Missed {
			w.Reason = petstore.WebhookMissed
		}
		if a.Disabled != "" {
			w.Enabled, w.Reason = false, a.Disabled
		}
	}
	return refused, nil
}

func (h *hooks) PurgeDeliveries(context.Context) error { return nil }

// sent is a request to a receiver.
type sent struct {
	at     time.Time
	url    string
	header http.Header
	body   string
}

// receiver records requests, and answers them with what answer returns.
type receiver struct {
	mu     sync.Mutex
	got    []sent
	answer func(n int, s sent) (status int, header http.Header, err error)
}

func (r *receiver) post(_ context.Context, url string, header http.Header, body []byte) (int, http.Header, error) {
	r.mu.Lock()
	s := sent{time.Now(), url, header, string(body)}
	r.got = append(r.got, s)
	n := len(r.got)
	r.mu.Unlock()
	if r.answer == nil {
		return http.StatusNoContent, nil, nil
	}
	return r.answer(n, s)
}

func (r *receiver) requests() []sent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// events returns the ids of the events that were received, without pings.
func (r *receiver) events() (ids []string) {
	for _, s := range r.requests() {
		if id := s.header.Get(webhook.IDHeader); !strings.HasPrefix(id, "ping_") {
			ids = append(ids, id)
		}
	}
	return ids
}

func eventIDs(first, last int) (ids []string) {
	for i := first; i <= last; i++ {
		ids = append(ids, fmt.Sprintf("evt_test_%d", i))
	}
	return ids
}

func deliverer(s *store, h petstore.WebhookDelivering, r *receiver) *Deliverer {
	return NewDeliverer(DelivererConfig{Follower: follow(s), Storage: h, Post: r.post, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
}

// delivering delivers until the end of the test.
func delivering(t *testing.T, s *store, h petstore.WebhookDelivering, r *receiver) *Deliverer {
	t.Helper()
	d := deliverer(s, h, r)
	stop := d.Start()
	t.Cleanup(func() { stop(context.Background()) })
	return d
}

func answering(status int, header ...string) func(int, sent) (int, http.Header, error) {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return func(int, sent) (int, http.Header, error) { return status, h, nil }
}

func expectEvents(t *testing.T, r *receiver, want []string) {
	t.Helper()
	if got := r.events(); !slices.Equal(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEventsAreDeliveredInOrderAfterAPing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newStore(), &receiver{}
		h := newHooks(s, "https://a.example")
		delivering(t, s, h, r)
		time.Sleep(2 * time.Second)
		s.add(pets(250)...)
		time.Sleep(10 * time.Second)
		expectEvents(t, r, eventIDs(1, 250))
		stored := h.only()
		if !stored.Confirmed || stored.Position != 250 || stored.Status() != petstore.WebhookActive {
			t.Errorf("stored: %+v", stored.WebhookProgress)
		}
		ping, event := r.requests()[0], r.requests()[1]
		for _, s := range []sent{ping, event} {
			if err := webhook.Verify(s.header, []byte(s.body), stored.Secret); err != nil {
				// Verify uses the clock of the test, so the time is right, too.
				t.Errorf("the signature of %s is wrong: %v", s.body, err)
			}
		}
		if !strings.Contains(ping.body, `"type":"webhook.ping"`) || !strings.Contains(ping.body, `"data":{"webhookId":"`+stored.ID+`"}`) ||
			!strings.Contains(ping.body, `{"id":"`+ping.header.Get("webhook-id")+`"`) {
			t.Errorf("the ping is %s", ping.body)
		}
		if event.body != encode("test", petstore.Event{Sequence: 1, Type: petstore.PetCreated, Pet: &petstore.Changed[petstore.Pet]{Now: petstore.Pet{NewPet: petstore.NewPet{Name: "Rex"}}}}, true) {
			t.Errorf("the event is %s", event.body)
		}
		if len(h.deliveries) != 251 || h.deliveries[1].EventID != "evt_test_1" || h.deliveries[1].Status != 204 || h.deliveries[1].Error != "" {
			t.Errorf("%d deliveries are stored", len(h.deliveries))
		}
	})
}

func TestNothingIsWrittenWithoutWebhooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		h := newHooks(s)
		delivering(t, s, h, &receiver{})
		s.add(pets(3)...)
		time.Sleep(time.Minute)
		if h.leases != 0 || s.reads.Load() != 0 {
			t.Errorf("%d calls for leases, %d reads of the feed", h.leases, s.reads.Load())
		}
	})
}

func TestFailuresAreRepeatedByTheScheduleUntilTheWebhookIsDisabled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newStore(), &receiver{}
		h := newHooks(s, "https://a.example")
		h.change(func(w *petstore.Webhook) { w.Confirmed = true })
		r.answer = func(n int, _ sent) (int, http.Header, error) {
			if n%2 == 0 {
				return 500, nil, nil
			}
			return 0, nil, errors.New("away")
		}
		delivering(t, s, h, r)
		s.add(pets(3)...)
		time.Sleep(5 * time.Hour)
		got := r.requests()
		schedule := []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour}
		for i := 1; i < len(got); i++ {
			wait, want := got[i].at.Sub(got[i-1].at), schedule[min(i, len(schedule))-1]
			if wait < want || wait > want*12/10+time.Second {
				t.Errorf("attempt %d came after %s, want %s", i+1, wait, want)
			}
		}
		if w := h.only(); !w.Enabled || !w.FailingSince.Equal(got[0].at.Truncate(time.Millisecond)) {
			t.Errorf("after 5 hours: %+v", w)
		}
		// Another one and a half hours later, it has failed for 72 hours.
		h.change(func(w *petstore.Webhook) { w.FailingSince = time.Now().Add(90*time.Minute - 72*time.Hour) })
		time.Sleep(80 * time.Minute)
		if !h.only().Enabled {
			t.Error("the webhook is disabled too early")
		}
		time.Sleep(3 * time.Hour)
		got = r.requests()
		if w := h.only(); w.Enabled || w.Reason != petstore.WebhookFailed || w.Position != 0 || time.Since(got[len(got)-1].at) < 90*time.Minute {
			t.Errorf("after 72 hours: %+v", w)
		}
		if ids := slices.Compact(r.events()); !slices.Equal(ids, eventIDs(1, 1)) {
			t.Errorf("got %s", ids)
		}
		for i, d := range h.deliveries {
			if want := []string{"not_2xx", "no_answer"}[(i+1)%2]; d.Error != want {
				t.Errorf("the error of attempt %d is %q, want %q", i+1, d.Error, want)
			}
		}
		r.answer = nil
		before := len(got)
		h.change(func(w *petstore.Webhook) { *w, _ = w.Patch(petstore.WebhookPatch{Enabled: new(true)}, petstore.Feed{}) })
		time.Sleep(2 * time.Second)
		if ids := r.events()[before:]; !slices.Equal(ids, eventIDs(1, 3)) {
			t.Errorf("enabled again, got %s", ids)
		}
	})
}

func TestASuccessEndsTheFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newStore(), &receiver{}
		h := newHooks(s, "https://a.example")
		h.change(func(w *petstore.Webhook) { w.Confirmed = true })
		r.answer = func(n int, _ sent) (int, http.Header, error) {
			if n == 3 {
				return 202, nil, nil
			}
			return 503, nil, nil
		}
		delivering(t, s, h, r)
		s.add(pets(2)...)
		time.Sleep(10 * time.Second)
		if w := h.only(); w.Status() != petstore.WebhookFailing || w.Failures != 2 {
			t.Errorf("after two failures: %s, %+v", w.Status(), w.WebhookProgress)
		}
		for len(r.requests()) < 4 { // the third attempt, and the first one for the next event
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Second)
		if w := h.only(); w.Position != 1 || w.Failures != 1 {
			t.Errorf("after a success: %+v", w.WebhookProgress)
		}
		time.Sleep(6 * time.Second)
		if got := r.requests(); len(got) != 5 || got[4].at.Sub(got[3].at) > 7*time.Second {
			t.Errorf("the schedule did not begin anew: %d attempts", len(got))
		}
	})
}

func TestRetryAfterTakesThePlaceOfTheWait(t *testing.T) {
	for value, want := range map[string][2]time.Duration{
		"7":                             {7 * time.Second, 7 * time.Second},
		"90":                            {90 * time.Second, 90 * time.Second},
		"0":                             {time.Second, time.Second},
		"86400":                         {time.Hour, time.Hour},
		"Sat, 01 Jan 2000 00:00:00 GMT": {time.Second, time.Second},
		"Sat, 01 Jan 2000 00:10:00 GMT": {10*time.Minute - time.Second, 10 * time.Minute},
		"soon":                          {5 * time.Second, 6 * time.Second},
		"-1":                            {5 * time.Second, 6 * time.Second},
		"":                              {5 * time.Second, 6 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			if value == "Sat, 01 Jan 2000 00:00:00 GMT" {
				time.Sleep(time.Minute)
			}
			s, r := newStore(), &receiver{answer: answering(429, "Retry-After", value)}
			h := newHooks(s, "https://a.example")
			delivering(t, s, h, r)
			time.Sleep(want[1] + 2*time.Second)
			got := r.requests()
			if wait := got[1].at.Sub(got[0].at); wait < want[0] || wait > want[1]+5*time.Millisecond {
				t.Errorf("%q: waited %s, want %s", value, wait, want)
			}
		})
	}
}

func TestGoneDisablesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newStore(), &receiver{answer: answering(http.StatusGone)}
		h := newHooks(s, "https://a.example")
		delivering(t, s, h, r)
		time.Sleep(time.Hour)
		if w := h.only(); w.Enabled || w.Reason != petstore.WebhookGone || len(r.requests()) != 1 {
			t.Errorf("after %d requests: %+v", len(r.requests()), w)
		}
	})
}

func TestARefusedEventIsSkippedAfterFiveAttempts(t *testing.T) {
	for _, status := range []int{400, 409, 413, 422} {
		synctest.Test(t, func(t *testing.T) {
			s, r := newStore(), &receiver{}
			h := newHooks(s, "https://a.example")
			r.answer = func(n int, s sent) (int, http.Header, error) {
				if s.header.Get("webhook-id") != "evt_test_2" {
					return 200, nil, nil
				}
				if n == 4 { // counts as a failure, not as a refusal
					return 500, nil, nil
				}
				return status, nil, nil
			}
			delivering(t, s, h, r)
			s.add(pets(3)...)
			time.Sleep(time.Hour)
			expectEvents(t, r, slices.Concat(eventIDs(1, 1), slices.Repeat(eventIDs(2, 2), 6), eventIDs(3, 3)))
			var skipped []petstore.Delivery
			for _, d := range h.deliveries {
				if d.Skipped {
					skipped = append(skipped, d)
				}
			}
			if w := h.only(); w.Position != 3 || w.Status() != petstore.WebhookActive || len(skipped) != 1 || skipped[0].Status != status {
				t.Errorf("%d: %+v, skipped %+v", status, w.WebhookProgress, skipped)
			}
		})
	}
}

func TestARefusedPingIsNotSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newStore(), &receiver{answer: answering(400)}
		h := newHooks(s, "https://a.example")
		delivering(t, s, h, r)
		s.add(pets(1)...)
		time.Sleep(6 * time.Hour)
		got := r.requests()
		if len(got) < 10 || len(r.events()) != 0 || h.only().Confirmed {
			t.Errorf("%d requests, events %s", len(got), r.events())
		}
		if got[0].header.Get("webhook-id") != got[9].header.Get("webhook-id") {
			t.Error("a repeated ping has another id")
		}
	})
}

func TestAWebhookBehindWhatIsKeptGoesOnAtTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newStore(), &receiver{}
		h := newHooks(s, "https://a.example")
		h.change(func(w *petstore.Webhook) { w.Confirmed = true })
		s.add(pets(10)...)
		s.mu.Lock()
		s.feed.Trimmed = 6
		s.mu.Unlock()
		delivering(t, s, h, r)
		time.Sleep(5 * time.Second)
		expectEvents(t, r, eventIDs(7, 10))
		if w := h.only(); w.Reason != petstore.WebhookMissed || !w.Enabled || w.Position != 10 {
			t.Errorf("stored: %+v", w)
		}
	})
}

func TestTheTypesOfAWebhookSelectAndThePositionMovesPastOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newStore(), &receiver{}
		h := newHooks(s, "https://a.example")
		h.change(func(w *petstore.Webhook) { w.Types = []string{"order.*"} })
		delivering(t, s, h, r)
		s.add(slices.Concat(pets(5), []petstore.Event{order("Ann")}, pets(5))...)
		time.Sleep(time.Second)
		expectEvents(t, r, eventIDs(6, 6))
		time.Sleep(11 * time.Second)
		if w := h.only(); w.Position != 11 {
			t.Errorf("the position is %d", w.Position)
		}
	})
}

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
		killable := &failing{hooks: h}
		delivering(t, s, killable, first)
		time.Sleep(3 * time.Second)
		delivering(t, s, h, second)
		s.add(pets(1000)...)
		time.Sleep(10 * time.Second)
		mu.Lock()
		dead = h
		killable.dead.Store(true)
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
		if w := h.only(); !w.FailingSince.IsZero() || len(h.deliveries) != 0 {
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

// failing is a storage that a killed process no longer reaches.
type failing struct {
	*hooks
	dead atomic.Bool
}

func (f *failing) err() error {
	if f.dead.Load() {
		return errors.New("killed")
	}
	return nil
}

func (f *failing) LeaseWebhooks(ctx context.Context, holder string) ([]petstore.Webhook, error) {
	if err := f.err(); err != nil {
		return nil, err
	}
	return f.hooks.LeaseWebhooks(ctx, holder)
}

func (f *failing) WebhookVersions(ctx context.Context) (map[string]int64, error) {
	if err := f.err(); err != nil {
		return nil, err
	}
	return f.hooks.WebhookVersions(ctx)
}

func (f *failing) ReleaseWebhooks(ctx context.Context, holder string) error {
	if err := f.err(); err != nil {
		return err
	}
	return f.hooks.ReleaseWebhooks(ctx, holder)
}

func (f *failing) SaveAttempts(ctx context.Context, holder string, attempts []petstore.WebhookAttempts) ([]string, error) {
	if err := f.err(); err != nil {
		return nil, err
	}
	return f.hooks.SaveAttempts(ctx, holder, attempts)
}
