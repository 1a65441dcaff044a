package client

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Error is a refusal by the service. A call that gets no answer returns the error of net/http instead.
type Error struct {
	// Code says what went wrong. It is empty if the answer did not come from the service but, for example, from a proxy in
	// front of it.
	Code Code
	// Message explains the refusal to a person.
	Message string
	// Status is the HTTP status.
	Status int
	// RequestID identifies the request in the logs of the service. It is empty if the client sent nothing.
	RequestID string
	// RetryAfter is how long the service asks the caller to wait. It is zero if the service does not ask for a wait.
	RetryAfter time.Duration
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s (%d", e.Message, e.Status)
	if e.Code != "" {
		text += " " + string(e.Code)
	}
	if e.RequestID != "" {
		text += ", request " + e.RequestID
	}
	return text + ")"
}

// Unwrap returns the Code, so that errors.Is(err, ErrNotFound) works.
func (e *Error) Unwrap() error {
	if e.Code == "" {
		return nil
	}
	return e.Code
}

// Code is a machine-readable name for what went wrong. It is also an error, so errors.Is(err, ErrNotFound) works. The
// service may send codes that are not in this list yet.
type Code string

func (c Code) Error() string { return string(c) }

// The codes that the service sends.
const (
	ErrBadRequest           Code = "bad_request"
	ErrInvalidJSON          Code = "invalid_json"
	ErrInvalidField         Code = "invalid_field"
	ErrMissingField         Code = "missing_field"
	ErrInvalidParameter     Code = "invalid_parameter"
	ErrUnauthorized         Code = "unauthorized"
	ErrForbidden            Code = "forbidden" // the access of the key is too low
	ErrNotFound             Code = "not_found"
	ErrMethodNotAllowed     Code = "method_not_allowed"
	ErrGone                 Code = "gone" // the operation was removed
	ErrIdempotencyConflict  Code = "idempotency_conflict"
	ErrInvalidPhoto         Code = "invalid_photo"
	ErrTooManyPhotos        Code = "too_many_photos"
	ErrPetReserved          Code = "pet_reserved"    // an open order holds the animal
	ErrPetUnavailable       Code = "pet_unavailable" // only an available animal can be ordered
	ErrOrderClosed          Code = "order_closed"
	ErrNameTaken            Code = "name_taken"
	ErrKeyRevoked           Code = "key_revoked"  // the key has ended or was rotated
	ErrOwnKey               Code = "own_key"      // the change would lock the administrator, or all of them, out
	ErrSecretShown          Code = "secret_shown" // an earlier request made the key, and its answer had the secret
	ErrEventsGone           Code = "events_gone"  // the feed no longer has that place
	ErrTooManyStreams       Code = "too_many_streams"
	ErrTooManyWebhooks      Code = "too_many_webhooks"
	ErrPayloadTooLarge      Code = "payload_too_large"
	ErrUnsupportedMediaType Code = "unsupported_media_type"
	ErrRateLimited          Code = "rate_limited"
	ErrKeyBanned            Code = "key_banned"
	ErrInternalError        Code = "internal_error"
	ErrUnavailable          Code = "unavailable"     // nothing was changed
	ErrOutcomeUnknown       Code = "outcome_unknown" // the change may have been made
)

// invalidField returns the refusal of a value that the client does not send.
func invalidField(format string, a ...any) *Error {
	return &Error{Code: ErrInvalidField, Status: http.StatusBadRequest, Message: fmt.Sprintf(format, a...)}
}

// refusalOf reads a refusal from an answer of the server at the address base. It returns nil if the answer is not a refusal.
func refusalOf(base string, res *http.Response, body []byte) *Error {
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		return nil
	}
	var reply struct {
		Code    Code
		Message string
	}
	if json.Unmarshal(body, &reply) != nil || reply.Message == "" {
		reply.Message = fmt.Sprintf("The server answered %q without saying why.", res.Status)
	}
	if reply.Code == "" {
		reply.Message = cmp.Or(noPetstore(base, res), reply.Message)
	}
	return &Error{
		Code:       reply.Code,
		Message:    reply.Message,
		Status:     res.StatusCode,
		RequestID:  res.Header.Get("X-Request-Id"),
		RetryAfter: retryAfter(res.Header, time.Now()),
	}
}

// noPetstore returns a message that there is no petstore at the address base, if an answer without a code shows this. It
// returns "" if the answer may come from a proxy in front of a petstore.
func noPetstore(base string, res *http.Response) string {
	switch to := res.Header.Get("Location"); {
	case res.StatusCode < 400 && to != "":
		return fmt.Sprintf("There is no petstore at %s: the server redirects to %q. Check the address.", base, to)
	case res.StatusCode < 400 || res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusMethodNotAllowed:
		return fmt.Sprintf("There is no petstore at %s: the server answered %q. Check the address.", base, res.Status)
	}
	return ""
}
