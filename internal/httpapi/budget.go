package httpapi

import "sync"

const (
	// freeBytes is how many bytes of every body and answer do not count against a budget. The connection takes about as much
	// memory anyway.
	freeBytes = 4 << 10
	// shares is the number of equal parts of a budget. One owner may take one part.
	shares = 8
)

// budget limits how many bytes the API keeps in memory for clients, because a client may send and read as slowly as it
// likes. One limit applies to all owners together and another to each owner. A limit of zero means no limit.
type budget struct {
	limit, perOwner int64

	mu     sync.Mutex
	taken  int64
	owners map[string]int64 // the bytes that each owner has taken; owners without bytes are not in the map
}

func newBudget(limit, most int64) *budget {
	return &budget{limit: limit, perOwner: most, owners: make(map[string]int64)}
}

// take takes n more bytes for the owner if the budget has room for them. It reports whether the budget had room.
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
