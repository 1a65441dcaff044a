package httpapi

import (
	"context"
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
// Only a token that may be a key and is not cached costs a query. Unless the key was cached before, the request is counted
// for the client's address before that query, so that concurrent requests cause no more queries than the address may send
// requests.
func (a *API) authenticate(x *exchange) (*petstore.Key, error) {
	token, err := bearerToken(x.r)
	if err != nil {
		return &noKey, err
	}
	hash := petstore.HashSecret(token)
	x.keyHash = hash
	key, known, fresh := a.keys.cached(hash, x.start)
	if fresh {
		a.metrics.keysCached.Inc()
		return key, key.Usable(x.start)
	}
	if !known && hash != a.namedHash {
		if err := petstore.CheckSecret(a.Environment, token); err != nil {
			a.metrics.keysGarbage.Inc()
			return &noKey, err
		}
	}
	if known || a.CountOnly {
		return a.lookUp(x, hash)
	}
	return a.countedLookUp(x, hash)
}

// lookUp looks a key up in the storage and checks that it is valid.
func (a *API) lookUp(x *exchange, hash petstore.SecretHash) (*petstore.Key, error) {
	a.metrics.keysLookedUp.Inc()
	key, err := a.keys.lookUp(x.r.Context(), hash)
	if petstore.IsCode(err, petstore.NotFound) {
		return &noKey, newRefusal(petstore.Unauthorized, "The API key is not known here. Check that it belongs to this service.")
	}
	if err != nil {
		x.keyUnchecked = true
		return &noKey, err
	}
	return key, key.Usable(x.start)
}

// countedLookUp counts the request for the client's address and looks its key up. If the key is valid or cannot be looked
// up, it gives the request back to the address.
func (a *API) countedLookUp(x *exchange, hash petstore.SecretHash) (*petstore.Key, error) {
	ask := petstore.Ask{Subject: a.subjectOf(x), Limits: petstore.AddressLimits}
	d, err := a.unchecked.take(x.r.Context(), ask.Subject, func() (petstore.Decision, error) {
		return a.Limiter.Take(x.r.Context(), ask)
	})
	if err != nil {
		x.keyUnchecked = true
		return &noKey, err
	}
	x.taken = &d
	if d.Outcome != petstore.Allowed {
		return &noKey, tooManyRequests(x, d) // not "invalid key", because nobody has looked the key up
	}
	returned := false
	defer func() { a.unchecked.end(ask.Subject, returned) }()
	key, err := a.lookUp(x, hash)
	if err == nil || x.keyUnchecked {
		x.taken, returned = nil, a.giveBack(x, ask, d)
	}
	return key, err
}

// giveBack gives a request back to the client's address, even if the client hangs up, and reports whether that worked.
func (a *API) giveBack(x *exchange, ask petstore.Ask, taken petstore.Decision) bool {
	err := a.Limiter.GiveBack(context.WithoutCancel(x.r.Context()), ask, taken)
	if err != nil {
		a.Log.ErrorContext(x.r.Context(), "could not give a request back to its address", "id", x.requestID, "cause", err.Error())
	}
	return err == nil
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
