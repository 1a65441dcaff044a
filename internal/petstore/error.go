package petstore

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Code names what went wrong. Clients of the API read the same names.
type Code string

// The codes of the domain. The HTTP edge has others of its own.
const (
	NotFound            Code = "not_found"
	InvalidField        Code = "invalid_field"
	MissingField        Code = "missing_field"
	PetReserved         Code = "pet_reserved"
	PetUnavailable      Code = "pet_unavailable"
	OrderClosed         Code = "order_closed"
	NameTaken           Code = "name_taken"
	IdempotencyConflict Code = "idempotency_conflict"
	Unauthorized        Code = "unauthorized" // a secret or its key does not let the caller in
	KeyRevoked          Code = "key_revoked"  // a key to change or rotate has ended, or has a successor
	AlreadyServed       Code = "already_served"
	Unavailable         Code = "unavailable"     // promises that nothing was changed; see NotDone
	OutcomeUnknown      Code = "outcome_unknown" // promises nothing; see MaybeDone
)

// Noun is a kind of record.
type Noun string

// The nouns of the store.
const (
	PetNoun      Noun = "animal"
	OrderNoun    Noun = "order"
	CategoryNoun Noun = "category"
	KeyNoun      Noun = "key"
)

// Error is a refusal: a code, the facts that belong to the code, and the cause. It has no sentence for anybody: whoever
// talks to a client or an operator makes one from the facts. An Error may be shared, so nobody changes it.
type Error struct {
	Code Code

	// Noun is what a NotFound is about.
	Noun Noun
	// Faults are what is wrong with the fields, if the code is InvalidField or MissingField.
	Faults Faults
	// Order is the one that holds the animal, if the code is PetReserved, or the closed one, if it is OrderClosed.
	Order *Order
	// Status is that of an animal that is PetUnavailable.
	Status Status
	// Category is the one that has the name, if the code is NameTaken.
	Category *Category
	// Key is the key that an Unauthorized or a KeyRevoked is about, or only the id of a key that was NotFound. It is nil
	// if there is no key with the secret.
	Key *Key
	// Successor is the id of the key that replaced a KeyRevoked, if one did.
	Successor string
	// Environment is where an Unauthorized secret belongs, if that is the other one.
	Environment Environment

	// Cause is for the log.
	Cause error
}

// NotDone is the refusal with the code Unavailable: the storage cannot do its work now, because of cause, and has changed
// nothing.
func NotDone(cause error) *Error { return &Error{Code: Unavailable, Cause: cause} }

// MaybeDone is the refusal with the code OutcomeUnknown: cause broke off a write that the storage may already have done.
func MaybeDone(cause error) *Error { return &Error{Code: OutcomeUnknown, Cause: cause} }

// Error is a short text for logs.
func (e *Error) Error() string {
	text := string(e.Code)
	switch {
	case e.Key != nil:
		text += ": key " + e.Key.ID
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

// Panicked turns what recover returned into an error for the log, with the stack. It shows the text of a runtime.Error.
// Any other value may hold part of a request, so it shows only its type.
func Panicked(p any) error {
	told := fmt.Sprintf("%T", p)
	if fault, ok := p.(runtime.Error); ok {
		told = fault.Error()
	}
	return fmt.Errorf("panic: %s\n%s", told, debug.Stack())
}
