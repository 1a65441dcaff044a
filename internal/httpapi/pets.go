package httpapi

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strconv"
	"time"

	"petstore/internal/petstore"
)

// When getPet was deprecated and when it is removed, as RFC 9745 and RFC 8594 write it.
var (
	sunsetTime  = time.Date(2030, time.December, 5, 0, 0, 0, 0, time.UTC)
	deprecation = []string{"@1794700800"}
	sunset      = []string{sunsetTime.Format(http.TimeFormat)}
	replayed    = []string{"true"}
)

func (a *API) listPets(x *exchange) error {
	q, err := parseListQuery(x.r.URL.RawQuery)
	if err != nil {
		return err
	}
	page, reused, err := a.pages.get(q, func() (answer, error) { return a.listPage(x.r.Context(), q) })
	if err != nil {
		return err
	}
	if reused {
		a.metrics.answersReused.Inc()
	}
	return x.respondWith(page)
}

// listPage asks for one animal more than the page holds, to know whether another page follows.
func (a *API) listPage(ctx context.Context, q petstore.PetQuery) (answer, error) {
	more := q
	more.Limit++
	pets, err := a.Storage.ListPets(ctx, more)
	if err != nil {
		return answer{}, err
	}
	var page answer
	if len(pets) > q.Limit {
		pets = pets[:q.Limit]
		page.link = a.links.next(q, pets[q.Limit-1].ID)
	}
	page.body = appended(func(b []byte) []byte { return appendPets(b, pets) })
	return page, nil
}

func (a *API) createPet(x *exchange) error {
	once, err := onceOf(x)
	if err != nil {
		return err
	}
	fresh, err := decodeNewPet(x.body)
	if err != nil {
		return err
	}
	pet, again, err := a.Storage.CreatePet(x.r.Context(), fresh, once)
	if err != nil {
		return err
	}
	if again {
		x.share("Idempotency-Replayed", replayed)
	} else {
		a.metrics.created.Inc()
	}
	x.set("Location", a.links.pets+"/"+strconv.FormatInt(pet.ID, 10))
	return x.respond(http.StatusCreated, encodePet(pet))
}

func (a *API) getPet(x *exchange) error {
	if !a.KeepDeprecated && !x.start.Before(sunsetTime) {
		return petstore.Errorf(petstore.Gone, "Reading one animal was removed on 5 December 2030. List animals with GET /v1/pets and its status filter instead.")
	}
	id, ok := parseDecimal(x.parameter)
	if !ok {
		return petstore.NoSuchPet()
	}
	found, reused, err := a.pets.get(id, func() (answer, error) { return a.onePet(x.r.Context(), id) })
	if err != nil {
		return err
	}
	if reused {
		a.metrics.answersReused.Inc()
	}
	return x.respondWith(found)
}

func (a *API) onePet(ctx context.Context, id int64) (answer, error) {
	pet, err := a.Storage.GetPet(ctx, id)
	if err != nil {
		return answer{}, err
	}
	return answer{body: encodePet(pet)}, nil
}

// onceOf reads the Idempotency-Key, nil if there is none. The fingerprint is of the body's bytes.
func onceOf(x *exchange) (*petstore.Once, error) {
	keys := x.r.Header["Idempotency-Key"]
	if len(keys) == 0 {
		return nil, nil
	}
	if len(keys) > 1 || !isPrintable(keys[0]) || len(keys[0]) < 1 || len(keys[0]) > 255 {
		return nil, petstore.Errorf(petstore.InvalidParameter, "Idempotency-Key must be given once, with 1 to 255 printable ASCII characters.")
	}
	return &petstore.Once{Owner: x.key.Owner, Key: keys[0], Fingerprint: sha256.Sum256(x.body), Now: x.start}, nil
}

func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
