package ratelimit

import (
	"context"
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"petstore/internal/petstore"
)

const (
	shardCount = 64

	// maxAddresses bounds how many addresses have a counter, so that clients without a key cannot fill the memory.
	maxAddresses = 131_072

	// graceMinutes is how long a counter is kept after its window ends, in case the clock steps back a little.
	graceMinutes = 1
)

// Memory is a Limiter that counts in this process. It deletes counters whose windows have ended. The number of counters of
// addresses, which are those without a daily limit, is bounded: when there are too many, Memory deletes an arbitrary one to
// make room for the next.
type Memory struct {
	now    func() time.Time
	seed   maphash.Seed
	shards [shardCount]shard
}

var _ petstore.Limiter = (*Memory)(nil)

// shard holds the counters of some subjects, so that requests of other subjects need not wait for its lock.
type shard struct {
	mu        sync.Mutex
	swept     int64 // the minute of the last sweep
	owners    map[string]*counter
	addresses map[string]*counter
	_         [96]byte // keeps the locks of two shards out of one cache line
}

// NewMemory returns a Memory that reads the time from the function now.
func NewMemory(now func() time.Time) *Memory {
	m := &Memory{now: now, seed: maphash.MakeSeed()}
	for i := range m.shards {
		m.shards[i].owners = make(map[string]*counter)
		m.shards[i].addresses = make(map[string]*counter)
	}
	return m
}

// Take implements petstore.Limiter. It never fails.
func (m *Memory) Take(_ context.Context, ask petstore.Ask) (petstore.Decision, error) {
	now := m.now().UnixMilli()
	s := m.shard(ask.Subject)
	s.mu.Lock()
	defer s.mu.Unlock()

	s.sweep(now / millisPerMinute)
	if c := s.counters(ask.Limits)[ask.Subject]; c != nil {
		return c.take(&ask, now), nil
	}
	var c counter
	decision := c.take(&ask, now)
	if c != (counter{}) {
		s.add(&ask, c)
	}
	return decision, nil
}

// GiveBack implements petstore.Limiter. It never fails.
func (m *Memory) GiveBack(_ context.Context, ask petstore.Ask, taken petstore.Decision) error {
	s := m.shard(ask.Subject)
	s.mu.Lock()
	defer s.mu.Unlock()

	if c := s.counters(ask.Limits)[ask.Subject]; c != nil {
		c.giveBack(minuteOf(taken))
	}
	return nil
}

// learn merges c, which Redis counted in that minute, into the subject's counter.
func (m *Memory) learn(ask *petstore.Ask, c counter, minute int64) {
	s := m.shard(ask.Subject)
	s.mu.Lock()
	defer s.mu.Unlock()

	s.sweep(minute)
	known := s.counters(ask.Limits)[ask.Subject]
	if known == nil {
		s.add(ask, c)
		return
	}
	*known = known.merge(c, minute)
}

// known returns the subject's counter, or a zero counter if there is none.
func (m *Memory) known(ask *petstore.Ask) counter {
	s := m.shard(ask.Subject)
	s.mu.Lock()
	defer s.mu.Unlock()

	if c := s.counters(ask.Limits)[ask.Subject]; c != nil {
		return *c
	}
	return counter{}
}

func (m *Memory) shard(subject string) *shard {
	return &m.shards[maphash.String(m.seed, subject)%shardCount]
}

func (s *shard) counters(limits petstore.Limits) map[string]*counter {
	if limits.OfAddress() {
		return s.addresses
	}
	return s.owners
}

func (s *shard) add(ask *petstore.Ask, c counter) {
	counters := s.counters(ask.Limits)
	if ask.Limits.OfAddress() && len(counters) >= maxAddresses/shardCount {
		for victim := range counters {
			delete(counters, victim)
			break
		}
	}
	counters[strings.Clone(ask.Subject)] = &c
}

// sweep deletes, at most once a minute, the counters whose last window has ended: those of addresses after their minute,
// those of owners after their day. It also deletes future-dated counters, recorded while the clock was fast.
func (s *shard) sweep(minute int64) {
	if minute <= s.swept && s.swept <= minute+graceMinutes {
		return
	}
	oldest, last := minute-graceMinutes, s.swept-graceMinutes
	s.swept = minute
	for subject, c := range s.addresses {
		if c.minute < oldest || c.minute > minute+1 {
			delete(s.addresses, subject)
		}
	}
	today := oldest / minutesPerDay
	if today <= last/minutesPerDay {
		return
	}
	for subject, c := range s.owners {
		if c.minute/minutesPerDay < today || c.minute > minute+1 {
			delete(s.owners, subject)
		}
	}
}
