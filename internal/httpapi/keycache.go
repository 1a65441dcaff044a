package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"petstore/internal/batch"
	"petstore/internal/petstore"
)

const (
	keyTTL = 5 * time.Second
	// renewAge is how old a key in use gets before it is looked up again in the background. Requests with the key need
	// not wait if the look-up takes less than the rest of keyTTL.
	renewAge   = 4 * time.Second
	maxKeys    = 65536
	keyTimeout = 5 * time.Second
	// maxLookUps is how many look-ups may wait for the storage at once. Others wait for their turn, until the storage has
	// answered nobody for turnTimeout: while it hangs, they would only pile up.
	maxLookUps  = 64
	turnTimeout = time.Second
)

// keyCache remembers keys that were found, so that they cost no query. It relies on a key for keyTTL, so a revoked key
// works no longer than that.
type keyCache struct {
	lookup *batch.Grouped[petstore.SecretHash, *petstore.Key]
	places chan struct{} // has a value for each look-up that waits
	moved  atomic.Int64  // when the first of them came, or one was answered after that, in Unix nanoseconds

	mu      sync.RWMutex
	entries map[petstore.SecretHash]keyEntry
	bans    int // how many bans this process has given
}

type keyEntry struct {
	key     *petstore.Key // shared and never changed
	asked   time.Time     // when its query started
	renewed *atomic.Bool  // a request has started the next query already
}

var errManyLookUps = fmt.Errorf("%d look-ups of keys wait already", maxLookUps)

func newKeyCache(storage petstore.Storage, log *slog.Logger, now func() time.Time) *keyCache {
	uses := newKeyUses(storage, log)
	c := &keyCache{entries: make(map[petstore.SecretHash]keyEntry), places: make(chan struct{}, maxLookUps)}
	c.lookup = batch.NewGrouped(func(hash petstore.SecretHash, _ int) (*petstore.Key, error) {
		if err := c.takePlace(); err != nil {
			return nil, err
		}
		defer c.leavePlace()
		ctx, cancel := context.WithTimeout(context.Background(), keyTimeout)
		defer cancel()
		asked, bans := now(), c.bansGiven()
		key, err := storage.FindKey(ctx, hash)
		switch {
		case err == nil:
			c.put(hash, keyEntry{&key, asked, new(atomic.Bool)}, bans)
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

// takePlace waits for a place among the look-ups, if the storage still answers.
func (c *keyCache) takePlace() error {
	if len(c.places) == 0 {
		c.moved.Store(time.Now().UnixNano())
	}
	for {
		select {
		case c.places <- struct{}{}:
			return nil
		default:
		}
		wait := turnTimeout - time.Since(time.Unix(0, c.moved.Load()))
		if wait <= 0 {
			return petstore.NotDone(errManyLookUps)
		}
		select {
		case c.places <- struct{}{}:
			return nil
		case <-time.After(wait):
		}
	}
}

func (c *keyCache) leavePlace() {
	<-c.places
	c.moved.Store(time.Now().UnixNano())
}

// cached returns a key as it was when it was last looked up, and reports whether that look-up is recent enough to rely
// on now. If it will soon be too old, cached starts the next one.
func (c *keyCache) cached(hash petstore.SecretHash, now time.Time) (key *petstore.Key, known, fresh bool) {
	c.mu.RLock()
	e, known := c.entries[hash]
	c.mu.RUnlock()
	if !known {
		return nil, false, false
	}
	age := now.Sub(e.asked)
	fresh = age >= 0 && age < keyTTL
	if fresh && age >= renewAge && e.renewed.CompareAndSwap(false, true) {
		c.lookup.Begin(hash)
	}
	return e.key, true, fresh
}

// lookUp asks the storage. Concurrent look-ups of one key share a query. If ctx ends, lookUp does not wait for the query.
func (c *keyCache) lookUp(ctx context.Context, hash petstore.SecretHash) (*petstore.Key, error) {
	key, _, err := c.lookup.Begin(hash).Wait(ctx)
	return key, err
}

// put keeps a key that was found. It does not keep the key if a ban was given after the query started, because the key
// may not show that ban.
func (c *keyCache) put(hash petstore.SecretHash, e keyEntry, bans int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bans != bans {
		return
	}
	if _, there := c.entries[hash]; !there && len(c.entries) >= maxKeys {
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

// ban puts the owner's ban into all cached keys of the owner, so that it takes effect at once.
func (c *keyCache) ban(owner string, ban petstore.Ban) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bans++
	for hash, e := range c.entries {
		if e.key.Owner == owner {
			banned := *e.key
			banned.BannedFrom, banned.BannedUntil = ban.Start, ban.Until
			e.key = &banned
			c.entries[hash] = e
		}
	}
}
