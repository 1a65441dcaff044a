package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"petstore/internal/batch"
	"petstore/internal/petstore"
)

const (
	keyTTL     = 5 * time.Second
	maxKeys    = 65536
	keyTimeout = 5 * time.Second
	// maxLookUps is how many look-ups may wait for the storage at once: while it hangs, more would only pile up.
	maxLookUps = 64
)

// keyCache remembers valid keys, so that they cost no query, for as long as a revoked one may still work.
type keyCache struct {
	lookup *batch.Shared[petstore.SecretHash, *petstore.Key]
	places chan struct{} // as many as look-ups wait

	mu      sync.RWMutex
	entries map[petstore.SecretHash]keyEntry
	bans    int // how many were given here
}

type keyEntry struct {
	key   *petstore.Key // shared and never changed
	asked time.Time     // when its query started
}

var errManyLookUps = fmt.Errorf("%d look-ups of keys wait already", maxLookUps)

func newKeyCache(storage petstore.Storage, log *slog.Logger, now func() time.Time) *keyCache {
	uses := newKeyUses(storage, log)
	c := &keyCache{entries: make(map[petstore.SecretHash]keyEntry), places: make(chan struct{}, maxLookUps)}
	c.lookup = batch.NewShared(func(hash petstore.SecretHash) (*petstore.Key, error) {
		select {
		case c.places <- struct{}{}:
			defer func() { <-c.places }()
		default:
			return nil, petstore.Unreachable(errManyLookUps)
		}
		ctx, cancel := context.WithTimeout(context.Background(), keyTimeout)
		defer cancel()
		asked, bans := now(), c.bansGiven()
		key, err := storage.FindKey(ctx, hash)
		switch {
		case err == nil:
			c.put(hash, keyEntry{&key, asked}, bans)
			if key.Usable(asked) == nil {
				uses.note(key, asked)
			}
		case petstore.IsCode(err, petstore.NotFound):
			c.forget(hash)
		}
		return &key, err
	})
	return c
}

// cached returns a key that was valid when it was last looked up, and whether that is recent enough to rely on now.
func (c *keyCache) cached(hash petstore.SecretHash, now time.Time) (key *petstore.Key, known, fresh bool) {
	c.mu.RLock()
	e, known := c.entries[hash]
	c.mu.RUnlock()
	if !known {
		return nil, false, false
	}
	age := now.Sub(e.asked)
	return e.key, true, age >= 0 && age < keyTTL
}

// lookUp asks the storage; concurrent look-ups of one key share a query.
func (c *keyCache) lookUp(ctx context.Context, hash petstore.SecretHash) (*petstore.Key, error) {
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
func (c *keyCache) ban(owner string, ban petstore.Ban) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bans++
	for hash, e := range c.entries {
		if e.key.Owner == owner {
			banned := *e.key
			banned.BannedFrom, banned.BannedUntil = ban.Start, ban.Until
			c.entries[hash] = keyEntry{&banned, e.asked}
		}
	}
}
