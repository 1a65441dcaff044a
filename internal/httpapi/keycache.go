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
	// keyTTL is how long a cached key is used without another look-up.
	keyTTL = 5 * time.Second
	// renewAge is the age at which a request makes the cache look its key up again in the background. If the look-up
	// takes less than the rest of keyTTL, no request waits for it.
	renewAge      = 4 * time.Second
	maxKeys       = 65536
	lookUpTimeout = 5 * time.Second
	// maxLookUps is the number of look-ups that may wait for the storage at once. Others wait for their turn. They fail
	// when the storage has not answered any look-up for stallTimeout, because they would only pile up while it hangs.
	maxLookUps   = 64
	stallTimeout = time.Second
)

// keyCache caches keys for keyTTL, so that most requests need no query. A revoked key therefore works for keyTTL at
// most.
type keyCache struct {
	lookup       *batch.Grouped[petstore.SecretHash, *petstore.Key]
	turns        chan struct{} // has one value for each look-up that waits for the storage
	lastProgress atomic.Int64  // when a look-up last ended, or began while no other waited, in Unix nanoseconds

	mu      sync.RWMutex
	entries map[petstore.SecretHash]keyEntry
	changes int // the number of calls of ban and expire
}

type keyEntry struct {
	key       *petstore.Key // shared and never changed
	queriedAt time.Time     // when its query started
	renewing  *atomic.Bool  // a request has already started the next look-up
}

var errStalledLookUps = fmt.Errorf("%d look-ups of keys are waiting for the storage, which does not answer", maxLookUps)

func newKeyCache(storage petstore.Storage, log *slog.Logger, now func() time.Time) *keyCache {
	uses := newKeyUses(storage, log)
	c := &keyCache{entries: make(map[petstore.SecretHash]keyEntry), turns: make(chan struct{}, maxLookUps)}
	c.lookup = batch.NewGrouped(func(hash petstore.SecretHash, _ int) (*petstore.Key, error) {
		if err := c.takeTurn(); err != nil {
			return nil, err
		}
		defer c.endTurn()
		ctx, cancel := context.WithTimeout(context.Background(), lookUpTimeout)
		defer cancel()
		queriedAt, changes := now(), c.changeCount()
		key, err := storage.FindKey(ctx, hash)
		switch {
		case err == nil:
			c.put(hash, keyEntry{&key, queriedAt, new(atomic.Bool)}, changes)
			if key.Usable(queriedAt) == nil {
				uses.schedule(key, queriedAt)
			}
		case petstore.IsCode(err, petstore.NotFound):
			c.forget(hash)
		}
		return &key, err
	})
	return c
}

// takeTurn waits until fewer than maxLookUps look-ups are waiting. It fails if the storage does not answer any of them
// for stallTimeout.
func (c *keyCache) takeTurn() error {
	if len(c.turns) == 0 {
		c.lastProgress.Store(time.Now().UnixNano())
	}
	for {
		select {
		case c.turns <- struct{}{}:
			return nil
		default:
		}
		wait := c.untilStalled(time.Time{})
		if wait <= 0 {
			return petstore.NotDone(errStalledLookUps)
		}
		select {
		case c.turns <- struct{}{}:
			return nil
		case <-time.After(wait):
		}
	}
}

// untilStalled returns how much longer a wait for a look-up may last before the storage counts as hanging. The parameter
// began is when the wait began.
func (c *keyCache) untilStalled(began time.Time) time.Duration {
	progress := time.Unix(0, c.lastProgress.Load())
	if progress.Before(began) {
		progress = began
	}
	return stallTimeout - time.Since(progress)
}

func (c *keyCache) endTurn() {
	<-c.turns
	c.lastProgress.Store(time.Now().UnixNano())
}

// cached returns a key as it was last looked up. It reports whether the key is known, and whether the look-up is fresh
// enough to rely on. If the look-up will soon be too old, cached starts the next one.
func (c *keyCache) cached(hash petstore.SecretHash, now time.Time) (key *petstore.Key, known, fresh bool) {
	c.mu.RLock()
	e, known := c.entries[hash]
	c.mu.RUnlock()
	if !known {
		return nil, false, false
	}
	age := now.Sub(e.queriedAt)
	fresh = age >= 0 && age < keyTTL
	if fresh && age >= renewAge && e.renewing.CompareAndSwap(false, true) {
		c.lookup.Begin(hash)
	}
	return e.key, true, fresh
}

// lookUp looks a key up in the storage. Concurrent look-ups of the same key share one query. If ctx ends, lookUp
// returns, and the query goes on for the others.
func (c *keyCache) lookUp(ctx context.Context, hash petstore.SecretHash) (*petstore.Key, error) {
	key, _, err := c.lookup.Begin(hash).Wait(ctx)
	return key, err
}

// put caches a key, unless keys were changed or banned after the query started: the key might not show that yet.
func (c *keyCache) put(hash petstore.SecretHash, e keyEntry, changes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changes != changes {
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

func (c *keyCache) changeCount() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.changes
}

// ban stores a ban in all cached keys of the owner, so that it takes effect at once. An empty ban lifts the ban.
func (c *keyCache) ban(owner string, ban petstore.Ban) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	for hash, e := range c.entries {
		if e.key.Owner == owner {
			banned := *e.key
			banned.BannedFrom, banned.BannedUntil = ban.Start, ban.Until
			e.key = &banned
			c.entries[hash] = e
		}
	}
}

// expire makes every cached key of the owner too old to rely on, so that a change takes effect at once.
func (c *keyCache) expire(owner string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes++
	for hash, e := range c.entries {
		if e.key.Owner == owner {
			e.queriedAt = time.Time{}
			c.entries[hash] = e
		}
	}
}
