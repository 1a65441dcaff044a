package sqlite

import (
	"context"
	"sync"
	"sync/atomic"

	"petstore/internal/petcache"
	"petstore/internal/petstore"
)

// petCache holds the newest animals in memory, as a read of the file would show them at the current version. Only the
// goroutine that has the writer changes it. If the cache cannot follow a change, it empties itself, which is always correct.
type petCache struct {
	version atomic.Uint64
	mu      sync.RWMutex
	// olderVersion is the version at which an animal below the cache last changed.
	olderVersion uint64
	pets         petcache.Cache
}

func (c *petCache) init() { c.pets = petcache.New() }

// advance begins a new version, with the changes of a commit.
func (c *petCache) advance(changes []petcache.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	version := c.version.Add(1)
	for _, change := range changes {
		if !c.pets.Apply(change) {
			c.olderVersion = version
		}
	}
	if c.pets.Shrink() {
		c.olderVersion = version
	}
}

// invalidate begins a new version and empties the cache.
func (c *petCache) invalidate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.olderVersion = c.version.Add(1)
	c.pets.Empty()
}

// addOlder adds the next animals below the cache, newest first.
func (c *petCache) addOlder(pets []petstore.Pet) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pets.AddOlder(pets)
}

// room returns the lower bound of the cache, and whether there is room for animals below it.
func (c *petCache) room() (from int64, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.pets.From(), c.pets.HasRoom()
}

// get returns an animal if it is in the cache. If it is not found but known, the animal does not exist. If it is not known,
// the caller must ask a reader that shows the version since or a later one.
func (c *petCache) get(id int64) (pet petstore.Pet, found, known bool, since uint64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	pet, found, known = c.pets.Get(id)
	return pet, found, known, c.olderVersion
}

// list returns a page if the cache holds the complete page. Otherwise the caller must ask a reader that shows the version
// since or a later one.
func (c *petCache) list(q petstore.PetQuery) (pets []petstore.Pet, complete bool, since uint64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if !c.pets.Reaches(q) {
		return nil, false, c.olderVersion
	}
	pets, complete = c.pets.List(q)
	return pets, complete, c.version.Load()
}

// startFillingCache starts to read one more block of animals into the cache, in the background, if the cache has room.
func (db *DB) startFillingCache() {
	if _, ok := db.cache.room(); ok && db.soleWriter.Load() && db.filling.CompareAndSwap(false, true) {
		go func() {
			defer db.filling.Store(false)
			db.fillCache()
		}()
	}
}

// fillCache reads one more block of animals into the cache. Meanwhile it holds the writer, so that no animal changes.
func (db *DB) fillCache() {
	w, err := db.writer.take(context.Background())
	if err != nil {
		return // closed
	}
	defer db.writer.give(w)
	from, ok := db.cache.room()
	if !ok {
		return
	}
	if pets, err := listPets(w.list, petstore.PetQuery{Before: from, Limit: petcache.BlockSize}); err == nil {
		db.cache.addOlder(pets)
	}
}
