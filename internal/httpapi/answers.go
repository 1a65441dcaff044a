package httpapi

import (
	"sync"
	"sync/atomic"

	"petstore/internal/petstore"
)

// maxAnswers bounds what is kept of encoded pages, in bytes.
const maxAnswers = 16 << 20

// page is an encoded answer of listPets. It is shared and never changed.
type page struct {
	body []byte
	link []string
}

// answers reuses encoded pages while the storage's version stays the same. A page is filed under the version that was
// read before its query, so it shows every write acknowledged before any request that finds it. With a storage that
// has no version nothing is kept.
type answers struct {
	versioned petstore.Versioned
	current   atomic.Pointer[generation]
}

// generation holds the pages of one version.
type generation struct {
	version uint64
	mu      sync.RWMutex
	pages   map[petstore.PetQuery]*page
	bytes   int
}

func newAnswers(storage petstore.Storage) *answers {
	versioned, _ := storage.(petstore.Versioned)
	return &answers{versioned: versioned}
}

// get returns the page of a query, and whether it was made before.
func (a *answers) get(q petstore.PetQuery, make func() (*page, error)) (*page, bool, error) {
	if a.versioned == nil {
		p, err := make()
		return p, false, err
	}
	g := a.generation(a.versioned.Version())
	g.mu.RLock()
	p := g.pages[q]
	g.mu.RUnlock()
	if p != nil {
		return p, true, nil
	}
	p, err := make()
	if err == nil {
		g.keep(q, p)
	}
	return p, false, err
}

// generation returns the pages of that version. One that is already past gets an empty place that nobody else finds.
func (a *answers) generation(version uint64) *generation {
	for {
		g := a.current.Load()
		if g != nil && g.version == version {
			return g
		}
		fresh := &generation{version: version, pages: map[petstore.PetQuery]*page{}}
		if g != nil && g.version > version {
			return fresh
		}
		if a.current.CompareAndSwap(g, fresh) {
			return fresh
		}
	}
}

func (g *generation) keep(q petstore.PetQuery, p *page) {
	const overhead = 256
	size := cap(p.body) + overhead
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pages[q] == nil && g.bytes+size <= maxAnswers {
		g.pages[q] = p
		g.bytes += size
	}
}
