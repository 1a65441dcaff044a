package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"petstore/internal/conformance"
	"petstore/internal/petstore"
)

// directClient calls the API without a network. A network would leave more time between two requests.
type directClient struct {
	*service
	secret string
}

func (h directClient) ask(ctx context.Context, method, target, body string, into any) error {
	r := httptest.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+h.secret)
	w := httptest.NewRecorder()
	if h.api.ServeHTTP(w, r); w.Code >= 300 {
		return fmt.Errorf("%s %s: %s", method, target, w.Body)
	}
	return json.Unmarshal(w.Body.Bytes(), into)
}

func (h directClient) ListPets(ctx context.Context, q petstore.PetQuery) ([]petstore.Pet, error) {
	var pets []struct{ ID int64 }
	err := h.ask(ctx, "GET", fmt.Sprintf("/v1/pets?limit=%d", q.Limit), "", &pets)
	found := make([]petstore.Pet, len(pets))
	for i, pet := range pets {
		found[i].ID = pet.ID
	}
	return found, err
}

func (h directClient) GetPet(ctx context.Context, id int64) (petstore.Pet, error) {
	var pet struct{ ID int64 }
	err := h.ask(ctx, "GET", fmt.Sprintf("/v1/pets/%d", id), "", &pet)
	return petstore.Pet{ID: pet.ID}, err
}

func (h directClient) CreatePet(ctx context.Context, _ petstore.NewPet, _ *petstore.Idempotency) (petstore.Pet, bool, error) {
	var pet struct{ ID int64 }
	err := h.ask(ctx, "POST", "/v1/pets", `{"name":"Rex","categoryId":1}`, &pet)
	return petstore.Pet{ID: pet.ID}, false, err
}

func TestAnswersNeverGoBackInTime(t *testing.T) {
	onEveryStorage(t, func(t *testing.T, open opener) {
		s := serve(t, on(open(t)))
		if err := conformance.History(t.Context(), directClient{s, s.key(petstore.Enterprise)}); err != nil {
			t.Error(err)
		}
	})
}
