package httpapi

import (
	"context"
	"crypto/sha256"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"petstore/internal/petstore"
)

// maxBody is the largest body of a create.
const maxBody = 1 << 20

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
	p, reused, err := a.answers.get(q, func() (*page, error) { return a.listPage(x.r.Context(), q) })
	if err != nil {
		return err
	}
	if reused {
		a.metrics.answersReused.Inc()
	}
	if p.link != nil {
		x.share("Link", p.link)
	}
	return x.respond(http.StatusOK, p.body)
}

// listPage asks for one animal more than the page holds, to know whether another page follows.
func (a *API) listPage(ctx context.Context, q petstore.PetQuery) (*page, error) {
	more := q
	more.Limit++
	pets, err := a.Storage.ListPets(ctx, more)
	if err != nil {
		return nil, err
	}
	p := &page{}
	if len(pets) > q.Limit {
		pets = pets[:q.Limit]
		p.link = []string{a.links.next(q, pets[q.Limit-1].ID)}
	}
	p.body = appendPets(make([]byte, 0, 2+96*len(pets)), pets)
	return p, nil
}

func (a *API) createPet(x *exchange) error {
	if err := checkMediaType(x.r.Header); err != nil {
		return err
	}
	body, err := x.readBody()
	if err != nil {
		return err
	}
	once, err := onceOf(x, body)
	if err != nil {
		return err
	}
	fresh, err := decodeNewPet(body)
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
	return x.respond(http.StatusCreated, appendPet(make([]byte, 0, 96+len(pet.Name)), pet))
}

func (a *API) getPet(x *exchange) error {
	if !a.KeepDeprecated && !x.start.Before(sunsetTime) {
		return petstore.Errorf(petstore.Gone, "Reading one animal was removed on 5 December 2030. List animals with GET /v1/pets and its status filter instead.")
	}
	id, ok := parseDecimal(x.parameter)
	if !ok {
		return petstore.NoSuchPet()
	}
	pet, err := a.Storage.GetPet(x.r.Context(), id)
	if err != nil {
		return err
	}
	return x.respond(http.StatusOK, appendPet(make([]byte, 0, 96+len(pet.Name)), pet))
}

// checkMediaType lets JSON pass, and a body that does not say what it is.
func checkMediaType(h http.Header) error {
	types := h["Content-Type"]
	if encoding := h.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return petstore.Errorf(petstore.UnsupportedMediaType, "The body is encoded. Send it as plain application/json.")
	}
	if len(types) == 0 || (len(types) == 1 && (types[0] == "application/json" || types[0] == "")) {
		return nil
	}
	media, _, err := mime.ParseMediaType(types[0])
	_, subtype, _ := strings.Cut(media, "/")
	if len(types) > 1 || (err != nil && err != mime.ErrInvalidMediaParameter) || (media != "application/json" && !strings.HasSuffix(subtype, "+json")) {
		return petstore.Errorf(petstore.UnsupportedMediaType, "The Content-Type is not JSON. Send application/json.")
	}
	return nil
}

func (x *exchange) readBody() ([]byte, error) {
	length := x.r.ContentLength
	if length > maxBody {
		return nil, tooLarge()
	}
	var body []byte
	var err error
	x.wanted = true
	if length > 0 {
		body = make([]byte, length)
		_, err = io.ReadFull(x.r.Body, body)
	} else {
		body, err = io.ReadAll(io.LimitReader(x.r.Body, maxBody+1))
	}
	switch {
	case err != nil:
		return nil, &petstore.Error{Code: petstore.InvalidJSON, Message: "The body did not arrive whole. Send it again.", Cause: err}
	case len(body) > maxBody:
		return nil, tooLarge()
	}
	return body, nil
}

func tooLarge() error {
	return petstore.Errorf(petstore.PayloadTooLarge, "The body is larger than 1 MiB. Send less.")
}

// onceOf reads the Idempotency-Key, nil if there is none. The fingerprint is of the body's bytes.
func onceOf(x *exchange, body []byte) (*petstore.Once, error) {
	keys := x.r.Header["Idempotency-Key"]
	if len(keys) == 0 {
		return nil, nil
	}
	if len(keys) > 1 || !isPrintable(keys[0]) || len(keys[0]) < 1 || len(keys[0]) > 255 {
		return nil, petstore.Errorf(petstore.InvalidParameter, "Idempotency-Key must be given once, with 1 to 255 printable ASCII characters.")
	}
	return &petstore.Once{Owner: x.key.Owner, Key: keys[0], Fingerprint: sha256.Sum256(body), Now: x.start}, nil
}

func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
