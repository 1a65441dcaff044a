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
	petstore.BadRequest:           http.StatusBadRequest, // or what else the HTTP server refuses with; see Refusal
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
}

// hungUp stands in logs and metrics for a request that was given up because its client was gone: no fault of the store.
const hungUp = 499

// retryUnavailable is the Retry-After of a 503, in seconds.
var retryUnavailable = []string{"1"}

// refusalOf is the Error that a client may see of err. The text of an unknown error stays inside.
func refusalOf(err error) *petstore.Error {
	var e *petstore.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return petstore.Unreachable(err)
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
	switch status {
	case http.StatusServiceUnavailable:
		x.share("Retry-After", retryUnavailable)
	case http.StatusUnauthorized:
		challenge := `Bearer realm="petstore"`
		if sentToken(x.r) {
			challenge += `, error="invalid_token"`
		}
		x.set("WWW-Authenticate", challenge)
	}
	x.discardBody()
	x.respond(status, appended(func(b []byte) []byte { return appendError(b, e, status) }))
	if status == http.StatusServiceUnavailable && x.r.Context().Err() != nil {
		x.status = hungUp
	}
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
