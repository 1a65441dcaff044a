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

// newest holds the newest animals in memory. What it holds is what a read of the file would show: every animal from one
// id on, as of the current version. Only whoever has the writer changes it. Where it cannot follow a change it forgets
// everything, which is always right.
type newest struct {
	version atomic.Uint64
	mu      sync.RWMutex
	// from is the id from which on it holds every animal: math.MinInt64 if it holds all, math.MaxInt64 if none.
	from int64
	// older is the version since which the animals below from are what they are.
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
	of    [petstore.Sold + 1]uint16 // how many of them have a status
	pets  []petstore.Pet
}

const (
	blockSize = 256
	// maxNewest bounds what is held, in bytes. Up to three quarters of it are fetched from the file; the rest, which is
	// more than any block takes, is for what comes in.
	maxNewest = 32 << 20
	// petSize is what an animal takes besides the letters of its name.
	petSize = 64
)

func sizeOf(p petstore.Pet) int { return petSize + len(p.Name) }

// alteration is what became of an animal: what it is now, or that it is gone.
type alteration struct {
	pet  petstore.Pet
	gone bool
}

// follow begins the version that a commit has made.
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

// apply reports false if what is below from has changed by it.
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
	default: // it belongs between others, where only a copy of another store puts an animal
		n.clear()
		return false
	}
	return true
}

// find returns the block that an id belongs to, -1 if it is below all of them, and its place there.
func (n *newest) find(id int64) (i, j int, found bool) {
	i = sort.Search(len(n.blocks), func(i int) bool { return n.blocks[i].first > id }) - 1
	if i < 0 {
		return i, 0, false
	}
	pets := n.blocks[i].pets
	if j := id - n.blocks[i].first; j < int64(len(pets)) && pets[j].ID == id { // nothing is missing before it
		return i, int(j), true
	}
	j = sort.Search(len(pets), func(j int) bool { return pets[j].ID >= id })
	return i, j, j < len(pets) && pets[j].ID == id
}

// count counts an animal of a block in, or out.
func (n *newest) count(b *block, pet petstore.Pet, by int) {
	b.of[pet.Status] += uint16(by)
	n.bytes += by * sizeOf(pet)
}

func (n *newest) remove(i, j int) {
	b := &n.blocks[i]
	n.count(b, b.pets[j], -1)
	if b.pets = slices.Delete(b.pets, j, j+1); len(b.pets) == 0 {
		n.blocks = slices.Delete(n.blocks, i, i+1)
	}
}

// push adds an animal that is newer than all others.
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

// drop lets go of the oldest block.
func (n *newest) drop() {
	b := &n.blocks[0]
	for _, pet := range b.pets {
		n.count(b, pet, -1)
	}
	n.from = b.pets[len(b.pets)-1].ID + 1
	n.blocks = slices.Delete(n.blocks, 0, 1)
}

func (n *newest) clear() { n.from, n.blocks, n.bytes = math.MaxInt64, nil, 0 }

// forget begins a version of which nothing is known.
func (n *newest) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.older = n.version.Add(1)
	n.clear()
}

// extend adds the animals below from, newest first: blockSize of them, or fewer if there are no more.
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

// room returns from, and whether what is below it should be fetched.
func (n *newest) room() (from int64, ok bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.from, n.from != math.MinInt64 && n.bytes < n.most/4*3
}

// get returns an animal. If it is not held, a reader of version since shows whether there is one; there is none if known.
func (n *newest) get(id int64) (pet petstore.Pet, found, known bool, since uint64) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	i, j, found := n.find(id)
	if found {
		pet = n.blocks[i].pets[j]
	}
	return pet, found, id >= n.from, n.older
}

// list returns a page if all of it is held. Otherwise a reader of version since shows it.
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

// appendNewest appends those before end that are asked for, newest first, as long as the page is not full.
func (b *block) appendNewest(page []petstore.Pet, q petstore.PetQuery, end int) []petstore.Pet {
	if q.Status != 0 && b.of[q.Status] == 0 {
		return page
	}
	for j := min(end, len(b.pets)) - 1; j >= 0 && len(page) < q.Limit; j-- {
		if q.Status == 0 || b.pets[j].Status == q.Status {
			page = append(page, b.pets[j])
		}
	}
	return page
}
