package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"petstore/internal/petstore"
	"petstore/internal/strictjson"
)

func (a *API) listWebhooks(x *exchange) error {
	q, err := parseQuery(x.r.URL.RawQuery, petstore.WebhookQuery{Limit: defaultLimit}, webhookParameters)
	if err != nil {
		return err
	}
	more := q
	more.Limit++
	webhooks, err := a.Storage.ListWebhooks(x.r.Context(), more)
	if err != nil {
		return err
	}
	return x.respondPage(pageOf(webhooks, q.Limit, appendWebhook, func(last petstore.Webhook) string { return a.links.nextWebhooks(q, last) }))
}

func (a *API) getWebhook(x *exchange) error {
	webhook, err := a.Storage.GetWebhook(x.r.Context(), x.webhookID())
	if err != nil {
		return err
	}
	return x.respond(http.StatusOK, encoded(webhook, appendWebhook))
}

// webhookID returns the id of a webhook in the path.
func (x *exchange) webhookID() string { return x.parameters[0] }

func (a *API) createWebhook(x *exchange) error {
	fields := webhookFields{checkURL: a.CheckWebhookURL}
	if err := newWebhookBody.decode(x.body, &fields); err != nil {
		return err
	}
	settings := petstore.WebhookSettings{URL: *fields.URL, Types: []string{"*"}}
	if fields.Types != nil {
		settings.Types = *fields.Types
	}
	if fields.Description != nil {
		settings.Description = *fields.Description
	}
	webhook, err := a.Storage.CreateWebhook(x.r.Context(), petstore.NewWebhook(settings, x.start), x.idempotency)
	if err != nil {
		return err
	}
	a.auditWebhook(x, "webhook created", webhook.ID, "host", hostOf(webhook.URL), "types", webhook.Types)
	return x.respondCreated(a.links.webhooks+"/"+webhook.ID, encoded(webhook, appendWebhookWithSecret))
}

func (a *API) updateWebhook(x *exchange) error {
	fields := webhookFields{checkURL: a.CheckWebhookURL}
	if err := webhookPatchBody.decode(x.body, &fields); err != nil {
		return err
	}
	webhook, replayed, err := a.Storage.UpdateWebhook(x.r.Context(), x.webhookID(), fields.WebhookPatch, x.idempotency)
	if err != nil {
		return err
	}
	if !replayed {
		a.auditWebhook(x, "webhook updated", webhook.ID, "host", hostOf(webhook.URL), "enabled", webhook.Enabled, "changed", fields.members())
	}
	x.markReplayed(replayed)
	return x.respond(http.StatusOK, encoded(webhook, appendWebhook))
}

func (a *API) deleteWebhook(x *exchange) error {
	replayed, err := a.Storage.DeleteWebhook(x.r.Context(), x.webhookID(), x.idempotency)
	if err != nil {
		return err
	}
	if !replayed {
		a.auditWebhook(x, "webhook deleted", x.webhookID())
	}
	x.markReplayed(replayed)
	return x.respondEmpty()
}

func (a *API) rotateWebhook(x *exchange) error {
	webhook, err := a.Storage.RotateWebhook(x.r.Context(), x.webhookID(), petstore.NewWebhookSecret(), x.start, x.idempotency)
	if err != nil {
		return err
	}
	a.auditWebhook(x, "webhook rotated", webhook.ID)
	return x.respond(http.StatusOK, encoded(webhook, appendWebhookWithSecret))
}

// pingWebhook sends a ping and waits for the receiver's answer. A client that hangs up does not keep the ping from being
// recorded.
func (a *API) pingWebhook(x *exchange) error {
	webhook, err := a.Storage.GetWebhook(x.r.Context(), x.webhookID())
	if err != nil {
		return err
	}
	ping := a.Ping(x.r.Context(), webhook)
	if err := a.Storage.RecordPing(context.WithoutCancel(x.r.Context()), webhook, ping); err != nil {
		return err
	}
	a.auditWebhook(x, "webhook pinged", webhook.ID, "answer", ping.Status, "error", ping.Error)
	return x.respond(http.StatusOK, encoded(ping, appendDelivery))
}

func (a *API) listDeliveries(x *exchange) error {
	q, err := parseQuery(x.r.URL.RawQuery, petstore.DeliveryQuery{WebhookID: x.webhookID(), Limit: defaultLimit}, deliveryParameters)
	if err != nil {
		return err
	}
	more := q
	more.Limit++
	deliveries, err := a.Storage.ListDeliveries(x.r.Context(), more)
	if err != nil {
		return err
	}
	return x.respondPage(pageOf(deliveries, q.Limit, appendDelivery, func(last petstore.Delivery) string { return a.links.nextDeliveries(q, last.ID) }))
}

// auditWebhook logs what an administrator did to a webhook. The log shows only the host of a URL, because the rest of it often
// contains a secret of the receiver.
func (a *API) auditWebhook(x *exchange, event, id string, details ...any) {
	a.Log.InfoContext(x.r.Context(), event, append([]any{
		"id", x.requestID, "by", x.key.ID, "byName", a.redact(x.key.Name), "webhook", id,
	}, details...)...)
}

func hostOf(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return parsed.Host
}

// webhookFields are the members of the bodies of createWebhook and updateWebhook.
type webhookFields struct {
	petstore.WebhookPatch
	checkURL func(string) (problem string)
}

var newWebhookBody = shape[webhookFields]{"url", strictjson.Shape[webhookFields]{
	strictjson.Required("url", readWebhookURL),
	strictjson.Optional("types", readWebhookTypes),
	strictjson.Optional("description", func(w *webhookFields, v strictjson.Value) string {
		w.Description = new(string)
		return strictjson.ReadText(w.Description, v, petstore.CheckWebhookDescription)
	}),
}}

var webhookPatchBody = shape[webhookFields]{"what is to change: url, types, description, enabled or position", strictjson.Shape[webhookFields]{
	strictjson.Optional("url", readWebhookURL),
	strictjson.Optional("types", readWebhookTypes),
	strictjson.Optional("description", func(w *webhookFields, v strictjson.Value) string {
		return readRemovable(&w.Description, v, petstore.CheckWebhookDescription)
	}),
	strictjson.Optional("enabled", func(w *webhookFields, v strictjson.Value) string {
		w.Enabled = new(v.Kind() == 't')
		if kind := v.Kind(); kind != 't' && kind != 'f' {
			return "must be true or false"
		}
		return ""
	}),
	strictjson.Optional("position", readPosition),
}}

func readWebhookURL(w *webhookFields, value strictjson.Value) (problem string) {
	w.URL = new(string)
	return strictjson.ReadText(w.URL, value, func(text string) string {
		if problem := petstore.CheckText(text, petstore.MaxWebhookURLLength); problem != "" {
			return problem
		}
		return w.checkURL(text)
	})
}

func readWebhookTypes(w *webhookFields, value strictjson.Value) (problem string) {
	w.Types = new([]string)
	return strictjson.ReadTexts(w.Types, value, petstore.CheckWebhookTypes)
}

// readPosition reads a place in the feed: the id of an event, or now.
func readPosition(w *webhookFields, value strictjson.Value) (problem string) {
	text, _ := strictjson.Unquote(value)
	if text == "now" {
		w.ToEnd = true
		return ""
	}
	position, ok := petstore.ParseEventPosition(text)
	if !ok {
		return "must be the id of an event, such as evt_4f7k_1234, or now"
	}
	w.Position = &position
	return ""
}

// members returns the names of the members that a patch has.
func (w webhookFields) members() []string {
	names := []string{}
	for _, member := range []struct {
		name  string
		given bool
	}{
		{"url", w.URL != nil}, {"types", w.Types != nil}, {"description", w.Description != nil}, {"enabled", w.Enabled != nil},
		{"position", w.Position != nil || w.ToEnd},
	} {
		if member.given {
			names = append(names, member.name)
		}
	}
	return names
}

// appendWebhook appends one webhook as JSON, without its secret. It leaves out what the webhook does not have.
func appendWebhook(b []byte, w petstore.Webhook) []byte {
	b = appendString(append(b, `{"id":`...), w.ID)
	b = appendString(append(b, `,"url":`...), w.URL)
	b = appendList(append(b, `,"types":`...), w.Types, appendString)
	if w.Description != "" {
		b = appendString(append(b, `,"description":`...), w.Description)
	}
	b = strconv.AppendBool(append(b, `,"enabled":`...), w.Enabled)
	b = appendString(append(b, `,"status":`...), string(w.Status()))
	if w.Reason != "" {
		b = appendString(append(b, `,"reason":`...), string(w.Reason))
	}
	b = appendString(append(b, `,"position":`...), w.At().String())
	b = strconv.AppendInt(append(b, `,"behind":`...), w.Behind, 10)
	if !w.FailingSince.IsZero() {
		b = appendTime(b, `,"failingSince":"`, w.FailingSince)
	}
	return append(appendTime(b, `,"createdAt":"`, w.CreatedAt), '}')
}

// appendWebhookWithSecret is for the answers to createWebhook and rotateWebhook, which alone contain the secret.
func appendWebhookWithSecret(b []byte, w petstore.Webhook) []byte {
	b = appendWebhook(b, w)
	b = append(b[:len(b)-1], `,"secret":`...) // in place of the brace at the end
	return append(appendString(b, w.Secret), '}')
}

func appendDelivery(b []byte, d petstore.Delivery) []byte {
	b = appendString(append(b, `{"id":`...), d.ID)
	b = appendString(append(b, `,"eventId":`...), d.EventID)
	b = appendTime(b, `,"at":"`, d.At)
	if d.Status != 0 {
		b = strconv.AppendInt(append(b, `,"status":`...), int64(d.Status), 10)
	}
	b = strconv.AppendInt(append(b, `,"milliseconds":`...), d.Took.Milliseconds(), 10)
	if d.Error != "" {
		b = appendString(append(b, `,"error":`...), d.Error)
	}
	if d.Skipped {
		b = append(b, `,"skipped":true`...)
	}
	return append(b, '}')
}
