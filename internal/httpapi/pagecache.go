package httpapi

import (
	"sync"
	"sync/atomic"

	"petstore/internal/petstore"
)

// The greatest number of cached pages, and of their bytes. Only few pages are requested often.
const (
	maxPages     = 256
	maxPageBytes = 16 << 20
)

// pageCache caches encoded pages of animals and reuses them while the version of the storage stays the same. A page is
// cached under the version from before its query. So every request that finds it sees every write that was acknowledged
// before. If the storage has no version, nothing is cached.
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

// get returns the answer to a query and reports whether it comes from the cache. If it does not, build makes it.
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

// generation returns the cached pages of a version. If the version is older than the current one, it returns an empty
// generation that no other request gets.
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

// generation holds the pages of one version.
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
