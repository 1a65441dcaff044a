package httpapi

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"petstore/internal/batch"
	"petstore/internal/petstore"
)

// identified finds out whose key the request carries. A refusal is kept until the request has been counted.
func (a *API) identified(next handler) handler {
	return func(x *exchange) error {
		x.key, x.refusal = a.authenticate(x)
		return next(x)
	}
}

// authenticate goes from the cheapest check to the dearest: a key seen lately costs a hash, garbage nothing more than
// that, and only what may be a key that is not cached costs a query.
func (a *API) authenticate(x *exchange) (petstore.Key, error) {
	token, err := bearerToken(x.r)
	if err != nil {
		return petstore.Key{}, err
	}
	hash := petstore.HashSecret(token)
	key, known, fresh := a.keys.cached(hash)
	if fresh {
		a.metrics.keysCached.Inc()
		return key, key.Usable(x.start)
	}
	if !known {
		if err := a.mayLookUp(x, token, hash); err != nil {
			return petstore.Key{}, err
		}
	}
	a.metrics.keysLookedUp.Inc()
	key, err = a.keys.lookUp(x.r.Context(), hash)
	if petstore.IsCode(err, petstore.NotFound) {
		return petstore.Key{}, petstore.Errorf(petstore.Unauthorized, "The API key is not known here. Check that it belongs to this service.")
	}
	if err != nil {
		return petstore.Key{}, err
	}
	return key, key.Usable(x.start)
}

// mayLookUp keeps the storage free of tokens that cannot be keys, and of addresses that have used up their requests
// without a valid key.
func (a *API) mayLookUp(x *exchange, token string, hash petstore.SecretHash) error {
	if !a.named || hash != a.namedHash {
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
		return refuse(x, d) // nothing is known of the key, so it is not said to be invalid
	}
	return nil
}

// bearerToken reads the one Authorization header that a request must have.
func bearerToken(r *http.Request) (string, error) {
	values := r.Header["Authorization"]
	switch {
	case len(values) == 0:
		return "", petstore.Errorf(petstore.Unauthorized, "No API key was sent. Send it in a header: Authorization: Bearer YOUR_API_KEY.")
	case len(values) > 1:
		return "", petstore.Errorf(petstore.Unauthorized, "More than one Authorization header was sent. Send exactly one.")
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimLeft(token, " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > maxToken {
		return "", petstore.Errorf(petstore.Unauthorized, "The Authorization header is not of the form Bearer YOUR_API_KEY.")
	}
	return token, nil
}

// sentToken reports whether the request tried to present a bearer token, however badly.
func sentToken(r *http.Request) bool {
	for _, value := range r.Header["Authorization"] {
		if scheme, token, _ := strings.Cut(value, " "); strings.EqualFold(scheme, "Bearer") && strings.TrimSpace(token) != "" {
			return true
		}
	}
	return false
}

const (
	maxToken   = 128
	keyTTL     = 5 * time.Second
	maxKeys    = 65536
	keyTimeout = 5 * time.Second
)

// keyCache remembers valid keys, so that they cost no query, for as long as a revoked one may still work.
type keyCache struct {
	now    func() time.Time
	lookup *batch.Shared[petstore.SecretHash, petstore.Key]

	mu      sync.RWMutex
	entries map[petstore.SecretHash]keyEntry
	bans    int // how many were given here
}

type keyEntry struct {
	key   petstore.Key
	asked time.Time // when its query started
}

func newKeyCache(storage petstore.Storage, now func() time.Time) *keyCache {
	c := &keyCache{now: now, entries: make(map[petstore.SecretHash]keyEntry)}
	c.lookup = batch.NewShared(func(hash petstore.SecretHash) (petstore.Key, error) {
		ctx, cancel := context.WithTimeout(context.Background(), keyTimeout)
		defer cancel()
		asked, bans := now(), c.bansGiven()
		key, err := storage.FindKey(ctx, hash)
		switch {
		case err == nil:
			c.put(hash, keyEntry{key, asked}, bans)
		case petstore.IsCode(err, petstore.NotFound):
			c.forget(hash)
		}
		return key, err
	})
	return c
}

// cached returns a key that was valid when it was last looked up, and whether that is recent enough to rely on.
func (c *keyCache) cached(hash petstore.SecretHash) (key petstore.Key, known, fresh bool) {
	c.mu.RLock()
	e, known := c.entries[hash]
	c.mu.RUnlock()
	if !known {
		return petstore.Key{}, false, false
	}
	age := c.now().Sub(e.asked)
	return e.key, true, age >= 0 && age < keyTTL
}

// lookUp asks the storage; concurrent look-ups of one key share a query.
func (c *keyCache) lookUp(ctx context.Context, hash petstore.SecretHash) (petstore.Key, error) {
	return c.lookup.Do(ctx, hash)
}

// put keeps what was found of a key, unless a ban was given since the query started, which it may not show.
func (c *keyCache) put(hash petstore.SecretHash, e keyEntry, bans int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bans != bans {
		return
	}
	if len(c.entries) >= maxKeys {
		for other := range c.entries {
			delete(c.entries, other)
			break
		}
	}
	c.entries[hash] = e
}

func (c *keyCache) forget(hash petstore.SecretHash) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, hash)
}

func (c *keyCache) bansGiven() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.bans
}

// ban makes an owner's ban hold here at once.
func (c *keyCache) ban(owner string, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bans++
	for hash, e := range c.entries {
		if e.key.Owner == owner {
			e.key.BannedUntil = until
			c.entries[hash] = e
		}
	}
}
