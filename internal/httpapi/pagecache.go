package httpapi

import (
	"sync"
	"sync/atomic"

	"petstore/internal/petstore"
)

// How many encoded pages are kept at most, and how many bytes of them. Few pages are asked for often.
const (
	maxKept      = 256
	maxKeptBytes = 16 << 20
)

// pageCache keeps encoded pages of animals, and uses them again while the version of the storage stays the same. A page is
// kept under the version that was read before its query, so it shows every write that was acknowledged before a request
// finds it. If the storage has no version, nothing is kept.
type pageCache struct {
	versioned petstore.Versioned
	current   atomic.Pointer[generation]
}

func newPageCache(versioned petstore.Versioned) *pageCache { return &pageCache{versioned: versioned} }

func (c *pageCache) version() (version uint64, ok bool) {
	if c.versioned == nil {
		return 0, false
	}
	return c.versioned.Version()
}

// get returns the answer to a query, and reports whether it was made before.
func (c *pageCache) get(q petsQuery, make func() (answer, error)) (answer, bool, error) {
	version, ok := c.version()
	if !ok {
		made, err := make()
		return made, false, err
	}
	g := c.generation(version)
	if kept, ok := g.find(q); ok {
		return kept, true, nil
	}
	made, err := make()
	if err == nil {
		g.keep(q, made)
	}
	return made, false, err
}

// generation returns the pages of that version. For a version that has passed, it returns an empty generation that
// nobody else finds.
func (c *pageCache) generation(version uint64) *generation {
	for {
		g := c.current.Load()
		if g != nil && g.version == version {
			return g
		}
		fresh := &generation{version: version, kept: map[petsQuery]answer{}}
		if g != nil && g.version > version {
			return fresh
		}
		if c.current.CompareAndSwap(g, fresh) {
			return fresh
		}
	}
}

// generation holds the pages of one version.
type generation struct {
	version uint64
	mu      sync.RWMutex
	kept    map[petsQuery]answer
	bytes   int
}

func (g *generation) find(q petsQuery) (page answer, ok bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	page, ok = g.kept[q]
	return page, ok
}

func (g *generation) keep(q petsQuery, page answer) {
	size := len(page.body) + len(page.link)
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.kept) < maxKept && g.bytes+size <= maxKeptBytes {
		g.kept[q] = page
		g.bytes += size
	}
}
