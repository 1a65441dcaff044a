package petstore

import (
	"errors"
	"fmt"
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
	Unavailable          Code = "unavailable"
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

// Unreachable reports that the storage could not do its work now, for the reason in cause.
func Unreachable(cause error) *Error {
	return &Error{
		Code:    Unavailable,
		Message: "The store cannot do this right now. Try again shortly; with an Idempotency-Key a create happens once only.",
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
