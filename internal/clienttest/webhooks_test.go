package clienttest

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"petstore/client"
	"petstore/internal/httpapi"
	"petstore/internal/petstore"
)

// withReceivers lets webhooks have any address, at which a receiver answers every ping with that status.
func withReceivers(status int) func(*httpapi.Config) {
	return func(c *httpapi.Config) {
		c.CheckWebhookURL = func(url string) string {
			if !strings.HasPrefix(url, "https://") {
				return "must begin with https://"
			}
			return ""
		}
		c.Ping = func(_ context.Context, w petstore.Webhook) petstore.Delivery {
			now := time.Now().UTC().Truncate(time.Millisecond)
			return petstore.Delivery{ID: petstore.NewDeliveryID(now), WebhookID: w.ID, EventID: petstore.NewPingID(), At: now, Status: status, Took: 12 * time.Millisecond}
		}
	}
}

func TestAdministratorsManageWebhooks(t *testing.T) {
	admin, _ := administered(t, withReceivers(204))
	ctx := t.Context()
	_, err := admin.CreateWebhook(ctx, client.NewWebhook{URL: "http://shop.example"})
	wantRefusal(t, err, client.ErrInvalidField, 400)
	once := client.WithIdempotencyKey("w")
	described := client.NewWebhook{URL: "https://shop.example/hook", Types: []client.EventType{"order.*"}, Description: "Zoë & <co>"}
	made := must(admin.CreateWebhook(ctx, described, once))(t)
	secret := made.Secret
	made.Secret = ""
	if !strings.HasPrefix(secret, "whsec_") || made.URL != described.URL || !reflect.DeepEqual(made.Types, described.Types) || made.Description != described.Description ||
		!made.Enabled || made.Status != client.WebhookPending || !strings.HasPrefix(made.Position, "evt_") || made.Behind != 0 || made.CreatedAt.IsZero() || !made.FailingSince.IsZero() {
		t.Errorf("created %+v", made)
	}
	_, err = admin.CreateWebhook(ctx, described, once)
	wantRefusal(t, err, client.ErrSecretShown, 409)
	if err != nil && (!strings.Contains(err.Error(), made.ID) || strings.Contains(err.Error(), secret)) {
		t.Errorf("the refusal does not name the webhook, or shows its secret: %v", err)
	}
	found, err := admin.GetWebhook(ctx, made.ID)
	wantResult(t, found, err, made)

	ping := must(admin.PingWebhook(ctx, made.ID))(t)
	if ping.Status != 204 || ping.Milliseconds != 12 || ping.EventID == "" || ping.Error != "" || ping.Skipped {
		t.Errorf("the ping is %+v", ping)
	}
	deliveries := must(admin.ListDeliveries(ctx, made.ID, client.DeliveryQuery{Limit: 1}))(t)
	if !reflect.DeepEqual(deliveries.Items, []client.Delivery{ping}) {
		t.Errorf("the deliveries are %+v", deliveries)
	}
	for d, err := range admin.Deliveries(ctx, made.ID, client.DeliveryQuery{}) {
		wantResult(t, d, err, ping)
	}

	pet := must(admin.CreatePet(ctx, client.NewPet{Name: "Rex", CategoryID: 1}))(t)
	must(admin.PlaceOrder(ctx, client.NewOrder{PetID: pet.ID}))(t)
	if w := must(admin.GetWebhook(ctx, made.ID))(t); w.Status != client.WebhookActive || w.Behind != 1 {
		t.Errorf("after the ping and an order it is %+v", w)
	}
	start := made.Position
	changed := must(admin.UpdateWebhook(ctx, made.ID, client.WebhookPatch{Types: &[]client.EventType{"*"}, Description: new(""), Enabled: new(false), Position: new(client.Now)}))(t)
	if changed.Enabled || changed.Status != client.WebhookDisabled || changed.Description != "" || changed.Behind != 0 || changed.Position == start {
		t.Errorf("changed to %+v", changed)
	}
	changed = must(admin.UpdateWebhook(ctx, made.ID, client.WebhookPatch{URL: new("https://other.example/"), Enabled: new(true), Position: &start}))(t)
	if !changed.Enabled || changed.URL != "https://other.example/" || changed.Behind != 3 || changed.Position != start {
		t.Errorf("changed to %+v", changed)
	}
	_, err = admin.UpdateWebhook(ctx, made.ID, client.WebhookPatch{Position: new("evt_0000_7")})
	wantRefusal(t, err, client.ErrEventsGone, 410)
	if rotated := must(admin.RotateWebhook(ctx, made.ID))(t); rotated.Secret == secret || !strings.HasPrefix(rotated.Secret, "whsec_") {
		t.Errorf("rotated to %+v", rotated)
	}

	for range 19 {
		must(admin.CreateWebhook(ctx, client.NewWebhook{URL: "https://shop.example/"}))(t)
	}
	_, err = admin.CreateWebhook(ctx, client.NewWebhook{URL: "https://shop.example/"})
	wantRefusal(t, err, client.ErrTooManyWebhooks, 409)
	var ids []string
	for w, err := range admin.Webhooks(ctx, client.WebhookQuery{Limit: 7}) {
		noError(t, err)
		ids = append(ids, w.ID)
	}
	if first := must(admin.ListWebhooks(ctx, client.WebhookQuery{}))(t); len(ids) != 20 || ids[19] != made.ID || len(first.Items) != 20 || first.Next != "" {
		t.Errorf("the webhooks are %q", ids)
	}
	noError(t, admin.DeleteWebhook(ctx, made.ID))
	_, err = admin.GetWebhook(ctx, made.ID)
	wantRefusal(t, err, client.ErrNotFound, 404)
}

func TestOnlyAdministratorsSeeWebhooks(t *testing.T) {
	store, _ := online(t)
	_, err := store.ListWebhooks(t.Context(), client.WebhookQuery{})
	wantRefusal(t, err, client.ErrForbidden, 403)
}
