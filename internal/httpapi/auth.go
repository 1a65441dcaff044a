package httpapi

import (
	"net/http"
	"strings"

	"petstore/internal/petstore"
)

// identified looks up the key of the request. It keeps a refusal in the exchange, because the request must be counted
// before it is refused.
func (a *API) identified(next handler) handler {
	return func(x *exchange) error {
		x.key, x.keyError = a.authenticate(x)
		return next(x)
	}
}

// authenticate checks the cheapest things first. A cached key costs one hash, and so does a token that cannot be a key.
// Only a token that may be a key and is not cached costs a query.
func (a *API) authenticate(x *exchange) (*petstore.Key, error) {
	token, err := bearerToken(x.r)
	if err != nil {
		return &noKey, err
	}
	hash := petstore.HashSecret(token)
	key, known, fresh := a.keys.cached(hash, x.start)
	if fresh {
		a.metrics.keysCached.Inc()
		return key, key.Usable(x.start)
	}
	if !known {
		if err := a.checkBeforeLookUp(x, token, hash); err != nil {
			return &noKey, err
		}
	}
	a.metrics.keysLookedUp.Inc()
	key, err = a.keys.lookUp(x.r.Context(), hash)
	if petstore.IsCode(err, petstore.NotFound) {
		return &noKey, newRefusal(petstore.Unauthorized, "The API key is not known here. Check that it belongs to this service.")
	}
	if err != nil {
		x.keyUnchecked = true
		return &noKey, err
	}
	return key, key.Usable(x.start)
}

// checkBeforeLookUp refuses two kinds of requests that are not worth a query: those with a token that cannot be a key,
// and those from an address that has used up its requests without a valid key.
func (a *API) checkBeforeLookUp(x *exchange, token string, hash petstore.SecretHash) error {
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
		return tooManyRequests(x, d) // not "invalid key", because nobody has looked the key up
	}
	return nil
}

// maxToken is the greatest length of a key.
const maxToken = 128

// bearerToken returns the token in the Authorization header, which a request must have exactly once.
func bearerToken(r *http.Request) (string, error) {
	values := r.Header["Authorization"]
	switch {
	case len(values) == 0:
		return "", newRefusal(petstore.Unauthorized, "No API key was sent. Send it in a header: Authorization: Bearer YOUR_API_KEY.")
	case len(values) > 1:
		return "", newRefusal(petstore.Unauthorized, "More than one Authorization header was sent. Send exactly one.")
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimLeft(token, " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > maxToken {
		return "", newRefusal(petstore.Unauthorized, "The Authorization header is not of the form Bearer YOUR_API_KEY.")
	}
	return token, nil
}

// sentToken reports whether the request contains a bearer token, well-formed or not.
func sentToken(r *http.Request) bool {
	for _, value := range r.Header["Authorization"] {
		if scheme, token, _ := strings.Cut(value, " "); strings.EqualFold(scheme, "Bearer") && strings.TrimSpace(token) != "" {
			return true
		}
	}
	return false
}
