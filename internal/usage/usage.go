// Package usage counts the requests of owners in memory, and adds the counts to the storage from time to time. No request
// waits for the storage.
package usage

import (
	"context"
	"crypto/rand"
	"hash/maphash"
	"sync"
	"time"

	"petstore/internal/petstore"
)

// Storage is where the counts are added up.
type Storage interface {
	AddUsage(ctx context.Context, added []petstore.OwnerUsage, idempotency *petstore.Idempotency) (replayed bool, err error)
}

// shardCount is how many owners can be counted at the same time without waiting for each other.
const shardCount = 32

// Counter counts the requests of this process. It has a count for each owner with requests since the last Flush. Its
// methods are safe for concurrent use.
type Counter struct {
	storage Storage
	seed    maphash.Seed
	shards  [shardCount]shard

	flushing sync.Mutex // held by Flush
	// batch has the counts that the storage has not acknowledged. Until it does, they are sent again under the same
	// idempotency key, so that they are added only once even if the outcome of a call is unknown.
	batch       []petstore.OwnerUsage
	idempotency *petstore.Idempotency
}

// shard has the counts of some owners.
type shard struct {
	mu     sync.Mutex
	counts map[ownerHour]*count
	_      [48]byte // keeps shards in cache lines of their own
}

type ownerHour struct {
	owner string
	hour  int64 // since 1970
}

type count struct{ passed, refused int64 }

// New returns a Counter that adds to the storage.
func New(storage Storage) *Counter {
	return &Counter{storage: storage, seed: maphash.MakeSeed()}
}

// Count counts a request of the owner that was answered at that time. The argument refused says whether a rate limit or a
// ban refused the request.
func (c *Counter) Count(owner string, at time.Time, refused bool) {
	key := ownerHour{owner, at.Unix() / 3600}
	s := &c.shards[maphash.String(c.seed, owner)%shardCount]
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.counts[key]
	if n == nil {
		if s.counts == nil {
			s.counts = make(map[ownerHour]*count)
		}
		n = new(count)
		s.counts[key] = n
	}
	if refused {
		n.refused++
	} else {
		n.passed++
	}
}

// Flush adds to the storage what was counted since the last Flush. If it returns an error, the next Flush sends the same
// counts again, and they are added only once.
func (c *Counter) Flush(ctx context.Context) error {
	c.flushing.Lock()
	defer c.flushing.Unlock()
	if len(c.batch) > 0 {
		if err := c.send(ctx); err != nil {
			return err
		}
	}
	c.batch, c.idempotency = c.take(), &petstore.Idempotency{Owner: "usage", Key: rand.Text()}
	return c.send(ctx)
}

// send sends the batch, unless it is empty.
func (c *Counter) send(ctx context.Context) error {
	if len(c.batch) == 0 {
		return nil
	}
	if _, err := c.storage.AddUsage(ctx, c.batch, c.idempotency); err != nil {
		return err
	}
	c.batch = nil
	return nil
}

// take returns all counts and begins new ones.
func (c *Counter) take() (taken []petstore.OwnerUsage) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		counts := s.counts
		s.counts = nil
		s.mu.Unlock()
		for key, n := range counts {
			hour := time.Unix(key.hour*3600, 0).UTC()
			taken = append(taken, petstore.OwnerUsage{Owner: key.owner, Usage: petstore.Usage{Hour: hour, Passed: n.passed, Refused: n.refused}})
		}
	}
	return taken
}
