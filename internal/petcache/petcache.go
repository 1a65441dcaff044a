// Package petcache holds the newest animals of a storage in memory: every animal from one id on. The storages keep it
// up to date, each in its own way.
package petcache

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"petstore/internal/petstore"
)

// Cache holds every animal from one id on. It is not safe for concurrent use. Make one with New.
type Cache struct {
	// MaxBytes bounds the bytes of the animals in the cache. The cache may use half as much again if deletions have left
	// blocks half empty. Older animals fill up to three quarters of MaxBytes. The rest, which is more than any block takes,
	// is for new animals.
	MaxBytes int
	// from is the lower bound of the cache, which holds every animal with this id or a higher one. It is math.MinInt64 if the
	// cache holds all animals, and math.MaxInt64 if it holds none.
	from   int64
	blocks []block // ordered by id
	bytes  int
}

// New returns an empty cache.
func New() Cache { return Cache{MaxBytes: 32 << 20, from: math.MaxInt64} }

// block holds 1 to BlockSize animals, ordered by id.
type block struct {
	first    int64                     // no animal of the block has a lower id
	byStatus [petstore.Sold + 1]uint16 // the number of animals by status
	pets     []petstore.Pet
}

const (
	// BlockSize is the number of animals that AddOlder adds at most.
	BlockSize = 256
	// petSize is how many bytes an animal takes, without its name.
	petSize = 64
	// maxPage is more than the number of animals on any page. A list allocates room for at most this many in advance.
	maxPage = 128
)

// SizeOf returns how many bytes an animal takes.
func SizeOf(p petstore.Pet) int { return petSize + len(p.Name) }

// From returns the lower bound of the cache: math.MinInt64 if it holds all animals, math.MaxInt64 if it is empty.
func (c *Cache) From() int64 { return c.from }

// Bytes returns how many bytes the animals in the cache take.
func (c *Cache) Bytes() int { return c.bytes }

// Change is what happened to an animal: it was stored, or it was deleted.
type Change struct {
	Pet     petstore.Pet
	Deleted bool
}

// Apply makes one change. It returns false if the animal is below the cache, which then stays as it is.
func (c *Cache) Apply(change Change) bool {
	if change.Pet.ID < c.from {
		return false
	}
	i, j, found := c.find(change.Pet.ID)
	switch {
	case found && change.Deleted:
		c.remove(i, j)
	case found:
		b := &c.blocks[i]
		c.adjustCounts(b, b.pets[j], -1)
		b.pets[j] = change.Pet
		c.adjustCounts(b, change.Pet, 1)
	case !change.Deleted:
		c.insert(i, j, change.Pet)
	}
	return true
}

// Shrink removes the oldest animals while the cache has more than MaxBytes. It reports whether it removed any.
func (c *Cache) Shrink() (shrunk bool) {
	for ; c.bytes > c.MaxBytes; shrunk = true {
		c.evictOldest()
	}
	return shrunk
}

// find returns the block i that an id belongs to, or -1 if the id is below all blocks, and its place j in the block.
func (c *Cache) find(id int64) (i, j int, found bool) {
	i = sort.Search(len(c.blocks), func(i int) bool { return c.blocks[i].first > id }) - 1
	if i < 0 {
		return i, 0, false
	}
	pets := c.blocks[i].pets
	if j := uint64(id - c.blocks[i].first); j < uint64(len(pets)) && pets[j].ID == id { // the block has no gaps before this id
		return i, int(j), true
	}
	j = sort.Search(len(pets), func(j int) bool { return pets[j].ID >= id })
	return i, j, j < len(pets) && pets[j].ID == id
}

// adjustCounts adds an animal of a block to the counts if by is 1, and subtracts it if by is -1.
func (c *Cache) adjustCounts(b *block, pet petstore.Pet, by int) {
	b.byStatus[pet.Status] += uint16(by)
	c.bytes += by * SizeOf(pet)
}

func (c *Cache) remove(i, j int) {
	b := &c.blocks[i]
	c.adjustCounts(b, b.pets[j], -1)
	if b.pets = slices.Delete(b.pets, j, j+1); len(b.pets) == 0 {
		c.blocks = slices.Delete(c.blocks, i, i+1)
	} else {
		c.mergeWithNext(i)
	}
	c.mergeWithNext(i - 1)
}

// mergeWithNext merges block i with the next one if both fit into one block. So two neighbors are always more than half
// full.
func (c *Cache) mergeWithNext(i int) {
	if i < 0 || i+1 >= len(c.blocks) || len(c.blocks[i].pets)+len(c.blocks[i+1].pets) > BlockSize {
		return
	}
	b, next := &c.blocks[i], c.blocks[i+1]
	b.pets = slices.Concat(b.pets, next.pets)
	for status, count := range next.byStatus {
		b.byStatus[status] += count
	}
	c.blocks = slices.Delete(c.blocks, i+1, i+2)
}

// insert adds an animal at its place j in block i, as find returns them.
func (c *Cache) insert(i, j int, pet petstore.Pet) {
	last := len(c.blocks) - 1
	switch {
	case i == last && (i < 0 || j == BlockSize): // the animal is newer than all others
		c.blocks = append(c.blocks, block{})
		i, j = last+1, 0
	case i < 0: // the animal is older than all others
		i = 0
	}
	if len(c.blocks[i].pets) == BlockSize {
		c.split(i)
		if j > BlockSize/2 {
			i, j = i+1, j-BlockSize/2
		}
	}
	b := &c.blocks[i]
	if b.pets = slices.Insert(b.pets, j, pet); j == 0 {
		b.first = pet.ID
	}
	c.adjustCounts(b, pet, 1)
}

// split makes two blocks of a full one.
func (c *Cache) split(i int) {
	full := c.blocks[i].pets
	c.blocks[i] = newBlock(slices.Clone(full[:BlockSize/2]))
	c.blocks = slices.Insert(c.blocks, i+1, newBlock(slices.Clone(full[BlockSize/2:])))
}

func newBlock(pets []petstore.Pet) block {
	b := block{first: pets[0].ID, pets: pets}
	for _, pet := range pets {
		b.byStatus[pet.Status]++
	}
	return b
}

// evictOldest removes the oldest block.
func (c *Cache) evictOldest() {
	b := &c.blocks[0]
	for _, pet := range b.pets {
		c.adjustCounts(b, pet, -1)
	}
	c.from = b.pets[len(b.pets)-1].ID + 1
	c.blocks = slices.Delete(c.blocks, 0, 1)
}

// Empty removes all animals.
func (c *Cache) Empty() { c.from, c.blocks, c.bytes = math.MaxInt64, nil, 0 }

// AddOlder adds the next animals below the cache, newest first. Fewer than BlockSize animals mean that there are no older ones.
func (c *Cache) AddOlder(pets []petstore.Pet) {
	if len(pets) > 0 {
		older := slices.Clone(pets)
		slices.Reverse(older)
		for _, pet := range older {
			c.bytes += SizeOf(pet)
		}
		c.from = older[0].ID
		c.blocks = slices.Insert(c.blocks, 0, newBlock(older))
	}
	if len(pets) < BlockSize {
		c.from = math.MinInt64
	}
}

// HasRoom reports whether there is room for older animals, and whether there may be any.
func (c *Cache) HasRoom() bool { return c.from != math.MinInt64 && c.bytes < c.MaxBytes/4*3 }

// Get returns an animal if it is in the cache. If it is not found but known, the animal does not exist.
func (c *Cache) Get(id int64) (pet petstore.Pet, found, known bool) {
	i, j, found := c.find(id)
	if found {
		pet = c.blocks[i].pets[j]
	}
	return pet, found, id >= c.from
}

// Reaches reports whether a page begins in the cache.
func (c *Cache) Reaches(q petstore.PetQuery) bool { return cmp.Or(q.Before, math.MaxInt64) > c.from }

// List returns a page. It is complete if the cache holds all of it.
func (c *Cache) List(q petstore.PetQuery) (pets []petstore.Pet, complete bool) {
	if !c.Reaches(q) {
		return nil, false
	}
	pets = make([]petstore.Pet, 0, min(q.Limit, maxPage))
	i, end, _ := c.find(cmp.Or(q.Before, math.MaxInt64))
	for ; i >= 0; i-- {
		b := &c.blocks[i]
		pets = b.appendPage(pets, q, end)
		if len(pets) == q.Limit {
			return pets, true
		}
		end = BlockSize
	}
	return pets, c.from == math.MinInt64
}

// appendPage appends animals that q selects, newest first, until the page is full. It starts just below the place end.
func (b *block) appendPage(page []petstore.Pet, q petstore.PetQuery, end int) []petstore.Pet {
	if q.Status != petstore.AnyStatus && b.byStatus[q.Status] == 0 {
		return page
	}
	for j := min(end, len(b.pets)) - 1; j >= 0 && len(page) < q.Limit; j-- {
		if q.Status == petstore.AnyStatus || b.pets[j].Status == q.Status {
			page = append(page, b.pets[j])
		}
	}
	return page
}
