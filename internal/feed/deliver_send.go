package feed

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"petstore/client/webhook"
	"petstore/internal/egress"
	"petstore/internal/petstore"
)

// message is what is sent to a receiver: an event, or a ping.
type message struct {
	id       string
	body     string
	position int64 // the sequence of the event; zero for a ping
}

func (m message) isPing() bool { return m.position == 0 }

// newPing returns a ping of a webhook.
func newPing(webhookID string, now time.Time) message {
	ping := struct {
		ID        string `json:"id"`
		Type      string `json:"type"`
		Timestamp string `json:"timestamp"`
		Data      struct {
			WebhookID string `json:"webhookId"`
		} `json:"data"`
	}{ID: petstore.NewPingID(), Type: "webhook.ping", Timestamp: now.UTC().Format("2006-01-02T15:04:05.000Z")}
	ping.Data.WebhookID = webhookID
	body, _ := json.Marshal(ping) // cannot fail: it has strings only
	return message{id: ping.ID, body: string(body)}
}

// send makes an attempt to deliver a message.
func (d *Deliverer) send(ctx context.Context, hook petstore.Webhook, m message) attempt {
	a := attempt{message: m, at: time.Now()}
	body := []byte(m.body)
	header := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"petstore"}}
	header.Set(webhook.IDHeader, m.id)
	header.Set(webhook.TimestampHeader, strconv.FormatInt(a.at.Unix(), 10))
	header.Set(webhook.SignatureHeader, sign(hook, m.id, a.at, body))
	var err error
	a.status, a.header, err = d.Post(ctx, hook.URL, header, body)
	a.took = time.Since(a.at)
	switch {
	case err != nil:
		a.reason = egress.Reason(err)
	case a.status >= 300 && a.status < 400:
		a.reason = "redirect_refused"
	case a.status < 200 || a.status >= 300:
		a.reason = "not_2xx"
	}
	return a
}

// sign returns the signatures by the secrets that hold at that time, the newer one first.
func sign(hook petstore.Webhook, id string, at time.Time, body []byte) string {
	signatures := webhook.Sign(hook.Secret, id, at, body)
	if hook.OldSecret != "" && at.Before(hook.OldSecretUntil) {
		signatures += " " + webhook.Sign(hook.OldSecret, id, at, body)
	}
	return signatures
}

// delivery returns the record of an attempt.
func (a attempt) delivery(webhookID string) petstore.Delivery {
	return petstore.Delivery{
		ID: petstore.NewDeliveryID(a.at), WebhookID: webhookID, EventID: a.id, At: a.at.UTC().Truncate(time.Millisecond),
		Status: a.status, Took: a.took, Error: a.reason,
	}
}

// pingTimeout bounds Ping.
const pingTimeout = 15 * time.Second

// Ping sends one ping to a webhook now, and returns how that went.
func (d *Deliverer) Ping(ctx context.Context, hook petstore.Webhook) petstore.Delivery {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	ping := newPing(hook.ID, time.Now())
	if !d.takeSlot(ctx) {
		return attempt{message: ping, at: time.Now(), reason: egress.Reason(ctx.Err())}.delivery(hook.ID)
	}
	defer d.freeSlot()
	sent := d.send(ctx, hook, ping)
	d.count(sent, false)
	return sent.delivery(hook.ID)
}
