package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"petstore/api"
	"petstore/client"
	"petstore/internal/petstore"
)

// online starts a real service on its own port and returns a client of it.
func online(t *testing.T, options ...client.Option) (*client.Client, *service) {
	t.Helper()
	s := testService(t)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return newClient(t, server.URL, s.generousKey(t), options...), s
}

// must returns the result of a call that has to succeed.
func must[T any](result T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
}

// wantResult fails the test unless a call succeeded with the result want.
func wantResult[T any](t *testing.T, got T, err error, want T) {
	t.Helper()
	if err != nil {
		t.Error(err)
	} else if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// wantRefusal fails the test unless a call was refused with that code and status.
func wantRefusal(t *testing.T, err error, code client.Code, status int) {
	t.Helper()
	var e *client.Error
	if !errors.Is(err, code) || !errors.As(err, &e) || e.Status != status || e.RequestID == "" || e.Message == "" {
		t.Errorf("got %v, want %s with the status %d", err, code, status)
	}
}

func TestAnimalsCanBeAddedFoundChangedAndDeleted(t *testing.T) {
	store, _ := online(t)
	ctx := t.Context()
	pet, err := store.CreatePet(ctx, client.NewPet{Name: "Biscuit", CategoryID: 1})
	wantResult(t, pet, err, client.Pet{ID: 1, Name: "Biscuit", CategoryID: 1, Status: client.Available})
	pet, err = store.CreatePet(ctx, client.NewPet{Name: "Olive & <Zoë>", CategoryID: -2, Status: client.Sold})
	wantResult(t, pet, err, client.Pet{ID: 2, Name: "Olive & <Zoë>", CategoryID: -2, Status: client.Sold})

	found, err := store.GetPet(ctx, 2)
	wantResult(t, found, err, pet)
	found, err = store.FindPet(ctx, 2)
	wantResult(t, found, err, pet)
	_, err = store.FindPet(ctx, 7)
	wantRefusal(t, err, client.ErrNotFound, 404)

	page, err := store.ListPets(ctx, client.PetQuery{Status: client.Sold})
	wantResult(t, page, err, client.Page[client.Pet]{Items: []client.Pet{pet}})
	page, err = store.ListPets(ctx, client.PetQuery{ID: new(int64(1)), Status: client.Sold})
	wantResult(t, page, err, client.Page[client.Pet]{Items: []client.Pet{}})

	pet, err = store.UpdatePet(ctx, 2, client.PetPatch{Name: new("Olive"), CategoryID: new(int64(0))})
	wantResult(t, pet, err, client.Pet{ID: 2, Name: "Olive", CategoryID: 0, Status: client.Sold})
	pet, err = store.UpdatePet(ctx, 2, client.PetPatch{Status: new(client.Pending)})
	wantResult(t, pet.Status, err, client.Pending)

	counts, err := store.GetInventory(ctx)
	wantResult(t, counts, err, client.Inventory{Available: 1, Pending: 1})
	wantResult(t, true, store.DeletePet(ctx, 2), true)
	wantRefusal(t, store.DeletePet(ctx, 2), client.ErrNotFound, 404)
}

func TestCategoriesCanBeNamedListedAndDeleted(t *testing.T) {
	store, _ := online(t)
	ctx := t.Context()
	dogs, err := store.CreateCategory(ctx, "dogs")
	wantResult(t, dogs, err, client.Category{ID: 1, Name: "dogs"})
	named, err := store.NameCategory(ctx, -7, "cats")
	wantResult(t, named, err, client.Category{ID: -7, Name: "cats"})
	page, err := store.ListCategories(ctx, client.CategoryQuery{Limit: 1})
	wantResult(t, page.Items, err, []client.Category{named})
	page, err = store.ListCategories(ctx, client.CategoryQuery{Limit: 1, Cursor: page.Next})
	wantResult(t, page, err, client.Page[client.Category]{Items: []client.Category{dogs}})
	_, err = store.CreateCategory(ctx, "dogs")
	wantRefusal(t, err, client.ErrNameTaken, 409)
	wantResult(t, true, store.DeleteCategory(ctx, 1), true)
	_, err = store.GetCategory(ctx, 1)
	wantRefusal(t, err, client.ErrNotFound, 404)
	found, err := store.GetCategory(ctx, -7)
	wantResult(t, found, err, named)
}

func TestOrdersHoldAnimals(t *testing.T) {
	store, _ := online(t)
	ctx := t.Context()
	pet := must(store.CreatePet(ctx, client.NewPet{Name: "Biscuit", CategoryID: 1}))(t)
	order := must(store.PlaceOrder(ctx, client.NewOrder{PetID: pet.ID, Reference: "A-17", Hold: 90 * time.Second}))(t)
	if order.Status != client.Open || order.Reference != "A-17" || order.ExpiresAt.Sub(order.CreatedAt) != 90*time.Second || !order.ClosedAt.IsZero() {
		t.Errorf("placed %+v", order)
	}
	_, err := store.PlaceOrder(ctx, client.NewOrder{PetID: pet.ID})
	wantRefusal(t, err, client.ErrPetUnavailable, 409)
	_, err = store.PlaceOrder(ctx, client.NewOrder{PetID: pet.ID, Hold: -time.Second})
	wantRefusal(t, err, client.ErrInvalidField, 400)
	wantRefusal(t, store.DeletePet(ctx, pet.ID), client.ErrPetReserved, 409)

	cancelled := must(store.CancelOrder(ctx, order.ID))(t)
	if cancelled.Status != client.Cancelled || cancelled.ClosedAt.IsZero() {
		t.Errorf("cancelled %+v", cancelled)
	}
	_, err = store.CompleteOrder(ctx, order.ID)
	wantRefusal(t, err, client.ErrOrderClosed, 409)
	second := must(store.PlaceOrder(ctx, client.NewOrder{PetID: pet.ID}))(t)
	if hold := second.ExpiresAt.Sub(second.CreatedAt); hold != petstore.DefaultHold {
		t.Errorf("an order without Hold holds for %s", hold)
	}
	completed := must(store.CompleteOrder(ctx, second.ID))(t)
	found, err := store.GetOrder(ctx, second.ID)
	wantResult(t, found, err, completed)
	page, err := store.ListOrders(ctx, client.OrderQuery{PetID: &pet.ID, Status: client.Cancelled})
	wantResult(t, page.Items, err, []client.Order{cancelled})
}

func TestRefusalsHaveACodeAndAStatus(t *testing.T) {
	store, s := online(t)
	ctx := t.Context()
	_, err := store.CreatePet(ctx, client.NewPet{})
	wantRefusal(t, err, client.ErrInvalidField, 400)
	_, err = store.ListPets(ctx, client.PetQuery{Limit: 101})
	wantRefusal(t, err, client.ErrInvalidParameter, 400)
	_, err = store.GetOrder(ctx, 7)
	wantRefusal(t, err, client.ErrNotFound, 404)
	must(store.CreateCategory(ctx, "dogs", client.WithIdempotencyKey("k")))(t)
	_, err = store.CreateCategory(ctx, "cats", client.WithIdempotencyKey("k"))
	wantRefusal(t, err, client.ErrIdempotencyConflict, 409)

	secret, err := s.key(ctx, petstore.Free, petstore.ReadOnly, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, through(t, s, secret).DeletePet(ctx, 1), client.ErrForbidden, 403)
	_, err = through(t, s, "wrong").GetInventory(ctx)
	wantRefusal(t, err, client.ErrUnauthorized, 401)
	if text := err.Error(); !strings.Contains(text, "(401 unauthorized, request ") {
		t.Errorf("the error reads %q", text)
	}
}

func TestTextThatIsNotUTF8IsNotSent(t *testing.T) {
	store, _ := online(t)
	ctx := t.Context()
	pet := must(store.CreatePet(ctx, client.NewPet{Name: `\ufffd \uFFFD �`}))(t)
	if pet.Name != `\ufffd \uFFFD �` {
		t.Errorf("a name in valid UTF-8 became %q", pet.Name)
	}
	const latin1 = "Zo\xeb"
	_, created := store.CreatePet(ctx, client.NewPet{Name: latin1})
	_, changed := store.UpdatePet(ctx, pet.ID, client.PetPatch{Name: new(latin1)})
	_, placed := store.PlaceOrder(ctx, client.NewOrder{PetID: pet.ID, Reference: latin1})
	_, named := store.CreateCategory(ctx, latin1)
	_, renamed := store.NameCategory(ctx, 1, latin1)
	for _, err := range []error{created, changed, placed, named, renamed} {
		if !errors.Is(err, client.ErrInvalidField) || !strings.Contains(err.Error(), `"Zo\xeb" is not valid UTF-8`) {
			t.Errorf("got %v", err)
		}
	}
	found, err := store.FindPet(ctx, pet.ID)
	wantResult(t, found, err, pet)
}

func TestLimitsAreReadFromEveryAnswer(t *testing.T) {
	s := testService(t)
	store := through(t, s, s.keyOf(t, petstore.Enterprise, 50, 5000))
	if limits := store.Limits(); limits != (client.Limits{}) {
		t.Errorf("before the first answer the limits are %+v", limits)
	}
	var meta client.Meta
	_, err := store.GetInventory(t.Context(), client.WithMeta(&meta))
	if err != nil || meta.Status != 200 || meta.RequestID == "" || meta.Attempts != 1 {
		t.Errorf("the first answer says %+v, %v", meta, err)
	}
	wantRefusal(t, store.DeletePet(t.Context(), 1, client.WithMeta(&meta)), client.ErrNotFound, 404)
	wait := time.Until(meta.Limits.Reset)
	if meta.Limits.Limit != 50 || meta.Limits.Remaining > 49 || wait > time.Minute || wait < -time.Minute || store.Limits() != meta.Limits {
		t.Errorf("the second answer says %+v, the client %+v", meta, store.Limits())
	}
}

func TestFindPetRejectsAnotherAnimalFromAnOlderService(t *testing.T) {
	newest := line{status: 200, body: "[" + biscuit.body + "]"} // the first version of the service ignores the parameter id
	if found, err := playing(t, &script{lines: []line{newest}}).FindPet(t.Context(), 7); err == nil {
		t.Errorf("got %+v for animal 7", found)
	}
}

func TestOnlyCreatesUseAnIdempotencyKey(t *testing.T) {
	s := &script{lines: []line{biscuit}}
	store, wrong := playing(t, s), client.WithIdempotencyKey("no\nkey")
	if _, err := store.UpdatePet(t.Context(), 1, client.PetPatch{}, wrong); err != nil || s.asked[0].idempotencyKey != "" {
		t.Errorf("an update sends %q, %v", s.asked[0].idempotencyKey, err)
	}
	if _, err := store.GetPet(t.Context(), 1, wrong); err != nil {
		t.Error(err)
	}
	for _, malformed := range []string{"no\nkey", "", strings.Repeat("k", 256)} {
		if _, err := store.CreatePet(t.Context(), client.NewPet{}, client.WithIdempotencyKey(malformed)); err == nil {
			t.Errorf("a create accepts the idempotency key %q", malformed)
		}
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

// An id that a program forgot to set must not select everything.
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
	wantResult(t, got, err, client.Pet{ID: 1, Name: "B", CategoryID: 1, Status: "fostered"})
	order := line{status: 200, body: `{"id":1,"petId":2,"status":"shipped","createdAt":"2026-11-15T12:00:00Z","expiresAt":"2026-11-15T12:00:00.123456Z","carrier":null}`}
	o, err := playing(t, &script{lines: []line{order}}).GetOrder(t.Context(), 1)
	wantResult(t, o.Status, err, "shipped")
	_, err = playing(t, &script{lines: []line{refusal(418, "teapot", "X-Request-Id: a")}}).GetOrder(t.Context(), 1)
	wantRefusal(t, err, "teapot", 418)
}

// flood is a transport whose answers are far longer than any answer of the service. It counts the bytes that were read.
type flood struct{ read int }

func (f *flood) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(f)}, nil
}

func (f *flood) Read(p []byte) (int, error) {
	if f.read > 64<<20 {
		return 0, io.EOF // so that a client without a bound fails the test and does not fill the memory
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

func TestEveryOperationOfTheDocumentHasAMethod(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromData(api.YAML)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range document.Paths.Map() {
		for _, op := range item.Operations() {
			name := strings.ToUpper(op.OperationID[:1]) + op.OperationID[1:]
			if _, ok := reflect.TypeFor[*client.Client]().MethodByName(name); !ok {
				t.Errorf("the client has no method %s", name)
			}
		}
	}
}

func TestEveryCodeOfTheDocumentIsAnErrorOfTheClient(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromData(api.YAML)
	if err != nil {
		t.Fatal(err)
	}
	var described, own []string
	for _, code := range document.Components.Schemas["Error"].Value.Properties["code"].Value.Enum {
		described = append(described, code.(string))
	}
	text, err := os.ReadFile("errors.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(`Code = "(\w+)"`).FindAllStringSubmatch(string(text), -1) {
		own = append(own, match[1])
	}
	slices.Sort(described)
	slices.Sort(own)
	if len(described) == 0 || !slices.Equal(described, own) {
		t.Errorf("the document has the codes\n%s\nthe client\n%s", described, own)
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
