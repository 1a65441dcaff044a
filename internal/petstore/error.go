package petstore

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Code is a name for what went wrong. API clients see the same names.
type Code string

// The codes of the domain. Package httpapi adds its own codes.
const (
	NotFound            Code = "not_found"
	InvalidField        Code = "invalid_field"
	MissingField        Code = "missing_field"
	PetReserved         Code = "pet_reserved"
	PetUnavailable      Code = "pet_unavailable"
	OrderClosed         Code = "order_closed"
	NameTaken           Code = "name_taken"
	TooManyPhotos       Code = "too_many_photos"
	IdempotencyConflict Code = "idempotency_conflict"
	Unauthorized        Code = "unauthorized" // the secret is not valid, or its key has ended
	Forbidden           Code = "forbidden"    // the key is valid, but its access is too low
	KeyRevoked          Code = "key_revoked"  // the key to change or rotate has ended, or has a successor
	OwnKey              Code = "own_key"      // the change would lock the administrator, or all of them, out
	SecretShown         Code = "secret_shown" // the key was made by an earlier request, whose answer had the secret
	TooManyWebhooks     Code = "too_many_webhooks"
	EventsGone          Code = "events_gone" // the feed does not have the position
	AlreadyServed       Code = "already_served"
	Unavailable         Code = "unavailable"     // nothing was changed; see NotDone
	OutcomeUnknown      Code = "outcome_unknown" // the change may have been made; see MaybeDone
)

// Noun names a kind of record.
type Noun string

// The kinds of records in the store.
const (
	PetNoun      Noun = "animal"
	OrderNoun    Noun = "order"
	CategoryNoun Noun = "category"
	PhotoNoun    Noun = "photo"
	KeyNoun      Noun = "key"
	WebhookNoun  Noun = "webhook"
)

// Error is a refusal: a code, the facts that belong to the code, and the cause. An Error contains no message. The package
// that talks to a client or an operator writes a message from the facts. Goroutines may share an Error and must not change
// it.
type Error struct {
	Code Code

	// Noun is the kind of record that was not found, if the code is NotFound.
	Noun Noun
	// Faults lists what is wrong with the fields if the code is InvalidField or MissingField.
	Faults Faults
	// Order is the order that holds the animal if the code is PetReserved. It is the closed order if the code is
	// OrderClosed.
	Order *Order
	// Status is the status of the animal if the code is PetUnavailable.
	Status Status
	// Category is the category that already has the name if the code is NameTaken.
	Category *Category
	// Key is the refused key if the code is Unauthorized, Forbidden, KeyRevoked or OwnKey. If the code is NotFound or
	// SecretShown, only the id of Key is set. Key is nil if no key has the secret.
	Key *Key
	// Webhook is the id of the webhook if the code is SecretShown and it is not a key that was made.
	Webhook string
	// LastAdmin is set if the code is OwnKey because Key is the last usable administrator's key without an end. Otherwise
	// Key is the key that asks.
	LastAdmin bool
	// Successor is the id of the key that replaced the refused key, if the code is KeyRevoked and the key was rotated.
	Successor string
	// Environment is the environment of an Unauthorized secret, if the secret belongs to the other environment.
	Environment Environment

	// Oldest is the position before the oldest event that is kept, if the code is EventsGone.
	Oldest EventPosition

	// Cause is the underlying error. It appears only in the log.
	Cause error
}

// NotDone returns a refusal with the code Unavailable. The error cause keeps the storage from doing its work now. The
// storage has changed nothing.
func NotDone(cause error) *Error { return &Error{Code: Unavailable, Cause: cause} }

// MaybeDone returns a refusal with the code OutcomeUnknown. The error cause interrupted a write, which the storage may
// already have made.
func MaybeDone(cause error) *Error { return &Error{Code: OutcomeUnknown, Cause: cause} }

// Error returns a short text for logs.
func (e *Error) Error() string {
	text := string(e.Code)
	switch {
	case e.Key != nil:
		text += ": key " + e.Key.ID
	case e.Webhook != "":
		text += ": webhook " + e.Webhook
	case e.Noun != "":
		text += ": " + string(e.Noun)
	case len(e.Faults) > 0:
		text += ": " + e.Faults.String()
	case e.Order != nil:
		text += fmt.Sprintf(": order %d is %s", e.Order.ID, e.Order.Status)
	case e.Status != 0:
		text += ": the animal is " + e.Status.String()
	case e.Category != nil:
		text += fmt.Sprintf(": category %d", e.Category.ID)
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Cause }

// IsCode reports whether err is, or wraps, an Error with that code.
func IsCode(err error, code Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// Panicked turns the value that recover returned into an error for the log, with the stack. For a runtime.Error, the error
// shows the text. For any other value, the error shows only the type, because the value may contain part of a request.
func Panicked(p any) error {
	text := fmt.Sprintf("%T", p)
	if fault, ok := p.(runtime.Error); ok {
		text = fault.Error()
	}
	return fmt.Errorf("panic: %s\n%s", text, debug.Stack())
}
