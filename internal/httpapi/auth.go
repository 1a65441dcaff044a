package httpapi

import (
	"net/http"
	"strings"

	"petstore/internal/petstore"
)

// identified finds out whose key the request carries. A refusal is kept until the request has been counted.
func (a *API) identified(next handler) handler {
	return func(x *exchange) error {
		x.key, x.refusal = a.authenticate(x)
		return next(x)
	}
}

// authenticate makes the cheapest check first. A cached key costs a hash, and so does a token that cannot be a key. Only
// a token that may be a key and is not cached costs a query.
func (a *API) authenticate(x *exchange) (*petstore.Key, error) {
	token, err := bearerToken(x.r)
	if err != nil {
		return &nobodys, err
	}
	hash := petstore.HashSecret(token)
	key, known, fresh := a.keys.cached(hash, x.start)
	if fresh {
		a.metrics.keysCached.Inc()
		return key, key.Usable(x.start)
	}
	if !known {
		if err := a.mayLookUp(x, token, hash); err != nil {
			return &nobodys, err
		}
	}
	a.metrics.keysLookedUp.Inc()
	key, err = a.keys.lookUp(x.r.Context(), hash)
	if petstore.IsCode(err, petstore.NotFound) {
		return &nobodys, refused(petstore.Unauthorized, "The API key is not known here. Check that it belongs to this service.")
	}
	if err != nil {
		x.unchecked = true
		return &nobodys, err
	}
	return key, key.Usable(x.start)
}

// mayLookUp keeps two kinds of requests from the storage: those with tokens that cannot be keys, and those of addresses
// that have used up their requests without a valid key.
func (a *API) mayLookUp(x *exchange, token string, hash petstore.SecretHash) error {
	if hash != a.namedHash {
		if err := petstore.CheckSecret(a.Environment, token); err != nil {
			a.metrics.keysGarbage.Inc()
			return err
		}
	}
	d, err := a.Limiter.Take(x.r.Context(), petstore.Ask{Subject: a.subjectOf(x), Limits: petstore.AddressLimits, Peek: true})
	if err != nil {
		return err
	}
	if d.Outcome != petstore.Allowed && !a.CountOnly {
		return refuse(x, d) // nobody has looked the key up, so the refusal does not call it invalid
	}
	return nil
}

// maxToken is longer than any key.
const maxToken = 128

// bearerToken reads the one Authorization header that a request must have.
func bearerToken(r *http.Request) (string, error) {
	values := r.Header["Authorization"]
	switch {
	case len(values) == 0:
		return "", refused(petstore.Unauthorized, "No API key was sent. Send it in a header: Authorization: Bearer YOUR_API_KEY.")
	case len(values) > 1:
		return "", refused(petstore.Unauthorized, "More than one Authorization header was sent. Send exactly one.")
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimLeft(token, " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > maxToken {
		return "", refused(petstore.Unauthorized, "The Authorization header is not of the form Bearer YOUR_API_KEY.")
	}
	return token, nil
}

// sentToken reports whether the request tried to present a bearer token, in whatever form.
func sentToken(r *http.Request) bool {
	for _, value := range r.Header["Authorization"] {
		if scheme, token, _ := strings.Cut(value, " "); strings.EqualFold(scheme, "Bearer") && strings.TrimSpace(token) != "" {
			return true
		}
	}
	return false
}
