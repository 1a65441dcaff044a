package clienttest

import (
	"errors"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"petstore/client"
	"petstore/internal/petstore"
)

// online starts a real service on its own port and returns a client for the service.
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
		noError(t, err)
		return result
	}
}

// wantResult fails the test unless the call succeeded and returned want.
func wantResult[T any](t *testing.T, got T, err error, want T) {
	t.Helper()
	if err != nil {
		t.Error(err)
	} else if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// wantRefusal fails the test unless the service refused the call with that code and status.
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

	none, hold := "", 2*time.Hour
	order = must(store.UpdateOrder(ctx, order.ID, client.OrderPatch{Reference: &none, Hold: &hold}))(t)
	if order.Reference != "" || order.ExpiresAt.Sub(order.CreatedAt) < hold {
		t.Errorf("changed to %+v", order)
	}
	cancelled := must(store.CancelOrder(ctx, order.ID))(t)
	if cancelled.Status != client.Cancelled || cancelled.ClosedAt.IsZero() {
		t.Errorf("cancelled %+v", cancelled)
	}
	_, err = store.CompleteOrder(ctx, order.ID)
	wantRefusal(t, err, client.ErrOrderClosed, 409)
	_, err = store.UpdateOrder(ctx, order.ID, client.OrderPatch{Hold: &hold})
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
	noError(t, err)
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

// noError fails the test if err is not nil.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
