package httpapi

import (
	"sync"
	"sync/atomic"

	"petstore/internal/petstore"
)

// The greatest number of cached pages, and the greatest number of bytes in them. Clients request only a few pages often.
const (
	maxPages     = 256
	maxPageBytes = 16 << 20
)

// pageCache caches encoded pages of animals and reuses them while the version of the storage stays the same. The cache
// stores each page under the version that the storage had before the query for the page. A request that finds the page
// therefore sees every write that the service acknowledged before the request. If the storage has no version, the cache
// stays empty.
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

// get returns the answer to a query and reports whether the answer comes from the cache. If the cache does not have the
// answer, get calls the function build.
func (c *pageCache) get(q petsQuery, build func() (answer, error)) (page answer, reused bool, err error) {
	version, ok := c.version()
	if !ok {
		page, err = build()
		return page, false, err
	}
	g := c.generation(version)
	if page, ok = g.find(q); ok {
		return page, true, nil
	}
	if page, err = build(); err == nil {
		g.keep(q, page)
	}
	return page, false, err
}

// generation returns the cached pages for a version. If the version is older than the current one, generation returns an
// empty set of pages that no other request shares.
func (c *pageCache) generation(version uint64) *generation {
	for {
		g := c.current.Load()
		if g != nil && g.version == version {
			return g
		}
		fresh := &generation{version: version, pages: map[petsQuery]answer{}}
		if g != nil && g.version > version {
			return fresh
		}
		if c.current.CompareAndSwap(g, fresh) {
			return fresh
		}
	}
}

// generation holds the cached pages for one version.
type generation struct {
	version uint64
	mu      sync.RWMutex
	pages   map[petsQuery]answer
	bytes   int
}

func (g *generation) find(q petsQuery) (page answer, ok bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	page, ok = g.pages[q]
	return page, ok
}

func (g *generation) keep(q petsQuery, page answer) {
	size := len(page.body) + len(page.link)
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.pages) < maxPages && g.bytes+size <= maxPageBytes {
		g.pages[q] = page
		g.bytes += size
	}
}
