package conformance

import (
	"fmt"
	"slices"
	"time"

	"petstore/internal/petstore"
)

// delivery returns a successful delivery at that time.
func delivery(webhookID string, at time.Time) petstore.Delivery {
	at = at.UTC().Truncate(time.Millisecond)
	return petstore.Delivery{
		ID: petstore.NewDeliveryID(at), WebhookID: webhookID, EventID: "evt_4f7k_12", At: at, Status: 204, Took: 1234 * time.Millisecond,
	}
}

func (t storageTest) deliveries(webhookID string) []petstore.Delivery {
	t.Helper()
	all, err := t.ListDeliveries(t.Context(), petstore.DeliveryQuery{WebhookID: webhookID, Limit: 10_000})
	t.noError(err)
	return all
}

// lease returns the webhooks that the holder holds.
func (t storageTest) lease(holder string) []petstore.Webhook {
	t.Helper()
	held, err := t.LeaseWebhooks(t.Context(), holder)
	t.noError(err)
	return held
}

// save stores the outcome of attempts and returns which webhooks were refused.
func (t storageTest) save(holder string, attempts ...petstore.WebhookAttempts) []string {
	t.Helper()
	refused, err := t.SaveAttempts(t.Context(), holder, attempts)
	t.noError(err)
	return refused
}

var leaseCases = []storageCase{
	{"of three processes, one holds a webhook until it releases it", func(t storageTest) {
		t.same("held before the first", len(t.lease("a")), 0)
		first, second := t.addWebhook("*"), t.addWebhook("pet.*")
		t.same("held by a", ids(t.lease("a")), ids([]petstore.Webhook{first, second}))
		for range 2 {
			t.same("held by b", len(t.lease("b")), 0)
			t.same("held by c", len(t.lease("c")), 0)
			t.same("still held by a", ids(t.lease("a")), ids([]petstore.Webhook{first, second}))
		}
		third := t.addWebhook("*")
		t.same("new, held by b", ids(t.lease("b")), []string{third.ID})
		t.noError(t.ReleaseWebhooks(t.Context(), "a"))
		t.same("released, held by c", ids(t.lease("c")), ids([]petstore.Webhook{first, second}))
		t.same("held by a then", len(t.lease("a")), 0)
		t.same("still held by b", ids(t.lease("b")), []string{third.ID})
	}},
	{"however many processes ask at once, each webhook has one holder", func(t storageTest) {
		for range petstore.MaxWebhooks {
			t.addWebhook("*")
		}
		held := make([][]petstore.Webhook, 8)
		t.concurrently(len(held), func(i int) (err error) {
			held[i], err = t.LeaseWebhooks(t.Context(), fmt.Sprint("holder ", i))
			return err
		})
		all := ids(slices.Concat(held...))
		t.same("held", len(all), petstore.MaxWebhooks)
		t.same("different ones", len(slices.Compact(all)), petstore.MaxWebhooks)
	}},
	{"a lease shows the webhook as it is stored", func(t storageTest) {
		w := t.addWebhook("pet.*")
		t.add(rex)
		t.patchWebhook(w.ID, petstore.WebhookPatch{Enabled: new(false), Types: new([]string{"order.*"})})
		want := t.webhook(w.ID)
		want.Behind = 0
		t.same("held", t.lease("a"), []petstore.Webhook{want})
	}},
	{"everybody sees which webhooks changed", func(t storageTest) {
		versions := func() map[string]int64 {
			t.Helper()
			all, err := t.WebhookVersions(t.Context())
			t.noError(err)
			return all
		}
		t.same("versions before the first", versions(), map[string]int64{})
		w, other := t.addWebhook("*"), t.addWebhook("*")
		t.same("versions of new ones", versions(), map[string]int64{w.ID: w.Version, other.ID: other.Version})
		t.patchWebhook(w.ID, petstore.WebhookPatch{Enabled: new(false)})
		changed := t.webhook(w.ID)
		t.same("versions after a change", versions(), map[string]int64{w.ID: changed.Version, other.ID: other.Version})
		if changed.Version == w.Version {
			t.Errorf("a change keeps version %d", w.Version)
		}
	}},
	{"the holder saves how far it is", func(t storageTest) {
		w := t.addWebhook("*")
		t.addMany(3)
		t.lease("a")
		progress := petstore.WebhookProgress{
			Position: 2, Confirmed: true, FailingSince: epoch, Failures: 3, Rejections: 1, NextAttempt: epoch.Add(time.Minute),
		}
		t.same("refused", len(t.save("a", petstore.WebhookAttempts{ID: w.ID, Version: w.Version, Progress: progress})), 0)
		w.WebhookProgress, w.Behind = progress, 1
		t.same("stored", t.webhook(w.ID), w)
		t.same("status", t.webhook(w.ID).Status(), petstore.WebhookFailing)
	}},
	{"the holder disables a webhook, or says that it missed events", func(t storageTest) {
		w, missed := t.addWebhook("*"), t.addWebhook("*")
		t.lease("a")
		t.same("refused", len(t.save("a",
			petstore.WebhookAttempts{ID: w.ID, Version: w.Version, Disabled: petstore.WebhookGone, Missed: true},
			petstore.WebhookAttempts{ID: missed.ID, Version: missed.Version, Missed: true},
		)), 0)
		got := t.webhook(w.ID)
		t.same("disabled", []any{got.Enabled, got.Reason}, []any{false, petstore.WebhookGone})
		got = t.webhook(missed.ID)
		t.same("missed", []any{got.Enabled, got.Reason}, []any{true, petstore.WebhookMissed})
		t.save("a", petstore.WebhookAttempts{ID: missed.ID, Version: missed.Version}, petstore.WebhookAttempts{ID: w.ID, Version: w.Version})
		t.same("still known", t.webhook(missed.ID).Reason, petstore.WebhookMissed)
		t.same("still disabled", t.webhook(w.ID).Enabled, false)
	}},
	{"who does not hold a webhook, or does not know a change, moves nothing, but its deliveries are kept", func(t storageTest) {
		w, other := t.addWebhook("*"), t.addWebhook("*")
		t.addMany(5)
		attempts := func(w petstore.Webhook) petstore.WebhookAttempts {
			return petstore.WebhookAttempts{
				ID: w.ID, Version: w.Version, Progress: petstore.WebhookProgress{Position: 4}, Disabled: petstore.WebhookFailed,
				Deliveries: []petstore.Delivery{delivery(w.ID, time.Now())},
			}
		}
		stays := func() { t.Helper(); t.same("position", t.webhook(w.ID).Position, w.Position) }
		t.same("nobody holds it", t.save("a", attempts(w)), []string{w.ID})
		stays()
		t.lease("a")
		t.same("another holds it", t.save("b", attempts(w)), []string{w.ID})
		stays()
		t.noError(t.ReleaseWebhooks(t.Context(), "a"))
		t.lease("b")
		t.same("another holds it now", t.save("a", attempts(w)), []string{w.ID})
		stays()
		for name, change := range map[string]func() error{
			"patched": func() error {
				return writeError(t.UpdateWebhook(t.Context(), w.ID, petstore.WebhookPatch{Description: new("b")}, nil))
			},
			"rotated": func() error { _, err := t.RotateWebhook(t.Context(), w.ID, "whsec_b", epoch, nil); return err },
		} {
			known := t.webhook(w.ID)
			t.noError(change())
			t.same(name, t.save("b", attempts(known), petstore.WebhookAttempts{ID: other.ID, Version: other.Version}), []string{w.ID})
			stays()
		}
		t.same("enabled", t.webhook(w.ID).Enabled, true)
		t.same("deliveries", len(t.deliveries(w.ID)), 5)

		t.same("known", len(t.save("b", attempts(t.webhook(w.ID)))), 0)
		t.same("position", t.webhook(w.ID).Position, int64(4))
		t.noError(errorOf(t.DeleteWebhook(t.Context(), w.ID, nil)))
		t.same("deleted", t.save("b", attempts(w)), []string{w.ID})
		t.same("held", ids(t.lease("b")), []string{other.ID})
	}},
	{"changes by administrators and saves at the same time lose nothing", func(t storageTest) {
		w := t.addWebhook("*")
		t.addMany(5)
		t.lease("a")
		t.concurrently(8, func(i int) error {
			for n := range 10 {
				if i%2 == 0 {
					if err := writeError(t.UpdateWebhook(t.Context(), w.ID, petstore.WebhookPatch{Description: new(fmt.Sprint(i, n))}, nil)); err != nil {
						return err
					}
					continue
				}
				known, err := t.GetWebhook(t.Context(), w.ID)
				if err != nil {
					return err
				}
				attempts := petstore.WebhookAttempts{ID: w.ID, Version: known.Version, Progress: petstore.WebhookProgress{Position: 3}}
				if _, err := t.SaveAttempts(t.Context(), "a", []petstore.WebhookAttempts{attempts}); err != nil {
					return err
				}
			}
			return nil
		})
		t.same("changes", t.webhook(w.ID).Version, w.Version+40)
	}},
}

// ids returns the ids of webhooks in ascending order.
func ids(webhooks []petstore.Webhook) (ids []string) {
	for _, w := range webhooks {
		ids = append(ids, w.ID)
	}
	slices.Sort(ids)
	return ids
}

var deliveryCases = []storageCase{
	{"deliveries are listed newest first, page by page", func(t storageTest) {
		w, other := t.addWebhook("*"), t.addWebhook("*")
		now := time.Now()
		var want []petstore.Delivery
		for i := range 25 {
			d := delivery(w.ID, now.Add(-time.Duration(i)*time.Second))
			if i == 7 {
				d.Status, d.Error, d.Skipped = 0, "address_refused", true
			}
			want = append(want, d)
		}
		backwards := slices.Clone(want)
		slices.Reverse(backwards)
		t.lease("a")
		attempts := []petstore.WebhookAttempts{
			{ID: w.ID, Version: w.Version, Deliveries: backwards},
			{ID: other.ID, Version: other.Version, Deliveries: []petstore.Delivery{delivery(other.ID, now)}},
		}
		for range 2 { // a holder that does not know whether it has saved them saves them again
			t.same("refused", len(t.save("a", attempts...)), 0)
		}
		t.same("all", t.deliveries(w.ID), want)
		var walked []petstore.Delivery
		for q := (petstore.DeliveryQuery{WebhookID: w.ID, Limit: 10}); ; {
			page, err := t.ListDeliveries(t.Context(), q)
			t.noError(err)
			if len(page) == 0 {
				break
			}
			walked = append(walked, page...)
			q.Before = page[len(page)-1].ID
		}
		t.same("walked", walked, want)
		t.same("of the other webhook", len(t.deliveries(other.ID)), 1)
	}},
	{"the last thousand deliveries of seven days are kept, purged or not", func(t storageTest) {
		w, quiet := t.addWebhook("*"), t.addWebhook("*")
		now := time.Now()
		var made []petstore.Delivery
		for i := range petstore.MaxDeliveries + 50 {
			made = append(made, delivery(w.ID, now.Add(-time.Duration(i)*time.Second)))
		}
		recent := delivery(quiet.ID, now.Add(-petstore.DeliveriesKept+time.Hour))
		t.lease("a")
		t.save("a", petstore.WebhookAttempts{ID: w.ID, Version: w.Version, Deliveries: made},
			petstore.WebhookAttempts{ID: quiet.ID, Version: quiet.Version, Deliveries: []petstore.Delivery{
				delivery(quiet.ID, now.Add(-petstore.DeliveriesKept-time.Hour)), recent,
			}})
		check := func() {
			t.Helper()
			t.same("many", t.deliveries(w.ID), made[:petstore.MaxDeliveries])
			t.same("old", t.deliveries(quiet.ID), []petstore.Delivery{recent})
		}
		check()
		for range 2 {
			t.noError(t.PurgeDeliveries(t.Context()))
			check()
		}
	}},
	{"a deleted webhook takes its deliveries along", func(t storageTest) {
		w := t.addWebhook("*")
		t.noError(t.RecordPing(t.Context(), w, delivery(w.ID, time.Now())))
		t.noError(errorOf(t.DeleteWebhook(t.Context(), w.ID, nil)))
		_, err := t.ListDeliveries(t.Context(), petstore.DeliveryQuery{WebhookID: w.ID, Limit: 1})
		t.refused(err, petstore.NotFound)
		_, err = t.CreateWebhook(t.Context(), w, nil)
		t.noError(err)
		t.same("deliveries", len(t.deliveries(w.ID)), 0)
	}},
}

var copyWebhookCases = []copyCase{
	{"webhooks are copied with their secrets and their state, and without leases and deliveries", func(t copyTest) {
		from, to := storageTest{t.checks, t.from}, storageTest{t.checks, t.to}
		w, changed, gone := from.addWebhook("*"), from.addWebhook("pet.*"), from.addWebhook("order.*")
		only := to.addWebhook("*")
		_, err := t.from.RotateWebhook(t.Context(), w.ID, "whsec_b", epoch, nil)
		t.noError(err)
		from.addMany(5)
		from.lease("a")
		w = from.webhook(w.ID)
		from.save("a", petstore.WebhookAttempts{
			ID: w.ID, Version: w.Version, Progress: petstore.WebhookProgress{Position: 3, Confirmed: true, FailingSince: epoch, Failures: 2, NextAttempt: epoch},
			Disabled: petstore.WebhookFailed, Deliveries: []petstore.Delivery{delivery(w.ID, time.Now())},
		})
		webhooks := func(tallies []petstore.Tally) petstore.Tally { return tallies[len(tallies)-1] }
		t.same("what was done", webhooks(t.copyAll()), petstore.Tally{Kind: "webhooks", Added: 3, Removed: 1})
		t.sameContent()
		t.same("copied", to.webhook(w.ID), from.webhook(w.ID))
		_, err = t.to.GetWebhook(t.Context(), only.ID)
		to.refused(err, petstore.NotFound)
		t.same("deliveries", len(to.deliveries(w.ID)), 0)
		t.same("held in the target", len(to.lease("b")), 3)
		t.same("what was done again", t.copyAll(), nothingDone)

		from.patchWebhook(changed.ID, petstore.WebhookPatch{Description: new("changed")})
		t.noError(errorOf(t.from.DeleteWebhook(t.Context(), gone.ID, nil)))
		from.addWebhook("*")
		t.same("what was done then", webhooks(t.copyAll()), petstore.Tally{Kind: "webhooks", Added: 1, Changed: 1, Removed: 1})
		t.sameContent()
	}},
	{"a copied feed is counted anew", func(t copyTest) {
		from, to := storageTest{t.checks, t.from}, storageTest{t.checks, t.to}
		to.addPetsOnce(manyPets(9000), nil, false)
		t.noError(t.to.CountEvents(t.Context()))
		w := from.addWebhook("pet.deleted")
		var deleted int64
		from.addPetsOnce(manyPets(9000), nil, false)
		for _, pet := range from.list(petstore.PetQuery{Limit: 10}) {
			t.noError(errorOf(t.from.DeletePet(t.Context(), pet.ID, nil)))
			deleted++
		}
		t.copyAll()
		for range 2 {
			t.same("behind", to.webhook(w.ID).Behind, deleted)
			t.noError(t.to.CountEvents(t.Context()))
		}
	}},
}
