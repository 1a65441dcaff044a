package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// WebhookStatus says how the deliveries of a webhook go. The service may have states that are not listed here yet.
type WebhookStatus string

// The states of a webhook.
const (
	WebhookPending  WebhookStatus = "pending" // the receiver has not answered a ping yet
	WebhookActive   WebhookStatus = "active"
	WebhookFailing  WebhookStatus = "failing" // the last attempt failed; the service tries again
	WebhookDisabled WebhookStatus = "disabled"
)

// Webhook is an address to which the service delivers events. All operations on webhooks need an administrator's key. The
// package petstore/client/webhook verifies deliveries.
type Webhook struct {
	ID          string        `json:"id"`
	URL         string        `json:"url"`
	Types       []EventType   `json:"types"` // the types of events, or patterns such as "pet.*" and "*"
	Description string        `json:"description,omitempty"`
	Enabled     bool          `json:"enabled"`
	Status      WebhookStatus `json:"status"`
	Reason      string        `json:"reason,omitempty"` // why the webhook is disabled, or that it missed events
	Position    string        `json:"position"`         // the id of the last event that was delivered
	Behind      int64         `json:"behind"`           // how many events follow the Position
	// FailingSince is when the first of the attempts failed that failed since the last success. It is zero after a success.
	FailingSince time.Time `json:"failingSince,omitzero"`
	CreatedAt    time.Time `json:"createdAt"`
	// Secret signs the deliveries. Only CreateWebhook and RotateWebhook return it.
	Secret string `json:"secret,omitempty"`
}

func (w *Webhook) missing() bool { return w.ID == "" }

// WebhookQuery selects a page of webhooks.
type WebhookQuery struct {
	Limit  int    // the number of webhooks per page, up to 100; if zero, ListWebhooks uses 20 and Webhooks 100
	Cursor string // the value of Next in the page before; empty for the first page
}

func (q WebhookQuery) encode() string { return paging(q.Limit, q.Cursor).Encode() }

// ListWebhooks returns one page of webhooks, the newest first.
func (c *Client) ListWebhooks(ctx context.Context, q WebhookQuery, options ...CallOption) (Page[Webhook], error) {
	return page[Webhook](ctx, c, "/webhooks", q.encode(), options)
}

// Webhooks iterates over all webhooks, the newest first, page by page. An error ends the iteration.
func (c *Client) Webhooks(ctx context.Context, q WebhookQuery, options ...CallOption) iter.Seq2[Webhook, error] {
	q.Limit = walkLimit(q.Limit)
	return walk[Webhook](ctx, c, "/webhooks", q.encode(), options)
}

// NewWebhook describes a webhook to create. A field other than URL may be zero.
type NewWebhook struct {
	URL         string      `json:"url"`
	Types       []EventType `json:"types,omitempty"` // if empty, all
	Description string      `json:"description,omitempty"`
}

func (n NewWebhook) texts() []string { return append(textsOf(n.Types), n.URL, n.Description) }

func textsOf(types []EventType) (texts []string) {
	for _, t := range types {
		texts = append(texts, string(t))
	}
	return texts
}

// CreateWebhook creates a webhook and returns it with its Secret. The service then sends a ping, and delivers what happens from
// now on as soon as the receiver has answered the ping. It returns ErrTooManyWebhooks if the store has twenty. Retries of the
// call create no second webhook: if the answer to an earlier try was lost, CreateWebhook returns ErrSecretShown, whose message
// names the webhook. RotateWebhook then makes a new secret.
func (c *Client) CreateWebhook(ctx context.Context, n NewWebhook, options ...CallOption) (w Webhook, err error) {
	err = c.callWith(ctx, http.MethodPost, "/webhooks", n, &w, options)
	return w, err
}

// GetWebhook returns the webhook with that id.
func (c *Client) GetWebhook(ctx context.Context, id string, options ...CallOption) (w Webhook, err error) {
	err = c.call(ctx, http.MethodGet, webhookPath(id), &w, options)
	return w, err
}

func webhookPath(id string) string { return "/webhooks/" + url.PathEscape(id) }

// WebhookPatch says what to change about a webhook. A nil field stays as it is.
type WebhookPatch struct {
	URL         *string
	Types       *[]EventType
	Description *string // the empty string removes the description
	Enabled     *bool
	Position    *string // the id of the event after which to deliver again, or Now
}

func (p WebhookPatch) texts() (texts []string) {
	for _, text := range []*string{p.URL, p.Description, p.Position} {
		if text != nil {
			texts = append(texts, *text)
		}
	}
	if p.Types != nil {
		texts = append(texts, textsOf(*p.Types)...)
	}
	return texts
}

// MarshalJSON returns a JSON Merge Patch, in which null removes a field.
func (p WebhookPatch) MarshalJSON() ([]byte, error) {
	patch := make(map[string]any)
	add(patch, "url", p.URL)
	add(patch, "types", p.Types)
	add(patch, "description", p.Description)
	add(patch, "enabled", p.Enabled)
	add(patch, "position", p.Position)
	if p.Description != nil && *p.Description == "" {
		patch["description"] = nil
	}
	return json.Marshal(patch)
}

// UpdateWebhook changes a webhook and returns the changed webhook. It returns ErrEventsGone if the feed does not have the
// Position of the patch.
func (c *Client) UpdateWebhook(ctx context.Context, id string, patch WebhookPatch, options ...CallOption) (w Webhook, err error) {
	err = c.callWith(ctx, http.MethodPatch, webhookPath(id), patch, &w, options)
	return w, err
}

// DeleteWebhook removes a webhook.
func (c *Client) DeleteWebhook(ctx context.Context, id string, options ...CallOption) error {
	return c.call(ctx, http.MethodDelete, webhookPath(id), nil, options)
}

// RotateWebhook gives a webhook a new secret and returns the webhook with that Secret. For 24 hours, both secrets sign the
// deliveries. If the answer to an earlier try was lost, RotateWebhook returns ErrSecretShown; rotate again then.
func (c *Client) RotateWebhook(ctx context.Context, id string, options ...CallOption) (w Webhook, err error) {
	err = c.call(ctx, http.MethodPost, webhookPath(id)+"/rotate", &w, options)
	return w, err
}

// PingWebhook sends a ping to a webhook and returns how that went.
func (c *Client) PingWebhook(ctx context.Context, id string, options ...CallOption) (d Delivery, err error) {
	err = c.call(ctx, http.MethodPost, webhookPath(id)+"/ping", &d, options)
	return d, err
}

// Delivery is one attempt to deliver an event or a ping to a webhook. It succeeded if its Status is 200 to 299.
type Delivery struct {
	ID           string    `json:"id"`
	EventID      string    `json:"eventId"` // or the id of the ping
	At           time.Time `json:"at"`
	Status       int       `json:"status,omitzero"` // the status of the answer; zero if there was none
	Milliseconds int64     `json:"milliseconds"`
	Error        string    `json:"error,omitempty"`   // why the attempt failed
	Skipped      bool      `json:"skipped,omitempty"` // whether the service gave up the event after this attempt
}

func (d *Delivery) missing() bool { return d.ID == "" }

// DeliveryQuery selects a page of deliveries.
type DeliveryQuery struct {
	Limit  int    // the number of deliveries per page, up to 100; if zero, ListDeliveries uses 20 and Deliveries 100
	Cursor string // the value of Next in the page before; empty for the first page
}

func (q DeliveryQuery) encode() string { return paging(q.Limit, q.Cursor).Encode() }

// ListDeliveries returns one page of the deliveries to a webhook, the newest first.
func (c *Client) ListDeliveries(ctx context.Context, webhookID string, q DeliveryQuery, options ...CallOption) (Page[Delivery], error) {
	return page[Delivery](ctx, c, webhookPath(webhookID)+"/deliveries", q.encode(), options)
}

// Deliveries iterates over the deliveries to a webhook, the newest first, page by page. An error ends the iteration.
func (c *Client) Deliveries(ctx context.Context, webhookID string, q DeliveryQuery, options ...CallOption) iter.Seq2[Delivery, error] {
	q.Limit = walkLimit(q.Limit)
	return walk[Delivery](ctx, c, webhookPath(webhookID)+"/deliveries", q.encode(), options)
}
