package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"petstore/internal/petstore"
)

// The codes that only this package uses. Like the codes of the domain, they are part of the API.
const (
	badRequest           petstore.Code = "bad_request"
	invalidJSON          petstore.Code = "invalid_json"
	invalidParameter     petstore.Code = "invalid_parameter"
	methodNotAllowed     petstore.Code = "method_not_allowed"
	gone                 petstore.Code = "gone"
	payloadTooLarge      petstore.Code = "payload_too_large"
	unsupportedMediaType petstore.Code = "unsupported_media_type"
	invalidPhoto         petstore.Code = "invalid_photo"
	tooManyStreams       petstore.Code = "too_many_streams"
	rateLimited          petstore.Code = "rate_limited"
	keyBanned            petstore.Code = "key_banned"
	internalError        petstore.Code = "internal_error"
)

// statuses has the HTTP status for every code. A test checks that this map and api/openapi.yaml name the same codes.
var statuses = map[petstore.Code]int{
	badRequest:                   http.StatusBadRequest, // or the status that net/http chose; see AnswerMalformed
	invalidJSON:                  http.StatusBadRequest,
	petstore.InvalidField:        http.StatusBadRequest,
	petstore.MissingField:        http.StatusBadRequest,
	invalidParameter:             http.StatusBadRequest,
	invalidPhoto:                 http.StatusBadRequest,
	petstore.Unauthorized:        http.StatusUnauthorized,
	petstore.Forbidden:           http.StatusForbidden,
	petstore.NotFound:            http.StatusNotFound,
	methodNotAllowed:             http.StatusMethodNotAllowed,
	petstore.IdempotencyConflict: http.StatusConflict,
	petstore.PetReserved:         http.StatusConflict,
	petstore.PetUnavailable:      http.StatusConflict,
	petstore.OrderClosed:         http.StatusConflict,
	petstore.NameTaken:           http.StatusConflict,
	petstore.TooManyPhotos:       http.StatusConflict,
	petstore.KeyRevoked:          http.StatusConflict,
	petstore.OwnKey:              http.StatusConflict,
	petstore.SecretShown:         http.StatusConflict,
	tooManyStreams:               http.StatusConflict,
	petstore.TooManyWebhooks:     http.StatusConflict,
	gone:                         http.StatusGone,
	petstore.EventsGone:          http.StatusGone,
	payloadTooLarge:              http.StatusRequestEntityTooLarge,
	unsupportedMediaType:         http.StatusUnsupportedMediaType,
	rateLimited:                  http.StatusTooManyRequests,
	keyBanned:                    http.StatusTooManyRequests,
	internalError:                http.StatusInternalServerError,
	petstore.Unavailable:         http.StatusServiceUnavailable,
	petstore.OutcomeUnknown:      http.StatusServiceUnavailable,
}

// refusal is an error for a client. Its cause appears only in the log.
type refusal struct {
	code    petstore.Code
	message string
	cause   error
}

func (r *refusal) Error() string { return string(r.code) + ": " + r.message }

// newRefusal returns a refusal without a cause.
func newRefusal(code petstore.Code, message string) error {
	return &refusal{code: code, message: message}
}

// clientClosedRequest is the status, in logs and metrics, for a request that failed because the client hung up. Such a
// failure is not the service's fault.
const clientClosedRequest = 499

// retryUnavailable is the value of Retry-After in a 503, in seconds.
const retryUnavailable = "1"

// refusalOf returns the refusal for err. The message never contains the text of an unknown error.
func (x *exchange) refusalOf(err error) refusal {
	if own, ok := errors.AsType[*refusal](err); ok {
		return *own
	}
	e, known := errors.AsType[*petstore.Error](err)
	if !known && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		e, known = petstore.NotDone(err), true
	}
	if known {
		if message := x.messageFor(e); message != "" {
			return refusal{e.Code, message, e.Cause}
		}
	}
	return refusal{internalError, "Something went wrong on our side. Try again; if it stays, tell us the X-Request-Id of this answer.", err}
}

// messageFor returns the message for a refusal by the domain. The message tells the client what to do. For a refusal that no
// operation should cause, messageFor returns "".
func (x *exchange) messageFor(e *petstore.Error) string {
	switch e.Code {
	case petstore.NotFound:
		return notFoundMessages[e.Noun]
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
		return fmt.Sprintf("This order %s at %s. Only its reference can still change.", happened, petstore.FormatTime(e.Order.ClosedAt))
	case petstore.NameTaken:
		return fmt.Sprintf("Category %d already has this name. Use that category, or choose another name.", e.Category.ID)
	case petstore.TooManyPhotos:
		return fmt.Sprintf("This animal already has %d photos. Delete one first.", petstore.MaxPhotos)
	case petstore.IdempotencyConflict:
		return "This Idempotency-Key was already used for another request. Use a new one for each request."
	case petstore.Unauthorized:
		return unauthorizedMessage(e)
	case petstore.Forbidden:
		return forbiddenMessage(e.Key.Access, petstore.Admin)
	case petstore.KeyRevoked:
		return keyRevokedMessage(e)
	case petstore.OwnKey:
		if e.LastAdmin {
			return "This is the last administrator's key without an end. Create another one first."
		}
		return "An administrator's key cannot revoke, rotate or lower itself, or give itself an end. Use another administrator's key."
	case petstore.TooManyWebhooks:
		return fmt.Sprintf("This store already has %d webhooks. Delete one first.", petstore.MaxWebhooks)
	case petstore.SecretShown:
		if e.Webhook != "" {
			return fmt.Sprintf("An earlier request with this Idempotency-Key made the secret of webhook %s. It was shown then and is not shown again; if it is lost, rotate that webhook.", e.Webhook)
		}
		return fmt.Sprintf("An earlier request with this Idempotency-Key made key %s. Its secret was shown then and is not stored; if it is lost, rotate that key.", e.Key.ID)
	case petstore.EventsGone:
		return fmt.Sprintf("The feed does not have this position: its events are no longer kept, or it is of another feed. Go on after %s, the oldest position, or read the store anew and follow it from after=now.", e.Oldest)
	case petstore.Unavailable:
		if errors.Is(e.Cause, petstore.ErrSearchTimeout) {
			return "This search takes too long. Use a rarer word, or add a categoryId."
		}
		return "The store cannot do this right now. Nothing was changed; try again shortly."
	case petstore.OutcomeUnknown:
		return unknownOutcomeMessage(x)
	}
	return ""
}

var notFoundMessages = map[petstore.Noun]string{
	petstore.PetNoun:      "There is no animal with this id.",
	petstore.OrderNoun:    "There is no order with this id.",
	petstore.PhotoNoun:    "This animal has no photo with this id.",
	petstore.CategoryNoun: "There is no category with this number. PUT a name to make one.",
	petstore.KeyNoun:      "There is no key with this id.",
	petstore.WebhookNoun:  "There is no webhook with this id.",
}

// unauthorizedMessage says why the API refuses the key in a request.
func unauthorizedMessage(e *petstore.Error) string {
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

// forbiddenMessage says which access a key has, and which access the operation needs.
func forbiddenMessage(access, needed petstore.Access) string {
	switch {
	case needed != petstore.Admin:
		return "This API key may only read. Use one that may write."
	case access == petstore.ReadOnly:
		return "This API key may only read. Use an administrator's key, whose access is admin."
	}
	return "This API key may read and write, but not administer. Use an administrator's key, whose access is admin."
}

// keyRevokedMessage says why a key cannot be changed or rotated, and what to do instead.
func keyRevokedMessage(e *petstore.Error) string {
	switch {
	case e.Successor != "":
		return fmt.Sprintf("This key was already rotated, at %s, and key %s took its place. Rotate that one, or create another key if it has ended too.", petstore.FormatTime(e.Key.RotatedAt), e.Successor)
	case !e.Key.RevokedAt.IsZero():
		return fmt.Sprintf("This key was revoked at %s, and that cannot be undone. Create another key.", petstore.FormatTime(e.Key.RevokedAt))
	}
	return fmt.Sprintf("This key expired at %s. Remove its expiresAt first, or create another key.", petstore.FormatTime(e.Key.ExpiresAt))
}

// unknownOutcomeMessage says how to repeat a write safely when it is unknown whether the write was made.
func unknownOutcomeMessage(x *exchange) string {
	const unknown = "The store did not say whether this was done: it may have been. "
	switch {
	case x.idempotency != nil:
		return unknown + "Send it again with the same Idempotency-Key, and it is done once only."
	case x.operation.body == noBody, x.operation.body == ignoredBody:
		return unknown + "Send it again; what was done then stays as it is, and a DELETE that was done gets 404."
	}
	return unknown + "Look before you send it again; with an Idempotency-Key it can always be sent again safely."
}

// render sends the refusal for err.
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
	x.respond(status, buildString(func(b []byte) []byte { return appendError(b, e, status) }))
	x.send()
	if status == http.StatusServiceUnavailable && x.r.Context().Err() != nil {
		x.status = clientClosedRequest
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
