package httpapi

import (
	"net/http"
	"sync"
	"sync/atomic"

	"petstore/internal/petstore"
)

// How many encoded pages are kept at most, and how many bytes of them. Few pages are asked for often.
const (
	maxKept      = 256
	maxKeptBytes = 16 << 20
)

// answer is an encoded body with the Link that goes with it, if any.
type answer struct{ body, link string }

// pageOf makes a page of items, which were queried with a limit one higher than that of the page. If there is one item
// more, another page follows, and next makes the link to it from the last item of this page.
func pageOf[T any](items []T, limit int, appendOne func([]byte, T) []byte, next func(last T) string) (page answer) {
	if len(items) > limit {
		items = items[:limit]
		page.link = next(items[limit-1])
	}
	page.body = appended(func(b []byte) []byte { return appendList(b, items, appendOne) })
	return page
}

// respondWith makes the answer. Other requests may get the same one.
func (x *exchange) respondWith(a answer) error {
	x.made, x.madeStatus = a, http.StatusOK
	return nil
}

// pages reuses encoded pages while the version of the storage stays the same. A page is kept under the version that was
// read before its query, so it shows every write that was acknowledged before a request finds it. If the storage has no
// version, nothing is kept.
type pages struct {
	versioned petstore.Versioned
	current   atomic.Pointer[generation]
}

func newPageCache(storage petstore.Storage) *pages {
	versioned, _ := storage.(petstore.Versioned)
	return &pages{versioned: versioned}
}

func (p *pages) version() (version uint64, ok bool) {
	if p.versioned == nil {
		return 0, false
	}
	return p.versioned.Version()
}

// get returns the answer to a query, and reports whether it was made before.
func (p *pages) get(q petsQuery, make func() (answer, error)) (answer, bool, error) {
	version, ok := p.version()
	if !ok {
		made, err := make()
		return made, false, err
	}
	g := p.generation(version)
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
func (p *pages) generation(version uint64) *generation {
	for {
		g := p.current.Load()
		if g != nil && g.version == version {
			return g
		}
		fresh := &generation{version: version, kept: map[petsQuery]answer{}}
		if g != nil && g.version > version {
			return fresh
		}
		if p.current.CompareAndSwap(g, fresh) {
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
