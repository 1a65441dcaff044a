package httpapi

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"petstore/internal/petstore"
)

// maxAnswers bounds what is kept of encoded answers of one kind, in bytes.
const maxAnswers = 16 << 20

// answer is an encoded body with the Link that goes with it, if any.
type answer struct{ body, link string }

// pageOf is the page of a list that was asked for one item more than the page holds: then another page follows, which next
// links to by the last item of this one.
func pageOf[T any](items []T, limit int, appendOne func([]byte, T) []byte, next func(last T) string) (page answer) {
	if len(items) > limit {
		items = items[:limit]
		page.link = next(items[limit-1])
	}
	page.body = appended(func(b []byte) []byte { return appendList(b, items, appendOne) })
	return page
}

// respondWith makes an answer of one that others may be sent too.
func (x *exchange) respondWith(a answer) error {
	x.made, x.madeStatus = a, http.StatusOK
	return nil
}

// answers reuses encoded answers while the storage's version stays the same. An answer is filed under the version that
// was read before its query, so it shows every write acknowledged before any request that finds it. With a storage that
// has no version nothing is kept.
type answers[K comparable] struct {
	versioned petstore.Versioned
	current   atomic.Pointer[generation[K]]
}

func newAnswers[K comparable](storage petstore.Storage) *answers[K] {
	versioned, _ := storage.(petstore.Versioned)
	return &answers[K]{versioned: versioned}
}

// get returns the answer to a question, and whether it was made before.
func (a *answers[K]) get(question K, make func() (answer, error)) (answer, bool, error) {
	if a.versioned == nil {
		made, err := make()
		return made, false, err
	}
	g := a.generation(a.versioned.Version())
	if kept, ok := g.find(question); ok {
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
		fresh := &generation[K]{version: version, places: map[K]place{}}
		if g != nil && g.version > version {
			return fresh
		}
		if a.current.CompareAndSwap(g, fresh) {
			return fresh
		}
	}
}

// generation holds the answers of one version, one behind the other in a few long texts: a hundred thousand texts of
// their own would have to be followed by every garbage collection.
type generation[K comparable] struct {
	version uint64
	mu      sync.Mutex
	texts   []*strings.Builder // each with all the room it will have
	places  map[K]place
	bytes   int
}

// place says which text an answer is in, and where its body, its link and what follows them begin.
type place struct{ text, body, link, end uint32 }

// maxText is the most room that is made at once.
const maxText = 64 << 10

func (g *generation[K]) find(question K) (answer, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p, ok := g.places[question]
	if !ok {
		return answer{}, false
	}
	text := g.texts[p.text].String()
	return answer{body: text[p.body:p.link], link: text[p.link:p.end]}, true
}

func (g *generation[K]) keep(question K, a answer) {
	const overhead = 64 // in the map
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, kept := g.places[question]; kept || g.bytes+overhead > maxAnswers {
		return
	}
	text := g.textWithRoomFor(len(a.body) + len(a.link))
	if text == nil {
		return
	}
	body := text.Len()
	text.WriteString(a.body)
	text.WriteString(a.link)
	g.places[question] = place{uint32(len(g.texts) - 1), uint32(body), uint32(body + len(a.body)), uint32(text.Len())}
	g.bytes += overhead
}

// textWithRoomFor begins a new text if the last one is full, so that none ever moves; nil if no more may be kept. They
// grow with what is kept: many versions live too short for more than one answer.
func (g *generation[K]) textWithRoomFor(size int) *strings.Builder {
	if n := len(g.texts); n > 0 {
		if last := g.texts[n-1]; last.Cap()-last.Len() >= size {
			return last
		}
	}
	room := max(size, min(g.bytes, maxText))
	if g.bytes+room > maxAnswers {
		return nil
	}
	text := new(strings.Builder)
	text.Grow(room)
	g.texts = append(g.texts, text)
	g.bytes += text.Cap()
	return text
}
