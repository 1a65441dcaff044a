package petstore

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// failingWebhook returns a confirmed webhook in the middle of a feed, to which deliveries fail.
func failingWebhook() (Webhook, Feed) {
	w := NewWebhook(WebhookSettings{URL: "https://a.example/", Types: []string{"*"}, Description: "first"}, eventTime)
	w.WebhookProgress = WebhookProgress{Position: 7, Confirmed: true, FailingSince: eventTime, Failures: 3, Rejections: 2, NextAttempt: eventTime}
	return w, Feed{Name: "4f7k", Trimmed: 2, Last: 9}
}

func TestAPatchOfAWebhook(t *testing.T) {
	at := func(sequence int64) *EventPosition { return &EventPosition{"4f7k", sequence} }
	forgotten := func(position int64) WebhookProgress { return WebhookProgress{Position: position, Confirmed: true} }
	start, feed := failingWebhook()
	for name, c := range map[string]struct {
		patch  WebhookPatch
		before func(*Webhook)
		want   func(*Webhook)
	}{
		"nothing changes nothing":            {},
		"the same URL changes nothing":       {patch: WebhookPatch{URL: new("https://a.example/")}},
		"the same state changes nothing":     {patch: WebhookPatch{Enabled: new(true)}},
		"a new URL must answer a ping first": {patch: WebhookPatch{URL: new("https://b.example/")}, want: func(w *Webhook) { w.URL, w.WebhookProgress = "https://b.example/", WebhookProgress{Position: 7} }},
		"types and description": {
			patch: WebhookPatch{Types: new([]string{"pet.*"}), Description: new("")},
			want:  func(w *Webhook) { w.Types, w.Description = []string{"pet.*"}, "" },
		},
		"a disabled webhook keeps its position": {patch: WebhookPatch{Enabled: new(false)}, want: func(w *Webhook) { w.Enabled, w.WebhookProgress = false, forgotten(7) }},
		"an enabled webhook is tried at once": {
			patch:  WebhookPatch{Enabled: new(true)},
			before: func(w *Webhook) { w.Enabled, w.Reason = false, WebhookFailed },
			want:   func(w *Webhook) { w.WebhookProgress = forgotten(7) },
		},
		"a replay":                     {patch: WebhookPatch{Position: at(2)}, want: func(w *Webhook) { w.WebhookProgress = forgotten(2) }},
		"to the end":                   {patch: WebhookPatch{ToEnd: true}, want: func(w *Webhook) { w.WebhookProgress = forgotten(9) }},
		"a replay ends what it missed": {patch: WebhookPatch{Position: at(9)}, before: func(w *Webhook) { w.Reason = WebhookMissed }, want: func(w *Webhook) { w.WebhookProgress = forgotten(9) }},
		"a replay does not enable": {
			patch:  WebhookPatch{Position: at(3)},
			before: func(w *Webhook) { w.Enabled, w.Reason = false, WebhookGone },
			want:   func(w *Webhook) { w.Enabled, w.Reason, w.WebhookProgress = false, WebhookGone, forgotten(3) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := start
			if c.before != nil {
				c.before(&before)
			}
			want := start
			if c.want != nil {
				c.want(&want)
			}
			got, err := before.Patch(c.patch, feed)
			if err != nil || asText(got) != asText(want) {
				t.Errorf("got %+v, %v\nwant %+v", got, err, want)
			}
		})
	}
	for _, position := range []EventPosition{{"4f7k", 1}, {"4f7k", 10}, {"aaaa", 7}} {
		if _, err := start.Patch(WebhookPatch{Position: &position}, feed); !IsCode(err, EventsGone) {
			t.Errorf("%s was accepted in %+v: %v", position, feed, err)
		}
	}
}

func asText(w Webhook) string {
	text, _ := json.Marshal(w)
	return string(text)
}

func TestTheStatusOfAWebhook(t *testing.T) {
	for want, change := range map[WebhookStatus]func(*Webhook){
		WebhookPending:  func(w *Webhook) { w.FailingSince = eventTime },
		WebhookActive:   func(w *Webhook) { w.Confirmed = true },
		WebhookFailing:  func(w *Webhook) { w.Confirmed, w.FailingSince = true, eventTime },
		WebhookDisabled: func(w *Webhook) { w.Enabled, w.FailingSince = false, eventTime },
	} {
		w := NewWebhook(WebhookSettings{}, eventTime)
		change(&w)
		if got := w.Status(); got != want {
			t.Errorf("%+v is %s, want %s", w, got, want)
		}
	}
}

func TestTheOldSecretSignsForADay(t *testing.T) {
	w, _ := failingWebhook()
	first := w.Secret
	w = w.Rotate("whsec_new", eventTime.Add(time.Microsecond))
	if w.Secret != "whsec_new" || w.OldSecret != first || !w.OldSecretUntil.Equal(eventTime.Add(24*time.Hour)) {
		t.Errorf("after the rotation: %+v", w)
	}
}

func TestOnlyTheFirstAnsweredPingBeginsTheDeliveries(t *testing.T) {
	w, _ := failingWebhook()
	if got := w.Confirm(); asText(got) != asText(w) {
		t.Errorf("a confirmed webhook became %+v", got)
	}
	w.Confirmed = false
	if got := w.Confirm(); got.WebhookProgress != (WebhookProgress{Position: 7, Confirmed: true}) {
		t.Errorf("a pending webhook became %+v", got)
	}
}

func TestARestoredWebhookIsDisabledAtTheEnd(t *testing.T) {
	w, feed := failingWebhook()
	got := w.Restore(feed)
	if got.Enabled || got.Reason != WebhookRestored || got.WebhookProgress != (WebhookProgress{Position: 9, Confirmed: true}) {
		t.Errorf("got %+v", got)
	}
}

func TestTheJSONOfAWebhookHasNoSecret(t *testing.T) {
	w, _ := failingWebhook()
	w = w.Rotate(NewWebhookSecret(), eventTime)
	if text := asText(w); strings.Contains(text, "whsec_") {
		t.Errorf("the secret is in %s", text)
	}
}

func TestIDsOfWebhooksAndDeliveries(t *testing.T) {
	if id := NewWebhook(WebhookSettings{}, eventTime).ID; !CanBeWebhookID(id) || CanBeDeliveryID(id) {
		t.Errorf("%s is no id of a webhook", id)
	}
	earlier, later := NewDeliveryID(eventTime), NewDeliveryID(eventTime.Add(time.Millisecond))
	if !CanBeDeliveryID(earlier) || CanBeWebhookID(earlier) || earlier >= later {
		t.Errorf("the ids %s and %s", earlier, later)
	}
	for _, id := range []string{"", "wh_", "dlv_", "wh_" + strings.Repeat("A", 24), "dlv_" + strings.Repeat("a", 23), "dlv_" + strings.Repeat("a", 25)} {
		if CanBeWebhookID(id) || CanBeDeliveryID(id) {
			t.Errorf("%q can be an id", id)
		}
	}
}

func TestTypesOfAWebhook(t *testing.T) {
	for _, good := range [][]string{{"*"}, {"pet.created", "order.*"}} {
		if problem := CheckWebhookTypes(good); problem != "" {
			t.Errorf("%q %s", good, problem)
		}
	}
	for _, bad := range [][]string{nil, {}, {""}, {"pet"}, {"pet.*", "pet.*"}, {"pet.created", "Pet.created"}, {"p*"}} {
		if CheckWebhookTypes(bad) == "" {
			t.Errorf("%q are types", bad)
		}
	}
}
