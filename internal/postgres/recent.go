package postgres

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"petstore/internal/batch"
	"petstore/internal/petcache"
	"petstore/internal/petstore"
)

// recent holds the newest animals in memory, although other replicas change them too. A read waits for a query that began
// after the read arrived, and that all reads waiting at that moment share. The query returns the changes since the query
// before; news.go says why the memory then shows exactly what the primary showed to that query. A page that the memory does
// not hold completely is read from the primary.
//
// The memory fills on demand: after a read that it could not answer, the next query reads one more block of animals, in its
// own snapshot. If the memory cannot follow the changes, it empties itself, which is always correct.
type recent struct {
	db *DB
	// serving is true once the database is marked as served. Before that, a copy may change animals without events.
	serving atomic.Bool
	queries *batch.Shared[struct{}, struct{}]
	// place is used by one query at a time.
	place place
	// wanted reports that the next query should read older animals.
	wanted atomic.Bool
	// resting is the time until which reads leave the memory alone, in nanoseconds since 1970.
	resting atomic.Int64

	mu   sync.RWMutex // only follow changes the animals
	pets petcache.Cache

	answered, asked atomic.Int64
	emptied         [len(reasons)]atomic.Int64
}

// reason says why the memory was emptied.
type reason int

const (
	otherHistory   reason = iota // the server, its timeline or the feed is another, the server has crashed, or events are gone
	tooManyChanges               // more than one query may return
	unreadable                   // the database refuses the query, or another version wrote the records
)

var reasons = [...]string{otherHistory: "other_history", tooManyChanges: "too_many_changes", unreadable: "unreadable"}

// rest is how long reads go to the primary after the memory could not follow.
const rest = 10 * time.Second

func newRecent(db *DB) *recent {
	r := &recent{db: db, pets: petcache.New()}
	r.queries = batch.NewShared(r.follow)
	return r
}

// list returns a page if the memory holds all of it.
func (r *recent) list(ctx context.Context, q petstore.PetQuery) (pets []petstore.Pet, complete bool, err error) {
	err = r.read(ctx, func() bool {
		if q.Status == petstore.AnyStatus {
			return r.pets.Reaches(q)
		}
		_, complete := r.pets.List(q) // the memory may hold too few animals of a rare status
		return complete
	}, func() bool {
		pets, complete = r.pets.List(q)
		return complete
	})
	return pets, complete, err
}

// get returns an animal, or a zero animal if there is none with that id. It is not known if the id is below the memory.
func (r *recent) get(ctx context.Context, id int64) (pet petstore.Pet, known bool, err error) {
	err = r.read(ctx, func() bool { return id >= r.pets.From() }, func() bool {
		pet, _, known = r.pets.Get(id)
		return known
	})
	return pet, known, err
}

// read answers a read from the memory, after a query, if mayAnswer expects that it can.
func (r *recent) read(ctx context.Context, mayAnswer, answer func() bool) (err error) {
	if !r.serving.Load() {
		return nil
	}
	if time.Now().UnixNano() < r.resting.Load() {
		r.asked.Add(1)
		return nil
	}
	if r.locked(mayAnswer) {
		if _, err := r.queries.Do(ctx, struct{}{}); err != nil && !isFaulty(err) {
			return err
		}
		if r.locked(answer) {
			r.answered.Add(1)
			return nil
		}
	}
	r.asked.Add(1)
	r.startFilling()
	return nil
}

func (r *recent) locked(work func() bool) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return work()
}

// startFilling makes sure that a query reads older animals, if there is room for them.
func (r *recent) startFilling() {
	if r.locked(r.pets.HasRoom) && !r.wanted.Swap(true) {
		go r.queries.Do(context.Background(), struct{}{})
	}
}

// follow brings the memory up to date, and adds a block of older animals if one is wanted.
func (r *recent) follow(none struct{}) (struct{}, error) {
	from := r.pets.From()
	var block *petstore.PetQuery
	if r.wanted.Swap(false) {
		block = &petstore.PetQuery{Before: from, Limit: petcache.BlockSize}
	}
	n, older, err := r.readNews(block)
	if err == nil && r.place.known() && n.last > r.place.last {
		block = nil // its animals belong to another snapshot
		n, err = r.readAllNews()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		if isFaulty(err) {
			r.giveUp(unreadable)
		}
		return none, err
	}
	r.apply(n)
	if block != nil && r.pets.From() == from {
		r.pets.AddOlder(older)
	}
	return none, nil
}

// apply makes the changes of the news in the memory, or empties it.
func (r *recent) apply(n news) {
	before := r.place
	r.place = n.since(place{})
	if !n.continues(before) {
		r.empty(otherHistory)
		return
	}
	if n.tooMany {
		r.giveUp(tooManyChanges)
		return
	}
	changes, err := n.changes()
	if err != nil {
		r.giveUp(unreadable)
		return
	}
	for _, change := range changes {
		r.pets.Apply(change)
	}
	r.pets.Shrink()
	r.place = n.since(before)
}

func (r *recent) empty(why reason) {
	if r.pets.From() != math.MaxInt64 {
		r.emptied[why].Add(1)
	}
	r.pets.Empty()
}

// giveUp empties the memory, and leaves it alone for a while.
func (r *recent) giveUp(why reason) {
	r.empty(why)
	r.resting.Store(time.Now().Add(rest).UnixNano())
}
