package petstore

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The bounds of webhooks.
const (
	MaxWebhooks                 = 20
	MaxWebhookURLLength         = 2000 // in bytes
	MaxWebhookDescriptionLength = 200  // in Unicode code points
	// WebhookSecretOverlap is how long the secret of before a rotation signs beside the new one.
	WebhookSecretOverlap = 24 * time.Hour
	// MaxDeliveries is how many deliveries of a webhook are kept, and DeliveriesKept for how long.
	MaxDeliveries  = 1000
	DeliveriesKept = 7 * 24 * time.Hour
)

// WebhookReason says why a webhook is disabled, or that it missed events.
type WebhookReason string

// The reasons.
const (
	WebhookFailed   WebhookReason = "failed"      // no attempt succeeded for 72 hours
	WebhookGone     WebhookReason = "gone"        // the receiver answered 410
	WebhookRestored WebhookReason = "restored"    // the database was restored
	WebhookMissed   WebhookReason = "events_gone" // the feed no longer has the events at its position; it went on at the oldest
)

// WebhookStatus says how deliveries to a webhook go.
type WebhookStatus string

// The states of a webhook.
const (
	WebhookPending  WebhookStatus = "pending" // no ping was answered yet
	WebhookActive   WebhookStatus = "active"
	WebhookFailing  WebhookStatus = "failing"
	WebhookDisabled WebhookStatus = "disabled"
)

// WebhookSettings is what an administrator says about a webhook.
type WebhookSettings struct {
	URL string
	// Types has the words that select the types of its events; see EventTypes.Select.
	Types       []string
	Description string
}

// EventTypes returns the types of events that are delivered.
func (s WebhookSettings) EventTypes() (types EventTypes) {
	for _, word := range s.Types {
		types, _ = types.Select(word)
	}
	return types
}

// Webhook is a URL to which events are delivered. Its times have whole milliseconds.
type Webhook struct {
	ID string
	WebhookSettings
	CreatedAt time.Time
	Enabled   bool
	Reason    WebhookReason
	// Secret signs the deliveries. OldSecret signs them too, until OldSecretUntil. No record of an answer contains them.
	Secret         string    `json:"-"`
	OldSecret      string    `json:"-"`
	OldSecretUntil time.Time `json:"-"`
	// Version changes with every change by an administrator, so that an attempt that was under way does not undo it.
	Version int64
	WebhookProgress
	// Feed is the name of the feed that Position is in. Behind counts the events of the webhook's types after Position. A
	// Storage sets both when it returns a webhook, except that LeaseWebhooks does not count.
	Feed   string
	Behind int64
}

// WithoutSecrets returns the webhook for everybody who need not sign.
func (w Webhook) WithoutSecrets() Webhook {
	w.Secret, w.OldSecret, w.OldSecretUntil = "", "", time.Time{}
	return w
}

// At returns the webhook's place in the feed.
func (w Webhook) At() EventPosition { return EventPosition{w.Feed, w.Position} }

// WebhookProgress is how far deliveries to a webhook are.
type WebhookProgress struct {
	// Position is the sequence of the newest event that was delivered or skipped.
	Position int64
	// Confirmed is set once the receiver has answered a ping at the current URL.
	Confirmed bool
	// FailingSince is the time of the first of the failures since the last success; zero if there was none.
	FailingSince time.Time
	// Failures counts the attempts for the next event, or for the ping, that failed. Rejections counts those that the receiver
	// refused as wrong: after some of them the event is skipped.
	Failures, Rejections int
	// NextAttempt is when to try again after a failure.
	NextAttempt time.Time
}

// Status says how deliveries go.
func (w Webhook) Status() WebhookStatus {
	switch {
	case !w.Enabled:
		return WebhookDisabled
	case !w.Confirmed:
		return WebhookPending
	case !w.FailingSince.IsZero():
		return WebhookFailing
	}
	return WebhookActive
}

// NewWebhook returns an enabled webhook with a new id and secret. It is stored at the end of the feed.
func NewWebhook(settings WebhookSettings, now time.Time) Webhook {
	return Webhook{
		ID: webhookIDPrefix + randomHex(webhookIDBytes), WebhookSettings: settings,
		CreatedAt: now.UTC().Truncate(time.Millisecond), Enabled: true, Secret: NewWebhookSecret(),
	}
}

const (
	webhookIDPrefix = "wh_"
	webhookIDBytes  = 12
)

// CanBeWebhookID reports whether s has the form of a webhook's id.
func CanBeWebhookID(s string) bool {
	digits, ok := strings.CutPrefix(s, webhookIDPrefix)
	return ok && len(digits) == 2*webhookIDBytes && strings.Trim(digits, hexDigits) == ""
}

const hexDigits = "0123456789abcdef"

// NoSuchWebhook returns the refusal of an id that no webhook has.
func NoSuchWebhook() *Error { return noSuchWebhook }

var noSuchWebhook = &Error{Code: NotFound, Noun: WebhookNoun}

// ShownWebhookSecret returns the refusal to show the secret of a webhook again, because the same request has already made
// that secret.
func ShownWebhookSecret(id string) *Error { return &Error{Code: SecretShown, Webhook: id} }

// NewWebhookSecret returns a random secret in the form of Standard Webhooks.
func NewWebhookSecret() string {
	var secret [32]byte
	rand.Read(secret[:])
	return "whsec_" + base64.StdEncoding.EncodeToString(secret[:])
}

func randomHex(bytes int) string {
	random := make([]byte, bytes)
	rand.Read(random)
	return hex.EncodeToString(random)
}

// WebhookPatch says what to change about a webhook. A nil field changes nothing.
type WebhookPatch struct {
	URL         *string
	Types       *[]string
	Description *string // the empty string removes the description
	Enabled     *bool
	// Position moves the webhook to a place in the feed, and ToEnd to its end. The deliveries go on from there.
	Position *EventPosition
	ToEnd    bool
}

// Patch returns the webhook after a patch, in a storage with that feed. It returns an Error with the code EventsGone if the
// feed does not have the position. A new URL must answer a ping first, and a webhook that is enabled again is tried at once.
func (w Webhook) Patch(patch WebhookPatch, feed Feed) (Webhook, error) {
	if patch.URL != nil && *patch.URL != w.URL {
		w.URL, w.Confirmed = *patch.URL, false
		w.forgetFailures()
	}
	w.Types = slices.Clone(valueOr(patch.Types, w.Types))
	w.Description = valueOr(patch.Description, w.Description)
	if patch.Enabled != nil && *patch.Enabled != w.Enabled {
		w.Enabled, w.Reason = *patch.Enabled, ""
		w.forgetFailures()
	}
	switch {
	case patch.ToEnd:
		w.Position = feed.Last
	case patch.Position != nil:
		position, err := feed.Check(*patch.Position)
		if err != nil {
			return Webhook{}, err
		}
		w.Position = position
	default:
		return w, nil
	}
	if w.Enabled {
		w.Reason = "" // what it missed no longer matters
	}
	w.forgetFailures()
	return w, nil
}

func (w *Webhook) forgetFailures() {
	w.FailingSince, w.NextAttempt, w.Failures, w.Rejections = time.Time{}, time.Time{}, 0, 0
}

// Confirm returns the webhook after its receiver has answered a ping. If it was the first at this URL, the deliveries begin at
// once.
func (w Webhook) Confirm() Webhook {
	if !w.Confirmed {
		w.Confirmed = true
		w.forgetFailures()
	}
	return w
}

// Restore returns the webhook after the database was recovered to an earlier state: disabled, at the end of the feed.
func (w Webhook) Restore(feed Feed) Webhook {
	w.Enabled, w.Reason, w.Position = false, WebhookRestored, feed.Last
	w.forgetFailures()
	return w
}

// Rotate returns the webhook with a new secret.
func (w Webhook) Rotate(secret string, now time.Time) Webhook {
	w.OldSecret, w.OldSecretUntil, w.Secret = w.Secret, now.UTC().Truncate(time.Millisecond).Add(WebhookSecretOverlap), secret
	return w
}

// CheckWebhookTypes returns what is wrong with the types of a webhook, or "".
func CheckWebhookTypes(words []string) (problem string) {
	if len(words) == 0 {
		return "must name at least one type of event"
	}
	for i, word := range words {
		if _, ok := EventTypes(0).Select(word); !ok {
			return fmt.Sprintf("must each be a type of event, such as pet.created, pet.* or *: entry %d is none", i+1)
		}
		if slices.Contains(words[:i], word) {
			return fmt.Sprintf("must differ from each other: entry %d repeats an earlier one", i+1)
		}
	}
	return ""
}

// CheckWebhookDescription returns what is wrong with a description, or "".
func CheckWebhookDescription(text string) (problem string) {
	return CheckText(text, MaxWebhookDescriptionLength)
}

// Delivery is one attempt to deliver an event or a ping.
type Delivery struct {
	ID        string
	WebhookID string
	// EventID is the id of the event, or that of the ping.
	EventID string
	At      time.Time
	// Status is the HTTP status of the answer, or zero if there was none.
	Status int
	Took   time.Duration
	// Error says why there was no answer, or why an answer counts as a failure. It is empty if the attempt succeeded.
	Error string
	// Skipped is set if the event was given up after this attempt.
	Skipped bool
}

// NewDeliveryID returns an id for a delivery. The ids of later deliveries are higher.
func NewDeliveryID(at time.Time) string {
	id := binary.BigEndian.AppendUint64(nil, uint64(at.UnixMilli())<<16)[:6]
	return deliveryIDPrefix + hex.EncodeToString(id) + randomHex(6)
}

const (
	deliveryIDPrefix = "dlv_"
	deliveryIDDigits = 24
)

// CanBeDeliveryID reports whether s has the form of a delivery's id.
func CanBeDeliveryID(s string) bool {
	digits, ok := strings.CutPrefix(s, deliveryIDPrefix)
	return ok && len(digits) == deliveryIDDigits && strings.Trim(digits, hexDigits) == ""
}

// NewPingID returns an id for a ping.
func NewPingID() string { return "ping_" + randomHex(12) }

// WebhookQuery selects a page of webhooks.
type WebhookQuery struct {
	// After selects the webhooks that follow the one that was created at that time and has that id; its zero value selects
	// all.
	After KeyPlace
	Limit int
}

// DeliveryQuery selects a page of the deliveries of a webhook.
type DeliveryQuery struct {
	WebhookID string
	// Before selects the deliveries with a lower id; "" selects all.
	Before string
	Limit  int
}

// Webhooks stores webhooks and their deliveries. A method that takes the id of a webhook returns an Error with the code
// NotFound if there is none. The cost of a webhook's Behind does not grow with the number of events.
type Webhooks interface {
	// ListWebhooks returns at most q.Limit webhooks, newest first.
	ListWebhooks(ctx context.Context, q WebhookQuery) ([]Webhook, error)
	// GetWebhook returns one webhook.
	GetWebhook(ctx context.Context, id string) (Webhook, error)
	// ListDeliveries returns at most q.Limit deliveries, newest first. It returns nothing beyond MaxDeliveries and
	// DeliveriesKept.
	ListDeliveries(ctx context.Context, q DeliveryQuery) ([]Delivery, error)

	// CreateWebhook stores a webhook at the end of the feed and returns it. It returns an Error with the code
	// TooManyWebhooks if there are MaxWebhooks, or SecretShown, which names the webhook, if the same request has already
	// created it.
	CreateWebhook(ctx context.Context, webhook Webhook, idempotency *Idempotency) (Webhook, error)
	// UpdateWebhook makes a Patch and returns the webhook without its secrets.
	UpdateWebhook(ctx context.Context, id string, patch WebhookPatch, idempotency *Idempotency) (changed Webhook, replayed bool, err error)
	// DeleteWebhook removes a webhook with its deliveries.
	DeleteWebhook(ctx context.Context, id string, idempotency *Idempotency) (replayed bool, err error)
	// RotateWebhook makes a Rotate and returns the webhook. It returns an Error with the code SecretShown if the same request
	// has already rotated the webhook.
	RotateWebhook(ctx context.Context, id, secret string, now time.Time, idempotency *Idempotency) (Webhook, error)
	// RecordPing stores the delivery of a ping that an administrator asked for. If it succeeded, and nobody has changed the
	// webhook since it was returned with that Version, it makes a Confirm. It stores nothing if the webhook was deleted.
	RecordPing(ctx context.Context, webhook Webhook, ping Delivery) error
}

// WebhookDelivering is what a server that delivers events needs. Every webhook has at most one holder at a time.
type WebhookDelivering interface {
	// LeaseWebhooks makes the holder the holder of every webhook that has none, and prolongs what it holds, for WebhookLease
	// by the storage's clock. It returns the webhooks that it holds, as they are stored.
	LeaseWebhooks(ctx context.Context, holder string) ([]Webhook, error)
	// WebhookVersions returns the Version of every webhook by its id. It is cheap, so that holders can ask for it often.
	WebhookVersions(ctx context.Context) (map[string]int64, error)
	// ReleaseWebhooks ends the leases of the holder.
	ReleaseWebhooks(ctx context.Context, holder string) error
	// SaveAttempts stores the outcome of attempts, each with its deliveries, and returns the ids of the webhooks whose outcome
	// was not stored. That is the case if the holder no longer holds the webhook, or if an administrator has changed it since
	// it was returned with that Version. Of such a webhook nothing changes, but its deliveries are kept.
	SaveAttempts(ctx context.Context, holder string, attempts []WebhookAttempts) (refused []string, err error)
	// PurgeDeliveries removes deliveries beyond MaxDeliveries and DeliveriesKept.
	PurgeDeliveries(ctx context.Context) error
}

// WebhookLease is how long a holder holds a webhook.
const WebhookLease = 30 * time.Second

// WebhookAttempts is what the attempts to deliver to a webhook have changed about it.
type WebhookAttempts struct {
	ID string
	// Version is that of the webhook on which the attempts are based.
	Version  int64
	Progress WebhookProgress
	// Disabled is the reason for disabling the webhook, or "". Missed says that it went on at the oldest event.
	Disabled   WebhookReason
	Missed     bool
	Deliveries []Delivery
}
