package petstore

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Code is the machine-readable name of what went wrong. It is part of the published interface.
type Code string

// Every code an Error can carry.
const (
	BadRequest           Code = "bad_request"
	InvalidJSON          Code = "invalid_json"
	InvalidField         Code = "invalid_field"
	MissingField         Code = "missing_field"
	InvalidParameter     Code = "invalid_parameter"
	Unauthorized         Code = "unauthorized"
	NotFound             Code = "not_found"
	MethodNotAllowed     Code = "method_not_allowed"
	Gone                 Code = "gone"
	IdempotencyConflict  Code = "idempotency_conflict"
	PayloadTooLarge      Code = "payload_too_large"
	UnsupportedMediaType Code = "unsupported_media_type"
	RateLimited          Code = "rate_limited"
	KeyBanned            Code = "key_banned"
	InternalError        Code = "internal_error"
	Unavailable          Code = "unavailable"     // promises that nothing was changed; see NotDone
	OutcomeUnknown       Code = "outcome_unknown" // promises nothing; see MaybeDone
	Forbidden            Code = "forbidden"
	PetReserved          Code = "pet_reserved"
	PetUnavailable       Code = "pet_unavailable"
	OrderClosed          Code = "order_closed"
	NameTaken            Code = "name_taken"
)

// Error is a refusal. Message is written for the caller; Cause is for the log only and never leaves the process.
type Error struct {
	Code    Code
	Message string
	Cause   error
}

// Errorf makes an Error whose message is formatted for the caller.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// NotDone is the refusal with the code Unavailable: the storage cannot do its work now, because of cause, and has changed
// nothing.
func NotDone(cause error) *Error {
	return &Error{
		Code:    Unavailable,
		Message: "The store cannot do this right now. Nothing was changed; try again shortly.",
		Cause:   cause,
	}
}

// MaybeDone is the refusal with the code OutcomeUnknown: cause broke off a write that the storage may already have done.
func MaybeDone(cause error) *Error {
	return &Error{
		Code:    OutcomeUnknown,
		Message: "The store did not say whether this was done: it may have been. Look before you do it again.",
		Cause:   cause,
	}
}

func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Message
	}
	return e.Message + " (" + e.Cause.Error() + ")"
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
