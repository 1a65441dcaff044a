package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"petstore/internal/petstore"
)

// statuses is the one place where the domain's codes become HTTP.
var statuses = map[petstore.Code]int{
	petstore.BadRequest:           http.StatusBadRequest, // or the status that the HTTP server refuses with; see Refusal
	petstore.InvalidJSON:          http.StatusBadRequest,
	petstore.InvalidField:         http.StatusBadRequest,
	petstore.MissingField:         http.StatusBadRequest,
	petstore.InvalidParameter:     http.StatusBadRequest,
	petstore.Unauthorized:         http.StatusUnauthorized,
	petstore.NotFound:             http.StatusNotFound,
	petstore.MethodNotAllowed:     http.StatusMethodNotAllowed,
	petstore.IdempotencyConflict:  http.StatusConflict,
	petstore.Gone:                 http.StatusGone,
	petstore.PayloadTooLarge:      http.StatusRequestEntityTooLarge,
	petstore.UnsupportedMediaType: http.StatusUnsupportedMediaType,
	petstore.RateLimited:          http.StatusTooManyRequests,
	petstore.KeyBanned:            http.StatusTooManyRequests,
	petstore.InternalError:        http.StatusInternalServerError,
	petstore.Unavailable:          http.StatusServiceUnavailable,
	petstore.OutcomeUnknown:       http.StatusServiceUnavailable,
	petstore.Forbidden:            http.StatusForbidden,
	petstore.PetReserved:          http.StatusConflict,
	petstore.PetUnavailable:       http.StatusConflict,
	petstore.OrderClosed:          http.StatusConflict,
	petstore.NameTaken:            http.StatusConflict,
}

// hungUp is the status, in logs and metrics, of a request that failed because its client was gone. The store is not at
// fault.
const hungUp = 499

// retryUnavailable is the Retry-After of a 503, in seconds.
const retryUnavailable = "1"

// refusalOf is the Error that a client gets for err. It does not contain the text of an unknown error.
func refusalOf(err error) *petstore.Error {
	var e *petstore.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return petstore.NotDone(err)
	}
	return &petstore.Error{
		Code:    petstore.InternalError,
		Message: "Something went wrong on our side. Try again; if it stays, tell us the X-Request-Id of this answer.",
		Cause:   err,
	}
}

// render answers with a refusal.
func (x *exchange) render(err error) {
	e := refusalOf(err)
	status := statuses[e.Code]
	x.cause = e.Cause
	if e.Code == petstore.OutcomeUnknown {
		e = petstore.Errorf(e.Code, "%s", undecided(x)) // e is shared with others whose write was in the same batch
	}
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

func appendError(b []byte, e *petstore.Error, status int) []byte {
	b = append(b, `{"code":`...)
	b = appendString(b, string(e.Code))
	b = append(b, `,"message":`...)
	b = appendString(b, e.Message)
	b = append(b, `,"status":`...)
	b = strconv.AppendInt(b, int64(status), 10)
	return append(b, '}')
}
