package conformance

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"petstore/internal/petstore"
)

// newWebhook returns a webhook for these types that is not stored yet.
func newWebhook(types ...string) petstore.Webhook {
	return petstore.NewWebhook(petstore.WebhookSettings{URL: "https://hooks.example/a?b=c", Types: types, Description: "the 'desk' 🐾"}, epoch)
}

func (t storageTest) addWebhook(types ...string) petstore.Webhook {
	t.Helper()
	made, err := t.CreateWebhook(t.Context(), newWebhook(types...), nil)
	t.noError(err)
	return made
}

func (t storageTest) webhook(id string) petstore.Webhook {
	t.Helper()
	w, err := t.GetWebhook(t.Context(), id)
	t.noError(err)
	return w
}

func (t storageTest) webhooks() []petstore.Webhook {
	t.Helper()
	webhooks, err := t.ListWebhooks(t.Context(), petstore.WebhookQuery{Limit: 100})
	t.noError(err)
	return webhooks
}

func (t storageTest) patchWebhook(id string, patch petstore.WebhookPatch) petstore.Webhook {
	t.Helper()
	changed, replayed, err := t.UpdateWebhook(t.Context(), id, patch, nil)
	t.noError(err)
	t.same("replayed", replayed, false)
	return changed
}

// endOfFeed returns the feed with every event that was acknowledged.
func (t storageTest) endOfFeed() petstore.Feed {
	t.Helper()
	page, err := t.ListEvents(t.Context(), petstore.EventQuery{FromEnd: true, Limit: 1})
	t.noError(err)
	return page.Feed
}

var webhookCases = []storageCase{
	{"a webhook is stored as it was given, at the end of the feed", func(t storageTest) {
		t.same("webhooks before the first", len(t.webhooks()), 0)
		t.addMany(3)
		feed := t.endOfFeed()
		given := newWebhook("pet.*", "order.placed")
		made, err := t.CreateWebhook(t.Context(), given, nil)
		t.noError(err)
		given.Position, given.Feed = feed.Last, feed.Name
		t.same("made", made, given)
		t.same("got", t.webhook(made.ID), given)
		t.same("listed", t.webhooks(), []petstore.Webhook{given})
		t.same("its place", made.At(), petstore.EventPosition{Feed: feed.Name, Sequence: 3})
	}},
	{"webhooks are listed newest first, page by page", func(t storageTest) {
		var want []petstore.Webhook
		for i := range 7 {
			w := newWebhook("*")
			w.CreatedAt = epoch.Add(time.Duration(i/2) * time.Millisecond) // some at the same time
			_, err := t.CreateWebhook(t.Context(), w, nil)
			t.noError(err)
		}
		want = t.webhooks()
		for i, w := range want[1:] {
			before := want[i]
			if before.CreatedAt.Before(w.CreatedAt) || before.CreatedAt.Equal(w.CreatedAt) && before.ID < w.ID {
				t.Fatalf("%s of %s comes before %s of %s", before.ID, before.CreatedAt, w.ID, w.CreatedAt)
			}
		}
		var walked []petstore.Webhook
		for q := (petstore.WebhookQuery{Limit: 3}); ; {
			page, err := t.ListWebhooks(t.Context(), q)
			t.noError(err)
			if len(page) == 0 {
				break
			}
			walked = append(walked, page...)
			last := page[len(page)-1]
			q.After = petstore.KeyPlace{CreatedAt: last.CreatedAt, ID: last.ID}
		}
		t.same("walked", walked, want)
	}},
	{"of 25 webhooks that are made at once, 20 are stored", func(t storageTest) {
		var made atomic.Int64
		t.concurrently(25, func(int) error {
			_, err := t.CreateWebhook(t.Context(), newWebhook("*"), nil)
			if err == nil {
				made.Add(1)
				return nil
			}
			return checkRefusal(err, petstore.TooManyWebhooks)
		})
		t.same("made", made.Load(), int64(petstore.MaxWebhooks))
		webhooks := t.webhooks()
		t.same("stored", len(webhooks), petstore.MaxWebhooks)
		t.noError(errorOf(t.DeleteWebhook(t.Context(), webhooks[0].ID, nil)))
		t.addWebhook("*")
	}},
	{"a patch changes what it names, and every change has a version", func(t storageTest) {
		w := t.addWebhook("*")
		t.addMany(2)
		want := w.WithoutSecrets()
		want.URL, want.Types, want.Description = "https://b.example/", []string{"category.*", "pet.deleted"}, ""
		want.Version = w.Version + 1
		got := t.patchWebhook(w.ID, petstore.WebhookPatch{URL: new("https://b.example/"), Types: new([]string{"category.*", "pet.deleted"}), Description: new("")})
		t.same("changed", got, want)
		t.same("stored", t.webhook(w.ID).WithoutSecrets(), want)
		t.same("its secret", t.webhook(w.ID).Secret, w.Secret)

		want.Enabled, want.Version = false, want.Version+1
		t.same("disabled", t.patchWebhook(w.ID, petstore.WebhookPatch{Enabled: new(false)}), want)
		want.Position, want.Version = t.endOfFeed().Last, want.Version+1
		t.same("moved", t.patchWebhook(w.ID, petstore.WebhookPatch{ToEnd: true}), want)
		want.Position, want.Version = 1, want.Version+1
		t.same("moved back", t.patchWebhook(w.ID, petstore.WebhookPatch{Position: &petstore.EventPosition{Feed: want.Feed, Sequence: 1}}), want)
	}},
	{"a patch to a place that the feed does not have changes nothing", func(t storageTest) {
		w := t.addWebhook("*")
		for _, place := range []petstore.EventPosition{{Feed: w.Feed, Sequence: 1}, {Feed: "-", Sequence: 0}} {
			_, _, err := t.UpdateWebhook(t.Context(), w.ID, petstore.WebhookPatch{URL: new("https://b.example/"), Position: &place}, nil)
			t.refused(err, petstore.EventsGone)
		}
		t.same("stored", t.webhook(w.ID), w)
	}},
	{"there is nothing to do with a webhook that does not exist", func(t storageTest) {
		bystander := t.addWebhook("*")
		id := newWebhook("*").ID
		_, err := t.GetWebhook(t.Context(), id)
		t.refused(err, petstore.NotFound)
		t.refused(writeError(t.UpdateWebhook(t.Context(), id, petstore.WebhookPatch{}, nil)), petstore.NotFound)
		t.refused(errorOf(t.DeleteWebhook(t.Context(), id, nil)), petstore.NotFound)
		_, err = t.RotateWebhook(t.Context(), id, "whsec_a", epoch, nil)
		t.refused(err, petstore.NotFound)
		_, err = t.ListDeliveries(t.Context(), petstore.DeliveryQuery{WebhookID: id, Limit: 1})
		t.refused(err, petstore.NotFound)
		t.noError(t.RecordPing(t.Context(), petstore.Webhook{ID: id}, delivery(id, epoch)))
		t.same("webhooks", t.webhooks(), []petstore.Webhook{bystander})
	}},
	{"after a rotation both secrets are there", func(t storageTest) {
		w := t.addWebhook("*")
		rotated, err := t.RotateWebhook(t.Context(), w.ID, "whsec_new", epoch, nil)
		t.noError(err)
		w.OldSecret, w.OldSecretUntil, w.Secret, w.Version = w.Secret, epoch.Add(petstore.WebhookSecretOverlap), "whsec_new", w.Version+1
		t.same("rotated", rotated, w)
		t.same("stored", t.webhook(w.ID), w)
	}},
	{"a repeat of a create or of a rotation names the webhook and shows no secret", func(t storageTest) {
		named := func(err error, id string) {
			t.Helper()
			t.refused(err, petstore.SecretShown)
			if e, _ := errors.AsType[*petstore.Error](err); e.Webhook != id {
				t.Fatalf("the refusal names %q, want %s", e.Webhook, id)
			}
		}
		w, err := t.CreateWebhook(t.Context(), newWebhook("*"), idempotency("k", 1))
		t.noError(err)
		_, err = t.CreateWebhook(t.Context(), newWebhook("*"), idempotency("k", 1))
		named(err, w.ID)
		_, err = t.CreateWebhook(t.Context(), newWebhook("*"), idempotency("k", 2))
		t.refused(err, petstore.IdempotencyConflict)
		rotated, err := t.RotateWebhook(t.Context(), w.ID, "whsec_new", epoch, idempotency("r", 1))
		t.noError(err)
		_, err = t.RotateWebhook(t.Context(), w.ID, "whsec_newer", epoch, idempotency("r", 1))
		named(err, w.ID)
		t.same("webhooks", t.webhooks(), []petstore.Webhook{rotated})
	}},
	{"no idempotency record contains a secret", func(t storageTest) {
		w, err := t.CreateWebhook(t.Context(), newWebhook("*"), idempotency("create", 1))
		t.noError(err)
		rotated, err := t.RotateWebhook(t.Context(), w.ID, petstore.NewWebhookSecret(), epoch, idempotency("rotate", 1))
		t.noError(err)
		t.noError(writeError(t.UpdateWebhook(t.Context(), w.ID, petstore.WebhookPatch{ToEnd: true}, idempotency("update", 1))))
		records, err := t.StoredIdempotency(t.Context(), petstore.StoredIdempotency{}, 10)
		t.noError(err)
		t.same("records", len(records), 3)
		text := fmt.Sprint(records)
		for _, secret := range []string{w.Secret, rotated.Secret, "whsec_"} {
			t.same("the secret is in the records", strings.Contains(text, secret), false)
		}
	}},
	{"how far a webhook is behind is exact, whatever its types", func(t storageTest) {
		every, orders, none := t.addWebhook("*"), t.addWebhook("order.*", "pet.deleted"), t.addWebhook("category.created")
		behind := func(want ...int64) {
			t.Helper()
			for i, w := range []petstore.Webhook{every, orders, none} {
				t.same("behind", t.webhook(w.ID).Behind, want[i])
			}
		}
		behind(0, 0, 0)
		pet := t.add(rex)
		order := t.place(pet.ID) // two events: the order's and its animal's
		behind(3, 1, 0)
		_, _, err := t.CloseOrder(t.Context(), order.ID, petstore.Cancelled, nil)
		t.noError(err)
		t.noError(errorOf(t.DeletePet(t.Context(), pet.ID, nil)))
		behind(6, 3, 0)
		listed := make(map[string]int64)
		for _, w := range t.webhooks() {
			listed[w.ID] = w.Behind
		}
		t.same("listed", listed, map[string]int64{every.ID: 6, orders.ID: 3, none.ID: 0})
		changed := t.patchWebhook(orders.ID, petstore.WebhookPatch{Types: new([]string{"pet.*"})})
		t.same("behind in the answer to a change", changed.Behind, int64(4))
		changed = t.patchWebhook(orders.ID, petstore.WebhookPatch{Position: &petstore.EventPosition{Feed: changed.Feed, Sequence: 4}})
		t.same("behind from another place", changed.Behind, int64(2))
	}},
	{"how far a webhook is behind is exact across many events, counted or not, trimmed or not", func(t storageTest) {
		creates, orders := t.addWebhook("pet.created"), t.addWebhook("order.placed")
		behind := func(wantCreates, wantOrders int64) {
			t.Helper()
			t.same("creates behind", t.webhook(creates.ID).Behind, wantCreates)
			t.same("orders behind", t.webhook(orders.ID).Behind, wantOrders)
		}
		pet := t.add(rex)
		var total, placed int64 = 1, 0
		for range 3 {
			t.addPetsOnce(manyPets(5000), nil, false)
			_, _, err := t.CloseOrder(t.Context(), t.place(pet.ID).ID, petstore.Cancelled, nil)
			t.noError(err)
			total, placed = total+5000, placed+1
			behind(total, placed)
			t.concurrently(3, func(int) error { return t.CountEvents(t.Context()) })
			behind(total, placed)
		}
		t.patchWebhook(creates.ID, petstore.WebhookPatch{Position: &petstore.EventPosition{Feed: creates.Feed, Sequence: 5000 + 1 + 4 + 100}})
		behind(2*5000-100, placed)
		for removed := int64(1); removed > 0; {
			var err error
			removed, err = t.TrimEvents(t.Context(), petstore.EventsKept{Age: time.Hour, Bytes: 200_000})
			t.noError(err)
		}
		feed := t.endOfFeed()
		if feed.Trimmed < 5100 || feed.Trimmed > 15_000 {
			t.Fatalf("the feed was trimmed to %+v", feed)
		}
		var kept [2]int64
		for q := (petstore.EventQuery{Limit: 1000}); ; {
			page, err := t.ListEvents(t.Context(), q)
			t.noError(err)
			for _, e := range page.Events {
				switch e.Type {
				case petstore.PetCreated:
					kept[0]++
				case petstore.OrderPlaced:
					kept[1]++
				}
			}
			if q.After = &page.Next; page.End {
				break
			}
		}
		behind(kept[0], kept[1])
		t.addPetsOnce(manyPets(5000), nil, false)
		t.noError(t.CountEvents(t.Context()))
		behind(kept[0]+5000, kept[1])
	}},
	{"a reset of the feed disables webhooks and moves them to its end", func(t storageTest) {
		w := t.addWebhook("*")
		t.addMany(3)
		before := t.endOfFeed()
		t.noError(t.ResetFeed(t.Context()))
		feed := t.endOfFeed()
		got := t.webhook(w.ID)
		want := w
		want.Enabled, want.Reason, want.Position, want.Feed, want.Version = false, petstore.WebhookRestored, before.Last, feed.Name, w.Version+1
		t.same("restored", got, want)
		t.same("status", got.Status(), petstore.WebhookDisabled)
		if feed.Name == before.Name {
			t.Fatal("the feed has the same name as before")
		}
	}},
	{"an answered ping confirms a webhook that nobody has changed since", func(t storageTest) {
		w := t.addWebhook("*")
		failed := delivery(w.ID, time.Now())
		failed.Error = "timeout"
		t.noError(t.RecordPing(t.Context(), w, failed))
		t.same("after a failure", t.webhook(w.ID), w)

		t.patchWebhook(w.ID, petstore.WebhookPatch{URL: new("https://b.example/")})
		t.noError(t.RecordPing(t.Context(), w, delivery(w.ID, time.Now())))
		t.same("after an answer of the old URL", t.webhook(w.ID).Confirmed, false)

		w = t.webhook(w.ID)
		t.noError(t.RecordPing(t.Context(), w, delivery(w.ID, time.Now())))
		got := t.webhook(w.ID)
		t.same("after an answer", got.Status(), petstore.WebhookActive)
		if got.Version == w.Version {
			t.Fatal("an attempt that is under way may undo the confirmation")
		}
		t.same("deliveries", len(t.deliveries(w.ID)), 3)
	}},
}
