package httpapi

import "sync"

const (
	// freeBytes is how much of every body and answer does not count. The connection costs as much anyway.
	freeBytes = 4 << 10
	// shares is the number of equal parts of a budget. One owner may take one part.
	shares = 8
)

// budget limits the bytes that are kept in memory for clients, which may send and read as slowly as they like. There is
// one limit for all owners together and one for each owner. A limit of zero means any number.
type budget struct {
	limit, perOwner int64

	mu     sync.Mutex
	taken  int64
	owners map[string]int64 // the bytes that each owner has taken, without owners that have taken none
}

func newBudget(limit, most int64) *budget {
	return &budget{limit: limit, perOwner: most, owners: make(map[string]int64)}
}

// take takes n more bytes for the owner if there is room for them, and reports whether there was.
func (b *budget) take(owner string, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.limit > 0 && (b.taken+n > b.limit || b.owners[owner]+n > b.perOwner) {
		return false
	}
	b.taken += n
	b.owners[owner] += n
	return true
}

// giveBack gives back n bytes that the owner has taken.
func (b *budget) giveBack(owner string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken -= n
	b.owners[owner] -= n
	if b.owners[owner] == 0 {
		delete(b.owners, owner)
	}
}

// takenBy returns the number of bytes that the owner has taken.
func (b *budget) takenBy(owner string) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.owners[owner]
}

// inUse returns the number of bytes that all owners together have taken.
func (b *budget) inUse() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return float64(b.taken)
}
