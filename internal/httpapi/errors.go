package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"petstore/internal/petstore"
)

// The codes that only the edge knows. They are published, like those of the domain.
const (
	badRequest           petstore.Code = "bad_request"
	invalidJSON          petstore.Code = "invalid_json"
	invalidParameter     petstore.Code = "invalid_parameter"
	forbidden            petstore.Code = "forbidden"
	methodNotAllowed     petstore.Code = "method_not_allowed"
	gone                 petstore.Code = "gone"
	payloadTooLarge      petstore.Code = "payload_too_large"
	unsupportedMediaType petstore.Code = "unsupported_media_type"
	rateLimited          petstore.Code = "rate_limited"
	keyBanned            petstore.Code = "key_banned"
	internalError        petstore.Code = "internal_error"
)

// statuses has the HTTP status of every published code. A contract test compares the codes with api/openapi.yaml, both
// ways.
var statuses = map[petstore.Code]int{
	badRequest:                   http.StatusBadRequest, // or the status that the HTTP server refuses with; see Refusal
	invalidJSON:                  http.StatusBadRequest,
	petstore.InvalidField:        http.StatusBadRequest,
	petstore.MissingField:        http.StatusBadRequest,
	invalidParameter:             http.StatusBadRequest,
	petstore.Unauthorized:        http.StatusUnauthorized,
	forbidden:                    http.StatusForbidden,
	petstore.NotFound:            http.StatusNotFound,
	methodNotAllowed:             http.StatusMethodNotAllowed,
	petstore.IdempotencyConflict: http.StatusConflict,
	petstore.PetReserved:         http.StatusConflict,
	petstore.PetUnavailable:      http.StatusConflict,
	petstore.OrderClosed:         http.StatusConflict,
	petstore.NameTaken:           http.StatusConflict,
	gone:                         http.StatusGone,
	payloadTooLarge:              http.StatusRequestEntityTooLarge,
	unsupportedMediaType:         http.StatusUnsupportedMediaType,
	rateLimited:                  http.StatusTooManyRequests,
	keyBanned:                    http.StatusTooManyRequests,
	internalError:                http.StatusInternalServerError,
	petstore.Unavailable:         http.StatusServiceUnavailable,
	petstore.OutcomeUnknown:      http.StatusServiceUnavailable,
}

// refusal is what a client is told. The cause is for the log only and never leaves the process.
type refusal struct {
	code    petstore.Code
	message string
	cause   error
}

func (r *refusal) Error() string { return string(r.code) + ": " + r.message }

// refused makes a refusal without a cause.
func refused(code petstore.Code, message string) error { return &refusal{code: code, message: message} }

// hungUp is the status, in logs and metrics, of a request that failed because its client was gone. The store is not at
// fault.
const hungUp = 499

// retryUnavailable is the Retry-After of a 503, in seconds.
const retryUnavailable = "1"

// refusalOf is what the client is told about err. It never contains the text of an unknown error.
func (x *exchange) refusalOf(err error) refusal {
	if own, ok := errors.AsType[*refusal](err); ok {
		return *own
	}
	e, known := errors.AsType[*petstore.Error](err)
	if !known && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		e, known = petstore.NotDone(err), true
	}
	if known {
		if message := x.words(e); message != "" {
			return refusal{e.Code, message, e.Cause}
		}
	}
	return refusal{internalError, "Something went wrong on our side. Try again; if it stays, tell us the X-Request-Id of this answer.", err}
}

// words says to the client what a refusal of the domain means, and what to do about it. It returns "" for a refusal that
// no operation should meet.
func (x *exchange) words(e *petstore.Error) string {
	switch e.Code {
	case petstore.NotFound:
		return missing[e.Noun]
	case petstore.InvalidField, petstore.MissingField:
		return e.Faults.String() + "."
	case petstore.PetReserved:
		return fmt.Sprintf("Order %d holds this animal until %s. Complete or cancel that order first.", e.Order.ID, petstore.FormatTime(e.Order.ExpiresAt))
	case petstore.PetUnavailable:
		return fmt.Sprintf("This animal is %s, not available. Order another one.", e.Status)
	case petstore.OrderClosed:
		happened := "was " + e.Order.Status.String()
		if e.Order.Status == petstore.Expired {
			happened = "expired"
		}
		return fmt.Sprintf("This order %s at %s and cannot change any more.", happened, petstore.FormatTime(e.Order.ClosedAt))
	case petstore.NameTaken:
		return fmt.Sprintf("Category %d already has this name. Use that category, or choose another name.", e.Category.ID)
	case petstore.IdempotencyConflict:
		return "This Idempotency-Key was already used for another request. Use a new one for each request."
	case petstore.Unauthorized:
		return unauthorized(e)
	case petstore.Unavailable:
		return "The store cannot do this right now. Nothing was changed; try again shortly."
	case petstore.OutcomeUnknown:
		return undecided(x)
	}
	return ""
}

var missing = map[petstore.Noun]string{
	petstore.PetNoun:      "There is no animal with this id.",
	petstore.OrderNoun:    "There is no order with this id.",
	petstore.CategoryNoun: "There is no category with this number. PUT a name to make one.",
}

// unauthorized says why the API key of a request lets nobody in.
func unauthorized(e *petstore.Error) string {
	switch {
	case e.Environment != "":
		return fmt.Sprintf("This is a key of the %s environment, and this is %s. Use a key of this environment.", e.Environment, e.Environment.Other())
	case e.Key == nil:
		return "The API key is not valid. Check that it was copied whole."
	case !e.Key.RevokedAt.IsZero():
		return "This API key was revoked. Use another one."
	}
	return "This API key has expired. Use another one."
}

// undecided says how to repeat a write safely if nobody knows whether it was done.
func undecided(x *exchange) string {
	const undecided = "The store did not say whether this was done: it may have been. "
	switch {
	case !x.operation.makes():
		return undecided + "Send it again; what was done then stays as it is, and a DELETE that was done gets 404."
	case len(x.r.Header["Idempotency-Key"]) > 0:
		return undecided + "Send it again with the same Idempotency-Key, and it is done once only."
	}
	return undecided + "Look before you send it again; with an Idempotency-Key it can always be sent again safely."
}

// render answers with a refusal.
func (x *exchange) render(err error) {
	e := x.refusalOf(err)
	status := statuses[e.code]
	x.cause = e.cause
	switch status {
	case http.StatusServiceUnavailable:
		x.set("Retry-After", retryUnavailable)
	case http.StatusTooManyRequests:
		x.set("Retry-After", strconv.FormatInt(x.retryAfter, 10))
	case http.StatusUnauthorized:
		challenge := `Bearer realm="petstore"`
		if sentToken(x.r) {
			challenge += `, error="invalid_token"`
		}
		x.set("WWW-Authenticate", challenge)
	}
	x.discardBody()
	x.respond(status, appended(func(b []byte) []byte { return appendError(b, e, status) }))
	x.send()
	if status == http.StatusServiceUnavailable && x.r.Context().Err() != nil {
		x.status = hungUp
	}
}

func appendError(b []byte, e refusal, status int) []byte {
	b = append(b, `{"code":`...)
	b = appendString(b, string(e.code))
	b = append(b, `,"message":`...)
	b = appendString(b, e.message)
	b = append(b, `,"status":`...)
	b = strconv.AppendInt(b, int64(status), 10)
	return append(b, '}')
}
