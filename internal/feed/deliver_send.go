package feed

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
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
func (d *Deliverer) send(ctx context.Context, url string, sign signer, m message) attempt {
	a := attempt{message: m, at: time.Now()}
	body := []byte(m.body)
	header := http.Header{
		"Content-Type":          {"application/json"},
		"User-Agent":            {"petstore"},
		webhook.IDHeader:        {m.id},
		webhook.TimestampHeader: {strconv.FormatInt(a.at.Unix(), 10)},
		webhook.SignatureHeader: {sign.signatures(m.id, a.at, body)},
	}
	var err error
	a.status, a.header, err = d.Post(ctx, url, header, body)
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

// signer signs what is sent to a webhook, with each of its keys that holds. It is for one goroutine.
type signer []signingKey

type signingKey struct {
	*webhook.Signer
	until time.Time // zero if it holds for ever
}

func newSigner(hook petstore.Webhook) (s signer) {
	for _, secret := range []struct {
		text  string
		until time.Time
	}{{hook.Secret, time.Time{}}, {hook.OldSecret, hook.OldSecretUntil}} {
		if key, err := webhook.NewSigner(secret.text); err == nil { // there may be no old one
			s = append(s, signingKey{key, secret.until})
		}
	}
	return s
}

// signatures returns the value of the header, the signature by the newer key first.
func (s signer) signatures(id string, at time.Time, body []byte) string {
	made := make([]string, 0, 2)
	for _, key := range s {
		if key.until.IsZero() || at.Before(key.until) {
			made = append(made, key.Sign(id, at, body))
		}
	}
	return strings.Join(made, " ")
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
	sent := d.send(ctx, hook.URL, newSigner(hook), ping)
	d.count(sent, false)
	return sent.delivery(hook.ID)
}
