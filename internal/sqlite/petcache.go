package sqlite

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"petstore/internal/petstore"
)

// petCache holds the newest animals in memory: every animal from one id on, as a read of the file would show them at the
// current version. Only the goroutine that has the writer changes it. If the cache cannot follow a change, it empties
// itself, which is always correct.
type petCache struct {
	version atomic.Uint64
	mu      sync.RWMutex
	// from is the lower bound of the cache, which holds every animal with this id or a higher one. It is math.MinInt64 if the
	// cache holds all animals, and math.MaxInt64 if it holds none.
	from int64
	// olderVersion is the version at which an animal below the cache last changed.
	olderVersion uint64
	blocks       []block // ordered by id
	bytes        int
	maxBytes     int
}

func (c *petCache) init() {
	c.maxBytes = maxCacheBytes
	c.empty()
}

// block holds 1 to blockSize animals, ordered by id.
type block struct {
	first    int64                     // no animal of the block has a lower id
	byStatus [petstore.Sold + 1]uint16 // the number of animals by status
	pets     []petstore.Pet
}

const (
	blockSize = 256
	// maxCacheBytes bounds the bytes of the animals in the cache. The cache may use half as much again if deletions have left
	// blocks half empty. Animals read from the file take up to three quarters of maxCacheBytes. The rest, which is more than
	// any block takes, is for new animals.
	maxCacheBytes = 32 << 20
	// petSize is how many bytes an animal takes, without its name.
	petSize = 64
)

func sizeOf(p petstore.Pet) int { return petSize + len(p.Name) }

// petChange is what a transaction did to an animal: it stored pet, or deleted it.
type petChange struct {
	pet     petstore.Pet
	deleted bool
}

// advance begins a new version, with the changes of a commit.
func (c *petCache) advance(changes []petChange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	version := c.version.Add(1)
	for _, change := range changes {
		if !c.update(change) {
			c.olderVersion = version
		}
	}
	for c.bytes > c.maxBytes {
		c.evictOldest()
		c.olderVersion = version
	}
}

// update makes one change. It returns false if an animal below the cache has changed.
func (c *petCache) update(change petChange) bool {
	i, j, found := c.find(change.pet.ID)
	switch {
	case change.pet.ID < c.from:
		return false
	case found && change.deleted:
		c.remove(i, j)
	case found:
		b := &c.blocks[i]
		c.adjustCounts(b, b.pets[j], -1)
		b.pets[j] = change.pet
		c.adjustCounts(b, change.pet, 1)
	case change.deleted:
	case i == len(c.blocks)-1 && (i < 0 || j == len(c.blocks[i].pets)):
		c.addNewest(change.pet)
	default: // the animal belongs between others; only a copy of another store puts animals there
		c.empty()
		return false
	}
	return true
}

// find returns the block i that an id belongs to, or -1 if the id is below all blocks, and its place j in the block.
func (c *petCache) find(id int64) (i, j int, found bool) {
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
func (c *petCache) adjustCounts(b *block, pet petstore.Pet, by int) {
	b.byStatus[pet.Status] += uint16(by)
	c.bytes += by * sizeOf(pet)
}

func (c *petCache) remove(i, j int) {
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
func (c *petCache) mergeWithNext(i int) {
	if i < 0 || i+1 >= len(c.blocks) || len(c.blocks[i].pets)+len(c.blocks[i+1].pets) > blockSize {
		return
	}
	b, next := &c.blocks[i], c.blocks[i+1]
	b.pets = slices.Concat(b.pets, next.pets)
	for status, count := range next.byStatus {
		b.byStatus[status] += count
	}
	c.blocks = slices.Delete(c.blocks, i+1, i+2)
}

// addNewest adds an animal that is newer than all others in the cache.
func (c *petCache) addNewest(pet petstore.Pet) {
	last := len(c.blocks) - 1
	if last < 0 || len(c.blocks[last].pets) == blockSize {
		c.blocks = append(c.blocks, block{first: pet.ID})
		last++
	}
	b := &c.blocks[last]
	b.pets = append(b.pets, pet)
	c.adjustCounts(b, pet, 1)
}

// evictOldest removes the oldest block.
func (c *petCache) evictOldest() {
	b := &c.blocks[0]
	for _, pet := range b.pets {
		c.adjustCounts(b, pet, -1)
	}
	c.from = b.pets[len(b.pets)-1].ID + 1
	c.blocks = slices.Delete(c.blocks, 0, 1)
}

func (c *petCache) empty() { c.from, c.blocks, c.bytes = math.MaxInt64, nil, 0 }

// invalidate begins a new version and empties the cache.
func (c *petCache) invalidate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.olderVersion = c.version.Add(1)
	c.empty()
}

// addOlder adds the next animals below the cache, newest first. Fewer than blockSize animals mean that there are no older ones.
func (c *petCache) addOlder(pets []petstore.Pet) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(pets) > 0 {
		c.from = pets[len(pets)-1].ID
		b := block{first: c.from, pets: slices.Clone(pets)}
		slices.Reverse(b.pets)
		for _, pet := range pets {
			c.adjustCounts(&b, pet, 1)
		}
		c.blocks = slices.Insert(c.blocks, 0, b)
	}
	if len(pets) < blockSize {
		c.from = math.MinInt64
	}
}

// room returns the lower bound of the cache, and whether there is room for animals below it.
func (c *petCache) room() (from int64, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.from, c.from != math.MinInt64 && c.bytes < c.maxBytes/4*3
}

// get returns an animal if it is in the cache. If it is not found but known, the animal does not exist. If it is not known,
// the caller must ask a reader that shows the version since or a later one.
func (c *petCache) get(id int64) (pet petstore.Pet, found, known bool, since uint64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	i, j, found := c.find(id)
	if found {
		pet = c.blocks[i].pets[j]
	}
	return pet, found, id >= c.from, c.olderVersion
}

// list returns a page if the cache holds the complete page. Otherwise the caller must ask a reader that shows the version
// since or a later one.
func (c *petCache) list(q petstore.PetQuery) (pets []petstore.Pet, complete bool, since uint64) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	before := cmp.Or(q.Before, math.MaxInt64)
	if before <= c.from {
		return nil, false, c.olderVersion
	}
	pets = make([]petstore.Pet, 0, min(q.Limit, maxPage))
	i, end, _ := c.find(before)
	for ; i >= 0; i-- {
		b := &c.blocks[i]
		pets = b.appendPage(pets, q, end)
		if len(pets) == q.Limit {
			return pets, true, 0
		}
		end = blockSize
	}
	return pets, c.from == math.MinInt64, c.version.Load()
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

// startFillingCache starts to read one more block of animals into the cache, in the background, if the cache has room.
func (db *DB) startFillingCache() {
	if _, ok := db.cache.room(); ok && db.soleWriter.Load() && db.filling.CompareAndSwap(false, true) {
		go func() {
			defer db.filling.Store(false)
			db.fillCache()
		}()
	}
}

// fillCache reads one more block of animals into the cache. Meanwhile it holds the writer, so that no animal changes.
func (db *DB) fillCache() {
	w, err := db.writer.take(context.Background())
	if err != nil {
		return // closed
	}
	defer db.writer.give(w)
	from, ok := db.cache.room()
	if !ok {
		return
	}
	if pets, err := listPets(w.list, petstore.PetQuery{Before: from, Limit: blockSize}); err == nil {
		db.cache.addOlder(pets)
	}
}
