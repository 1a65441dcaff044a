package httpapi

import "sync"

const (
	// freeBytes of every body and answer do not count: the connection costs as much anyway.
	freeBytes = 4 << 10
	// shares is the number of parts that a budget is divided into; an owner may have one part.
	shares = 8
)

// budget bounds the bytes that are kept for clients, which may send and read as slowly as they like. It has a limit for
// all owners together and one for each owner. A limit of zero bounds nothing.
type budget struct {
	limit, most int64 // for all owners together, and for one owner

	mu     sync.Mutex
	taken  int64
	owners map[string]int64 // how many bytes each owner has taken; an owner with none is not in it
}

func newBudget(limit, most int64) *budget {
	return &budget{limit: limit, most: most, owners: make(map[string]int64)}
}

// take takes n more bytes for the owner, until they are given back, and reports whether there was room for them.
func (b *budget) take(owner string, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.limit > 0 && (b.taken+n > b.limit || b.owners[owner]+n > b.most) {
		return false
	}
	b.taken += n
	b.owners[owner] += n
	return true
}

// give gives back n bytes that the owner has taken.
func (b *budget) give(owner string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken -= n
	b.owners[owner] -= n
	if b.owners[owner] == 0 {
		delete(b.owners, owner)
	}
}

// of is how many bytes the owner has taken.
func (b *budget) of(owner string) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.owners[owner]
}

// inUse is how many bytes all owners have taken.
func (b *budget) inUse() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return float64(b.taken)
}
