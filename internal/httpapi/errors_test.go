package httpapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"petstore/api"
	"petstore/internal/petstore"
)

func TestEveryCodeHasAStatus(t *testing.T) {
	want := map[petstore.Code]int{
		"bad_request": 400, "invalid_json": 400, "invalid_field": 400, "missing_field": 400, "invalid_parameter": 400, "invalid_photo": 400,
		"unauthorized": 401, "forbidden": 403, "not_found": 404, "method_not_allowed": 405, "idempotency_conflict": 409,
		"pet_reserved": 409, "pet_unavailable": 409, "order_closed": 409, "name_taken": 409, "too_many_photos": 409,
		"key_revoked": 409, "own_key": 409, "secret_shown": 409, "too_many_streams": 409, "too_many_webhooks": 409, "gone": 410, "events_gone": 410, "payload_too_large": 413,
		"unsupported_media_type": 415, "rate_limited": 429, "key_banned": 429, "internal_error": 500, "unavailable": 503, "outcome_unknown": 503,
	}
	if !maps.Equal(statuses, want) {
		t.Errorf("the statuses are %v, want %v", statuses, want)
	}
}

func TestStatusTableAndDocumentNameTheSameCodes(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromData(api.YAML)
	noError(t, err)
	var described []string
	for _, code := range document.Components.Schemas["Error"].Value.Properties["code"].Value.Enum {
		described = append(described, code.(string))
	}
	var known []string
	for code := range statuses {
		known = append(known, string(code))
	}
	slices.Sort(described)
	slices.Sort(known)
	if !slices.Equal(described, known) {
		t.Errorf("the document has\n\t%s\nthe table of statuses has\n\t%s", strings.Join(described, "\n\t"), strings.Join(known, "\n\t"))
	}
}

// People read these messages, and some programs may compare them.
func TestEveryRefusalOfTheDomainHasAMessage(t *testing.T) {
	noon := time.Date(2026, time.November, 15, 12, 0, 0, 0, time.UTC)
	order := petstore.Order{ID: 3, PetID: 7, Status: petstore.Open, ExpiresAt: noon.Add(time.Hour)}
	key := petstore.NewKey("ci", petstore.Free, petstore.Limits{}, noon, time.Hour)
	revoked := key
	revoked.RevokedAt = noon
	admin := key
	admin.Access, admin.ExpiresAt = petstore.Admin, time.Time{}
	ended := admin.Revoke(noon)
	second := func(_ any, err error) error { return err }
	rotate := func(key petstore.Key) error {
		_, _, err := key.Rotate(petstore.Rotation{}, noon.Add(time.Hour))
		return err
	}
	for _, c := range []struct {
		refused error
		code    petstore.Code
		message string
	}{
		{petstore.NoSuchPet(), "not_found", "There is no animal with this id."},
		{petstore.NoSuchOrder(), "not_found", "There is no order with this id."},
		{petstore.NoSuchCategory(), "not_found", "There is no category with this number. PUT a name to make one."},
		{petstore.NoPetToOrder(9), "invalid_field", "petId must be the id of an animal; there is no animal 9."},
		{petstore.PetReservedBy(order), "pet_reserved", "Order 3 holds this animal until 2026-11-15T13:00:00.000Z. Complete or cancel that order first."},
		{second(petstore.NewOrder{}.Place(1, petstore.Pet{NewPet: petstore.NewPet{Status: petstore.Sold}}, noon)), "pet_unavailable", "This animal is sold, not available. Order another one."},
		{second(order.Close(petstore.Completed, noon.Add(2*time.Hour))), "order_closed", "This order expired at 2026-11-15T13:00:00.000Z. Only its reference can still change."},
		{second(petstore.Order{ID: 3, Status: petstore.Cancelled, ClosedAt: noon}.Close(petstore.Completed, noon)), "order_closed", "This order was cancelled at 2026-11-15T12:00:00.000Z. Only its reference can still change."},
		{petstore.CategoryNameTaken(petstore.Category{ID: 4, Name: "Dogs"}), "name_taken", "Category 4 already has this name. Use that category, or choose another name."},
		{petstore.IdempotencyKeyReused(), "idempotency_conflict", "This Idempotency-Key was already used for another request. Use a new one for each request."},
		{petstore.CheckSecret(petstore.Production, "garbage"), "unauthorized", "The API key is not valid. Check that it was copied whole."},
		{petstore.CheckSecret(petstore.Production, petstore.NewSecret(petstore.Staging)), "unauthorized", "This is a key of the staging environment, and this is production. Use a key of this environment."},
		{petstore.CheckSecret(petstore.Staging, petstore.NewSecret(petstore.Production)), "unauthorized", "This is a key of the production environment, and this is staging. Use a key of this environment."},
		{key.Usable(noon.Add(time.Hour)), "unauthorized", "This API key has expired. Use another one."},
		{revoked.Usable(noon), "unauthorized", "This API key was revoked. Use another one."},
		{revoked.Usable(noon.Add(2 * time.Hour)), "unauthorized", "This API key was revoked. Use another one."},
		{petstore.NoSuchKey("key_1"), "not_found", "There is no key with this id."},
		{petstore.KeyRequest{Now: noon}.Authorize(key), "forbidden", "This API key may read and write, but not administer. Use an administrator's key, whose access is admin."},
		{petstore.KeyRequest{Now: noon}.Authorize(revoked), "unauthorized", "This API key was revoked. Use another one."},
		{rotate(revoked), "key_revoked", "This key was revoked at 2026-11-15T12:00:00.000Z, and that cannot be undone. Create another key."},
		{rotate(key), "key_revoked", "This key expired at 2026-11-15T13:00:00.000Z. Remove its expiresAt first, or create another key."},
		{petstore.AlreadyRotated(petstore.Key{RotatedAt: noon}, "key_2"), "key_revoked", "This key was already rotated, at 2026-11-15T12:00:00.000Z, and key key_2 took its place. Rotate that one, or create another key if it has ended too."},
		{petstore.KeyRequest{By: admin.ID}.CheckEffect(admin, ended, 1), "own_key", "An administrator's key cannot revoke, rotate or lower itself, or give itself an end. Use another administrator's key."},
		{petstore.KeyRequest{By: "key_2"}.CheckEffect(admin, ended, 0), "own_key", "This is the last administrator's key without an end. Create another one first."},
		{petstore.ShownSecret("key_1"), "secret_shown", "An earlier request with this Idempotency-Key made key key_1. Its secret was shown then and is not stored; if it is lost, rotate that key."},
		{petstore.ShownWebhookSecret("wh_1"), "secret_shown", "An earlier request with this Idempotency-Key made the secret of webhook wh_1. It was shown then and is not shown again; if it is lost, rotate that webhook."},
		{petstore.NoSuchWebhook(), "not_found", "There is no webhook with this id."},
		{&petstore.Error{Code: petstore.TooManyWebhooks}, "too_many_webhooks", "This store already has 20 webhooks. Delete one first."},
		{second(petstore.Feed{Name: "4f7k", Trimmed: 12, Last: 40}.Check(petstore.EventPosition{Feed: "4f7k", Sequence: 11})), "events_gone", "The feed does not have this position: its events are no longer kept, or it is of another feed. Go on after evt_4f7k_12, the oldest position, or read the store anew and follow it from after=now."},
		{petstore.NotDone(errors.New("secret")), "unavailable", "The store cannot do this right now. Nothing was changed; try again shortly."},
		{fmt.Errorf("query: %w", context.DeadlineExceeded), "unavailable", "The store cannot do this right now. Nothing was changed; try again shortly."},
		{fmt.Errorf("secret: %w", petstore.NoSuchPet()), "not_found", "There is no animal with this id."},
	} {
		if code, message := refusalFor(c.refused); code != c.code || message != c.message {
			t.Errorf("%v:\n got %s %s\nwant %s %s", c.refused, code, message, c.code, c.message)
		}
	}
}

func TestUnexpectedRefusalIsAnInternalError(t *testing.T) {
	for _, err := range []error{
		errors.New("secret"),
		petstore.ErrServed,
		&petstore.Error{Code: "secret"},
	} {
		got := new(exchange).refusalOf(err)
		want := refusal{internalError, "Something went wrong on our side. Try again; if it stays, tell us the X-Request-Id of this answer.", err}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%v: got %+v", err, got)
		}
	}
}

func TestOnlyTheLogGetsTheCauseOfARefusal(t *testing.T) {
	cause := errors.New("secret")
	for _, err := range []error{cause, petstore.NotDone(cause), petstore.MaybeDone(cause), &refusal{invalidJSON, "The body did not arrive whole. Send it again.", cause}} {
		w := httptest.NewRecorder()
		x := newExchange(w, httptest.NewRequest(http.MethodDelete, "/v1/pets/1", nil), time.Time{})
		x.operation = &operation{method: http.MethodDelete}
		x.render(err)
		if !errors.Is(x.cause, cause) || w.Body.Len() == 0 || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%v: the client reads %s, the log %v", err, w.Body, x.cause)
		}
	}
}
