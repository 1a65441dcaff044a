package feed

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"petstore/internal/petstore"
)

func TestADeletedWebhookIsLeftAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newStore(), &receiver{}
		h := newHooks(s, "https://a.example")
		delivering(t, s, h, r)
		s.add(pets(1)...)
		time.Sleep(2 * time.Second)
		h.mu.Lock()
		clear(h.all)
		h.mu.Unlock()
		time.Sleep(time.Second)
		s.add(pets(1)...)
		time.Sleep(time.Minute)
		expectEvents(t, r, eventIDs(1, 1))
	})
}

// A turn is over when the webhook is replaced by what is stored, for example because an administrator has changed it.
func TestATurnThatIsOverDoesNothing(t *testing.T) {
	r := &receiver{}
	d := deliverer(newStore(), newHooks(newStore()), r)
	d.refreshed = time.Now()
	w := &worker{d: d, hook: petstore.Webhook{Enabled: true, WebhookProgress: petstore.WebhookProgress{Position: 7}}, epoch: 2}
	over := turn{hook: w.hook, epoch: 1, ctx: t.Context()}
	w.try(over, message{id: "evt_test_8", position: 8})
	w.moveTo(over, petstore.EventPosition{Feed: "test", Sequence: 9}, true)
	if len(r.requests()) != 0 || w.hook.Position != 7 || w.missed || !w.isSaved() {
		t.Errorf("%d attempts, position %d, missed: %t, saved: %t", len(r.requests()), w.hook.Position, w.missed, w.isSaved())
	}
	w.try(turn{hook: w.hook, epoch: 2, ctx: t.Context()}, message{id: "evt_test_8", position: 8})
	if len(r.requests()) != 1 || w.hook.Position != 8 || w.isSaved() {
		t.Errorf("in the next turn: %d attempts, position %d, saved: %t", len(r.requests()), w.hook.Position, w.isSaved())
	}
}

func TestAChangeDuringASaveIsNotSaved(t *testing.T) {
	w := &worker{}
	w.change()
	w.saving = w.changes
	w.change()
	w.saved(petstore.WebhookAttempts{}, time.Now())
	if w.isSaved() || w.unsavedSince.IsZero() {
		t.Error("a change that came after the save had begun counts as saved")
	}
	w.saving = w.changes
	w.saved(petstore.WebhookAttempts{}, time.Now())
	if !w.isSaved() || !w.unsavedSince.IsZero() {
		t.Error("a change that was saved does not count as saved")
	}
}

// slowVersions is a storage that takes long to send an answer.
type slowVersions struct{ *hooks }

func (h slowVersions) WebhookVersions(ctx context.Context) (map[string]int64, error) {
	versions, err := h.hooks.WebhookVersions(ctx)
	time.Sleep(800 * time.Millisecond)
	return versions, err
}

func TestALookIsAsOldAsItsBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		d := deliverer(s, slowVersions{newHooks(s)}, &receiver{})
		if err := d.refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if age := time.Since(d.refreshed); age != 800*time.Millisecond {
			t.Errorf("the look counts as %s old", age)
		}
	})
}
