package httpapi

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"petstore/internal/petstore"
)

// maxAnswers bounds what is kept of encoded answers of one kind, in bytes.
const maxAnswers = 32 << 20

// answer is an encoded body with the headers that go with it. It is shared and never changed.
type answer struct {
	body   []byte
	length []string
	link   []string
}

func newAnswer(body []byte) *answer {
	return &answer{body: body, length: []string{strconv.Itoa(len(body))}}
}

// respondWith sends an answer that others may be sent too.
func (x *exchange) respondWith(a *answer) error {
	if a.link != nil {
		x.share("Link", a.link)
	}
	x.share("Content-Length", a.length)
	return x.send(http.StatusOK, a.body)
}

// answers reuses encoded answers while the storage's version stays the same. An answer is filed under the version that
// was read before its query, so it shows every write acknowledged before any request that finds it. With a storage that
// has no version nothing is kept.
type answers[K comparable] struct {
	versioned petstore.Versioned
	current   atomic.Pointer[generation[K]]
}

// generation holds the answers of one version.
type generation[K comparable] struct {
	version uint64
	mu      sync.RWMutex
	answers map[K]*answer
	bytes   int
}

func newAnswers[K comparable](storage petstore.Storage) *answers[K] {
	versioned, _ := storage.(petstore.Versioned)
	return &answers[K]{versioned: versioned}
}

// get returns the answer to a question, and whether it was made before.
func (a *answers[K]) get(question K, make func() (*answer, error)) (*answer, bool, error) {
	if a.versioned == nil {
		made, err := make()
		return made, false, err
	}
	g := a.generation(a.versioned.Version())
	g.mu.RLock()
	kept := g.answers[question]
	g.mu.RUnlock()
	if kept != nil {
		return kept, true, nil
	}
	made, err := make()
	if err == nil {
		g.keep(question, made)
	}
	return made, false, err
}

// generation returns the answers of that version. One that is already past gets an empty place that nobody else finds.
func (a *answers[K]) generation(version uint64) *generation[K] {
	for {
		g := a.current.Load()
		if g != nil && g.version == version {
			return g
		}
		fresh := &generation[K]{version: version, answers: map[K]*answer{}}
		if g != nil && g.version > version {
			return fresh
		}
		if a.current.CompareAndSwap(g, fresh) {
			return fresh
		}
	}
}

func (g *generation[K]) keep(question K, made *answer) {
	const overhead = 192
	size := cap(made.body) + overhead
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.answers[question] == nil && g.bytes+size <= maxAnswers {
		g.answers[question] = made
		g.bytes += size
	}
}
