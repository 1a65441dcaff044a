package sqlite

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"petstore/internal/petstore"
)

// newest holds the newest animals in memory: every animal from one id on, as a read of the file would show them at the
// current version. Only the goroutine that has the writer changes it. If it cannot follow a change, it forgets
// everything, which is always right.
type newest struct {
	version atomic.Uint64
	mu      sync.RWMutex
	// from is the lower bound of newest, which holds every animal with this id or a higher one. It is math.MinInt64 if
	// newest holds all animals, and math.MaxInt64 if it holds none.
	from int64
	// older is the version at which the animals with ids below from last changed.
	older  uint64
	blocks []block // in the order of ids
	bytes  int
	most   int // bytes
}

func (n *newest) init() {
	n.most = maxNewest
	n.clear()
}

// block holds at least one animal and at most blockSize, in the order of their ids.
type block struct {
	first int64                     // no animal of the block has a lower id
	of    [petstore.Sold + 1]uint16 // the number of animals by status
	pets  []petstore.Pet
}

const (
	blockSize = 256
	// maxNewest is the most bytes that newest holds. It may hold half as much again if deletions have left blocks half
	// empty. Animals fetched from the file take up to three quarters of maxNewest. The rest, which is more than any
	// block takes, is for new animals.
	maxNewest = 32 << 20
	// petSize is how many bytes an animal takes besides its name.
	petSize = 64
)

func sizeOf(p petstore.Pet) int { return petSize + len(p.Name) }

// alteration is what became of an animal: it is pet now, or it is gone.
type alteration struct {
	pet  petstore.Pet
	gone bool
}

// follow begins a new version, with what a commit has altered.
func (n *newest) follow(altered []alteration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	version := n.version.Add(1)
	for _, a := range altered {
		if !n.apply(a) {
			n.older = version
		}
	}
	for n.bytes > n.most {
		n.drop()
		n.older = version
	}
}

// apply makes an alteration. It returns false if the animals below from have changed.
func (n *newest) apply(a alteration) bool {
	i, j, found := n.find(a.pet.ID)
	switch {
	case a.pet.ID < n.from:
		return false
	case found && a.gone:
		n.remove(i, j)
	case found:
		b := &n.blocks[i]
		n.count(b, b.pets[j], -1)
		b.pets[j] = a.pet
		n.count(b, a.pet, 1)
	case a.gone:
	case i == len(n.blocks)-1 && (i < 0 || j == len(n.blocks[i].pets)):
		n.push(a.pet)
	default: // the animal belongs between others, where only a copy of another store puts one
		n.clear()
		return false
	}
	return true
}

// find returns the block that an id belongs to, or -1 if the id is below all blocks, and its place in the block.
func (n *newest) find(id int64) (i, j int, found bool) {
	i = sort.Search(len(n.blocks), func(i int) bool { return n.blocks[i].first > id }) - 1
	if i < 0 {
		return i, 0, false
	}
	pets := n.blocks[i].pets
	if j := uint64(id - n.blocks[i].first); j < uint64(len(pets)) && pets[j].ID == id { // no id is missing before this one
		return i, int(j), true
	}
	j = sort.Search(len(pets), func(j int) bool { return pets[j].ID >= id })
	return i, j, j < len(pets) && pets[j].ID == id
}

// count adds an animal of a block to the counts or, if by is -1, takes it out.
func (n *newest) count(b *block, pet petstore.Pet, by int) {
	b.of[pet.Status] += uint16(by)
	n.bytes += by * sizeOf(pet)
}

func (n *newest) remove(i, j int) {
	b := &n.blocks[i]
	n.count(b, b.pets[j], -1)
	if b.pets = slices.Delete(b.pets, j, j+1); len(b.pets) == 0 {
		n.blocks = slices.Delete(n.blocks, i, i+1)
	} else {
		n.join(i)
	}
	n.join(i - 1)
}

// join makes one block of a block and the next if they fit into one. So two neighbors are always more than half full.
func (n *newest) join(i int) {
	if i < 0 || i+1 >= len(n.blocks) || len(n.blocks[i].pets)+len(n.blocks[i+1].pets) > blockSize {
		return
	}
	b, next := &n.blocks[i], n.blocks[i+1]
	b.pets = slices.Concat(b.pets, next.pets)
	for status, count := range next.of {
		b.of[status] += count
	}
	n.blocks = slices.Delete(n.blocks, i+1, i+2)
}

// push adds an animal that is newer than all others in memory.
func (n *newest) push(pet petstore.Pet) {
	last := len(n.blocks) - 1
	if last < 0 || len(n.blocks[last].pets) == blockSize {
		n.blocks = append(n.blocks, block{first: pet.ID})
		last++
	}
	b := &n.blocks[last]
	b.pets = append(b.pets, pet)
	n.count(b, pet, 1)
}

// drop forgets the oldest block.
func (n *newest) drop() {
	b := &n.blocks[0]
	for _, pet := range b.pets {
		n.count(b, pet, -1)
	}
	n.from = b.pets[len(b.pets)-1].ID + 1
	n.blocks = slices.Delete(n.blocks, 0, 1)
}

func (n *newest) clear() { n.from, n.blocks, n.bytes = math.MaxInt64, nil, 0 }

// forget begins a new version and forgets every animal.
func (n *newest) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.older = n.version.Add(1)
	n.clear()
}

// extend adds the next animals below from, newest first. If there are fewer than blockSize, no older ones exist.
func (n *newest) extend(pets []petstore.Pet) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(pets) > 0 {
		n.from = pets[len(pets)-1].ID
		b := block{first: n.from, pets: slices.Clone(pets)}
		slices.Reverse(b.pets)
		for _, pet := range pets {
			n.count(&b, pet, 1)
		}
		n.blocks = slices.Insert(n.blocks, 0, b)
	}
	if len(pets) < blockSize {
		n.from = math.MinInt64
	}
}

// room returns from, and whether there is room to fetch animals below it.
func (n *newest) room() (from int64, ok bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.from, n.from != math.MinInt64 && n.bytes < n.most/4*3
}

// get returns an animal if it is in memory. If it is not found but known, there is no such animal. Otherwise a reader
// that shows the version since, or a later one, knows whether there is one.
func (n *newest) get(id int64) (pet petstore.Pet, found, known bool, since uint64) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	i, j, found := n.find(id)
	if found {
		pet = n.blocks[i].pets[j]
	}
	return pet, found, id >= n.from, n.older
}

// list returns a page if the whole page is in memory. Otherwise a reader that shows the version since, or a later one,
// has the page.
func (n *newest) list(q petstore.PetQuery) (pets []petstore.Pet, whole bool, since uint64) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	before := cmp.Or(q.Before, math.MaxInt64)
	if before <= n.from {
		return nil, false, n.older
	}
	pets = make([]petstore.Pet, 0, min(q.Limit, maxPage))
	i, end, _ := n.find(before)
	for ; i >= 0; i-- {
		b := &n.blocks[i]
		pets = b.appendNewest(pets, q, end)
		if len(pets) == q.Limit {
			return pets, true, 0
		}
		end = blockSize
	}
	return pets, n.from == math.MinInt64, n.version.Load()
}

// appendNewest appends the animals before the place end that q selects, newest first, until the page is full.
func (b *block) appendNewest(page []petstore.Pet, q petstore.PetQuery, end int) []petstore.Pet {
	if q.Status != petstore.AnyStatus && b.of[q.Status] == 0 {
		return page
	}
	for j := min(end, len(b.pets)) - 1; j >= 0 && len(page) < q.Limit; j-- {
		if q.Status == petstore.AnyStatus || b.pets[j].Status == q.Status {
			page = append(page, b.pets[j])
		}
	}
	return page
}
