package feed

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"petstore/client/webhook"
	"petstore/internal/petstore"
)

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
		if log := h.logged(); len(log) != 251 || log[1].EventID != "evt_test_1" || log[1].Status != 204 || log[1].Error != "" {
			t.Errorf("%d deliveries are stored", len(log))
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
		for i, d := range h.logged() {
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
		r.answer = nil
		h.change(func(w *petstore.Webhook) { *w, _ = w.Patch(petstore.WebhookPatch{Enabled: new(true)}, petstore.Feed{}) })
		s.add(pets(2)...)
		time.Sleep(10 * time.Second)
		expectEvents(t, r, eventIDs(1, 2))
		if w := h.only(); !w.Enabled || w.Position != 2 {
			t.Errorf("enabled again: %+v", w)
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
			for _, d := range h.logged() {
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

func TestEachRefusedEventIsTriedFiveTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newStore(), &receiver{answer: answering(422)}
		h := newHooks(s, "https://a.example")
		h.change(func(w *petstore.Webhook) { w.Confirmed = true })
		delivering(t, s, h, r)
		s.add(pets(2)...)
		time.Sleep(3 * time.Hour)
		expectEvents(t, r, slices.Concat(slices.Repeat(eventIDs(1, 1), 5), slices.Repeat(eventIDs(2, 2), 5)))
	})
}

func TestAWebhookHasNotFailedSinceATimeInTheFuture(t *testing.T) {
	now := time.Now()
	before := petstore.WebhookProgress{FailingSince: now.Add(24 * time.Hour)} // the clock was set back
	if got := settle(before, attempt{at: now, reason: "timeout"}, now).progress.FailingSince; got.After(now) {
		t.Errorf("it has failed since %s, and now is %s", got, now)
	}
}

func TestAPingDoesNotMoveThePosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newStore(), &receiver{}
		s.add(pets(5)...)
		h := newHooks(s, "https://a.example")
		delivering(t, s, h, r)
		time.Sleep(time.Second)
		s.add(pets(1)...)
		time.Sleep(time.Second)
		expectEvents(t, r, eventIDs(6, 6))
	})
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
