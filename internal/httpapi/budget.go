package httpapi

import "sync"

const (
	// freeBytes of every body and answer are in no budget: its connection costs as much anyway.
	freeBytes = 4 << 10
	// shares is how many owners each have a share of a budget.
	shares = 8
)

// budget bounds the bytes that are kept for clients who send or read as slowly as they like: for all owners together,
// and for each owner. A limit of zero bounds nothing.
type budget struct {
	limit, most int64 // of all owners, and of one

	mu     sync.Mutex
	taken  int64
	owners map[string]int64 // what each has taken, of those who have taken anything
}

func newBudget(limit, most int64) *budget {
	return &budget{limit: limit, most: most, owners: make(map[string]int64)}
}

// take reports whether the owner may have n bytes more. Then they are taken until they are given back.
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

// give gives back what was taken.
func (b *budget) give(owner string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken -= n
	b.owners[owner] -= n
	if b.owners[owner] == 0 {
		delete(b.owners, owner)
	}
}

// of is what the owner has taken now.
func (b *budget) of(owner string) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.owners[owner]
}

// inUse is what is taken now.
func (b *budget) inUse() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return float64(b.taken)
}
