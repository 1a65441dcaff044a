package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"petstore/client"
)

func TestFindPetRejectsAnotherAnimalFromAnOlderService(t *testing.T) {
	newest := line{status: 200, body: "[" + biscuit.body + "]"} // the answer of an old service, which ignores the parameter id
	if found, err := playing(t, &script{lines: []line{newest}}).FindPet(t.Context(), 7); err == nil {
		t.Errorf("got %+v for animal 7", found)
	}
}

func TestEveryWriteSendsAnIdempotencyKeyAndNoReadDoes(t *testing.T) {
	s := &script{lines: []line{biscuit}}
	store, ctx, name, chosen := playing(t, s), t.Context(), "Rex", client.WithIdempotencyKey("row 7")
	for operation, call := range map[string]func(...client.CallOption) error{
		"CreatePet": func(o ...client.CallOption) error { _, err := store.CreatePet(ctx, client.NewPet{}, o...); return err },
		"UpdatePet": func(o ...client.CallOption) error {
			_, err := store.UpdatePet(ctx, 1, client.PetPatch{}, o...)
			return err
		},
		"DeletePet":      func(o ...client.CallOption) error { return store.DeletePet(ctx, 1, o...) },
		"CreateCategory": func(o ...client.CallOption) error { _, err := store.CreateCategory(ctx, name, o...); return err },
		"NameCategory":   func(o ...client.CallOption) error { _, err := store.NameCategory(ctx, 1, name, o...); return err },
		"DeleteCategory": func(o ...client.CallOption) error { return store.DeleteCategory(ctx, 1, o...) },
		"PlaceOrder": func(o ...client.CallOption) error {
			_, err := store.PlaceOrder(ctx, client.NewOrder{}, o...)
			return err
		},
		"UpdateOrder": func(o ...client.CallOption) error {
			_, err := store.UpdateOrder(ctx, 1, client.OrderPatch{}, o...)
			return err
		},
		"CompleteOrder": func(o ...client.CallOption) error { _, err := store.CompleteOrder(ctx, 1, o...); return err },
		"CancelOrder":   func(o ...client.CallOption) error { _, err := store.CancelOrder(ctx, 1, o...); return err },
		"CreateWebhook": func(o ...client.CallOption) error {
			_, err := store.CreateWebhook(ctx, client.NewWebhook{}, o...)
			return err
		},
		"UpdateWebhook": func(o ...client.CallOption) error {
			_, err := store.UpdateWebhook(ctx, "wh_1", client.WebhookPatch{}, o...)
			return err
		},
		"DeleteWebhook": func(o ...client.CallOption) error { return store.DeleteWebhook(ctx, "wh_1", o...) },
		"RotateWebhook": func(o ...client.CallOption) error { _, err := store.RotateWebhook(ctx, "wh_1", o...); return err },
		"PingWebhook":   func(o ...client.CallOption) error { _, err := store.PingWebhook(ctx, "wh_1", o...); return err },
	} {
		call()
		call()
		call(chosen)
		last := s.asked[len(s.asked)-3:]
		if first, second := last[0].idempotencyKey, last[1].idempotencyKey; first == second || len(first) < 20 || last[2].idempotencyKey != "row 7" {
			t.Errorf("%s sends the idempotency keys %q, %q and %q", operation, first, second, last[2].idempotencyKey)
		}
		for _, malformed := range []string{"no\nkey", "", strings.Repeat("k", 256)} {
			if sent := len(s.asked); call(client.WithIdempotencyKey(malformed)) == nil || len(s.asked) != sent {
				t.Errorf("%s accepts the idempotency key %q", operation, malformed)
			}
		}
	}
	if _, err := store.GetPet(ctx, 1, client.WithIdempotencyKey("no\nkey")); err != nil || s.asked[len(s.asked)-1].idempotencyKey != "" {
		t.Errorf("a read sends %+v, %v", s.asked[len(s.asked)-1], err)
	}
}

func TestAnOrderPatchSaysWhatChangesAndWhatIsRemoved(t *testing.T) {
	s := &script{lines: []line{{status: 200, body: `{"id":1}`}}}
	store, ann, none, hold, odd := playing(t, s), "Ann", "", time.Hour, 90*time.Millisecond
	for want, patch := range map[string]client.OrderPatch{
		`{}`:                   {},
		`{"reference":"Ann"}`:  {Reference: &ann},
		`{"reference":null}`:   {Reference: &none},
		`{"holdSeconds":3600}`: {Hold: &hold},
	} {
		if _, err := store.UpdateOrder(t.Context(), 1, patch); err != nil || s.asked[len(s.asked)-1].body != want {
			t.Errorf("got %+v, %v, want %s", s.asked[len(s.asked)-1], err, want)
		}
	}
	sent := len(s.asked)
	if _, err := store.UpdateOrder(t.Context(), 1, client.OrderPatch{Hold: &odd}); !errors.Is(err, client.ErrInvalidField) || len(s.asked) != sent {
		t.Errorf("a hold of %s got %v", odd, err)
	}
}

func TestAHoldThatIsNotWholeSecondsIsNotSent(t *testing.T) {
	s := &script{lines: []line{biscuit}}
	store := playing(t, s)
	for _, hold := range []time.Duration{90*time.Second + 500*time.Millisecond, 90*time.Second + 1, 1, -1} {
		_, err := store.PlaceOrder(t.Context(), client.NewOrder{PetID: 1, Hold: hold})
		if !errors.Is(err, client.ErrInvalidField) || !strings.Contains(err.Error(), hold.String()) || len(s.asked) > 0 {
			t.Errorf("a hold of %s gives %v, after %d requests", hold, err, len(s.asked))
		}
	}
}

// A program that forgot to set an id must not get every animal.
func TestAQueryForTheIDZeroAsksForIt(t *testing.T) {
	s := &script{lines: []line{{status: 200, body: "[]"}}}
	store, zero := playing(t, s), new(int64)
	store.ListOrders(t.Context(), client.OrderQuery{PetID: zero})
	store.ListPets(t.Context(), client.PetQuery{ID: zero})
	store.ListOrders(t.Context(), client.OrderQuery{})
	for i, want := range []string{"/v1/orders?petId=0", "/v1/pets?id=0", "/v1/orders"} {
		if got := s.asked[i].target; got != want {
			t.Errorf("asked for %s, want %s", got, want)
		}
	}
}

func TestAnAddressWithoutAPetstoreIsReported(t *testing.T) {
	for name, answer := range map[string]line{
		"a web server's 404": {status: 404, proxy: true, body: "<html>"},
		"another API's 404":  {status: 404, proxy: true, body: `{"message":"Not Found","code":404}`},
		"a web server's 405": {status: 405, proxy: true},
		"a redirect":         {status: 301, proxy: true, headers: []string{"Location: https://petstore.test/"}},
	} {
		store := playing(t, &script{lines: []line{answer}})
		_, err := store.GetPet(t.Context(), 1)
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Status != answer.status || refused.Code != "" || errors.Is(err, client.ErrNotFound) ||
			!strings.HasPrefix(err.Error(), "There is no petstore at http://petstore.test/v1: ") {
			t.Errorf("%s gives %v", name, err)
		}
	}
	_, err := playing(t, &script{lines: []line{{status: 403, proxy: true, body: "<html>"}}}).GetPet(t.Context(), 1)
	if err == nil || strings.Contains(err.Error(), "no petstore") {
		t.Errorf("a proxy's 403 gives %v", err)
	}
}

func TestUnknownFieldsStatesAndCodesAreAccepted(t *testing.T) {
	pet := line{status: 200, body: `{"id":1,"name":"B","categoryId":1,"status":"fostered","tags":["a"],"born":{"year":2024}}`}
	got, err := playing(t, &script{lines: []line{pet}}).GetPet(t.Context(), 1)
	if want := (client.Pet{ID: 1, Name: "B", CategoryID: 1, Status: "fostered"}); err != nil || got != want {
		t.Errorf("the animal is read as %+v, %v; want %+v", got, err, want)
	}
	order := line{status: 200, body: `{"id":1,"petId":2,"status":"shipped","createdAt":"2026-11-15T12:00:00Z","expiresAt":"2026-11-15T12:00:00.123456Z","carrier":null}`}
	o, err := playing(t, &script{lines: []line{order}}).GetOrder(t.Context(), 1)
	if err != nil || o.Status != "shipped" {
		t.Errorf("the order is read as %+v, %v", o, err)
	}
	_, err = playing(t, &script{lines: []line{refusal(418, "teapot", "X-Request-Id: a")}}).GetOrder(t.Context(), 1)
	if e := (*client.Error)(nil); !errors.As(err, &e) || *e != (client.Error{Code: "teapot", Message: "No.", Status: 418, RequestID: "a"}) {
		t.Errorf("the refusal is read as %+v", err)
	}
}

// flood is a transport whose answers are far longer than any answer of the service. It counts the bytes that the client
// reads.
type flood struct{ read int }

func (f *flood) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(f)}, nil
}

func (f *flood) Read(p []byte) (int, error) {
	if f.read > 64<<20 {
		return 0, io.EOF // ends the answer, so that an unbounded client fails instead of filling the memory
	}
	f.read += len(p)
	return len(p), nil
}

func TestAnEndlessAnswerIsReadOnlyUpToTheBound(t *testing.T) {
	answer := new(flood)
	store := newClient(t, "http://petstore.test", "secret", client.WithHTTPClient(&http.Client{Transport: answer}))
	if _, err := store.GetPet(t.Context(), 1); err == nil || answer.read > 16<<20 {
		t.Errorf("after %d bytes the error is %v", answer.read, err)
	}
}

func TestTheAddressMayNameTheVersion(t *testing.T) {
	for address, want := range map[string]string{
		"http://petstore.test":            "/v1/inventory",
		"http://petstore.test/":           "/v1/inventory",
		"http://petstore.test/v1":         "/v1/inventory",
		"http://petstore.test/v1/":        "/v1/inventory",
		"http://petstore.test/stores/pet": "/stores/pet/v1/inventory",
	} {
		s := &script{lines: []line{{status: 200, body: `{"available":0,"pending":0,"sold":0}`}}}
		store := newClient(t, address, "secret", client.WithHTTPClient(&http.Client{Transport: s}))
		if _, err := store.GetInventory(t.Context()); err != nil || s.asked[0].target != want {
			t.Errorf("%s asks for %s, %v; want %s", address, s.asked[0].target, err, want)
		}
	}
	for _, address := range []string{"", "petstore.test", "localhost:8080", "ftp://petstore.test", "http://", "http://me:secret@petstore.test", "http://petstore.test?a=b", "http://%zz"} {
		if _, err := client.New(address, "secret"); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("the address %q gives %v", address, err)
		}
	}
}

func TestTheKeyIsNeverShown(t *testing.T) {
	const key = "pets_live_TopSecret"
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := &script{lines: []line{hangUp, refusal(401, client.ErrUnauthorized)}}
	store := newClient(t, "http://petstore.test", key, client.WithHTTPClient(&http.Client{Transport: s}), client.WithLogger(logger))
	_, err := store.GetInventory(t.Context())
	logger.Info("done", "client", store)
	shown := fmt.Sprintln(log.String(), err, store)
	for _, verb := range []string{"%s", "%+v", "%#v", "%q", "%d", "%x"} {
		shown += fmt.Sprintf(verb+"\n", store)
	}
	for _, text := range []string{"TopSecret", "Bearer"} {
		if strings.Contains(shown, text) {
			t.Errorf("%s is shown in\n%s", text, shown)
		}
	}
	if !strings.Contains(log.String(), "retrying") || !strings.Contains(shown, "petstore client of http://petstore.test/v1") {
		t.Errorf("nothing is shown in\n%s", shown)
	}
	for _, bad := range []string{"", "Top Secret", "TopSecret\n", "TöpSecret"} {
		if _, err := client.New("http://petstore.test", bad); err == nil || strings.Contains(err.Error(), "Secret") {
			t.Errorf("the key %q gives %v", bad, err)
		}
	}
}

func TestACallWithAnEndedContextSendsNothing(t *testing.T) {
	s := &script{lines: []line{biscuit}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := playing(t, s).GetPet(ctx, 1); !errors.Is(err, context.Canceled) || len(s.asked) > 0 {
		t.Errorf("sent %d requests, then %v", len(s.asked), err)
	}
}

func TestAProfilePatchSaysWhatChangesAndWhatIsRemoved(t *testing.T) {
	s := &script{lines: []line{{status: 200, body: `{"photos":[]}`}}}
	store, female, none := playing(t, s), client.Female, ""
	for want, patch := range map[string]client.ProfilePatch{
		`{}`: {},
		`{"breed":"Beagle","bornOn":"2024","sex":"female"}`:  {Breed: new("Beagle"), Sex: &female, BornOn: new("2024")},
		`{"arrivedOn":null,"description":null,"notes":null}`: {ArrivedOn: &none, Description: &none, Notes: &none},
		`{"tags":["shy"]}`: {Tags: &[]string{"shy"}},
		`{"tags":[]}`:      {Tags: new([]string)},
	} {
		if _, err := store.UpdateProfile(t.Context(), 1, patch); err != nil || !sameJSON(s.asked[len(s.asked)-1].body, want) {
			t.Errorf("got %+v, %v, want %s", s.asked[len(s.asked)-1], err, want)
		}
	}
}

func TestAddressesOfPhotosAreComplete(t *testing.T) {
	const photo = `{"id":1,"url":"/photos/a/1280.jpg","thumbnailUrl":"https://pets.example/photos/a/400.jpg"}`
	s := &script{lines: []line{
		{status: 201, body: photo},
		{status: 200, body: `{"photos":[` + photo + `]}`},
		{status: 200, body: `[{"id":1,"profile":{"photos":[` + photo + `]}},{"id":2}]`},
	}}
	store := playing(t, s)
	added, err := store.AddPhoto(t.Context(), 1, strings.NewReader("photo"))
	profile, err2 := store.GetProfile(t.Context(), 1)
	page, err3 := store.ListPets(t.Context(), client.PetQuery{Profiles: true})
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	for _, got := range []client.Photo{added, profile.Photos[0], page.Items[0].Profile.Photos[0]} {
		if got.URL != "http://petstore.test/photos/a/1280.jpg" || got.ThumbnailURL != "https://pets.example/photos/a/400.jpg" {
			t.Errorf("the addresses are %s and %s", got.URL, got.ThumbnailURL)
		}
	}
}

func TestAPhotoIsSentWithItsTypeAndNeverTooLarge(t *testing.T) {
	s := &script{lines: []line{hangUp, {status: 201, body: `{"id":1}`}}}
	store := playing(t, s)
	const png = "\x89PNG\r\n\x1a\n"
	if _, err := store.AddPhoto(t.Context(), 7, strings.NewReader(png)); err != nil || len(s.asked) != 2 || s.asked[1].body != png || s.asked[1].mediaType != "image/png" {
		t.Errorf("sent %+v, %v", s.asked, err)
	}
	if s.asked[0].idempotencyKey != s.asked[1].idempotencyKey {
		t.Error("the two tries have different idempotency keys")
	}
	large := io.LimitReader(zeros{}, client.MaxPhotoSize+1)
	if _, err := store.AddPhoto(t.Context(), 7, large); !errors.Is(err, client.ErrPayloadTooLarge) || len(s.asked) != 2 {
		t.Errorf("a photo that is too large got %v", err)
	}
	if _, err := store.AddPhoto(t.Context(), 7, strings.NewReader("")); err == nil || len(s.asked) != 2 {
		t.Errorf("an empty photo got %v", err)
	}
}

// zeros is an endless reader.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// sameJSON reports whether two texts are the same JSON object.
func sameJSON(a, b string) bool {
	var x, y map[string]any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}
