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

	// maxAddresses is how many addresses have a counter at most, so that clients without a key cannot fill the memory.
	maxAddresses = 131_072

	// graceMinutes is how long a counter is kept after its window, so that it is still there if the clock steps back a
	// little.
	graceMinutes = 1
)

// Memory is a Limiter that counts in this process. It deletes counters whose windows are over. The number of counters
// without a daily limit, which are those of addresses, is bounded: when there are too many, an arbitrary one is deleted
// to make room for the next.
type Memory struct {
	now    func() time.Time
	seed   maphash.Seed
	shards [shardCount]shard
}

var _ petstore.Limiter = (*Memory)(nil)

// shard holds the counters of some subjects, so that others need not wait for its lock.
type shard struct {
	mu        sync.Mutex
	swept     int64 // the minute of the last sweep
	owners    map[string]*counter
	addresses map[string]*counter
	_         [96]byte // so that no two shards have their locks in one cache line
}

// NewMemory makes a Memory that reads its time from now.
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

// learn makes sure that the subject's counter is not behind c, which Redis counted in that minute.
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

// known is the subject's counter, or a zero counter if there is none.
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

// sweep deletes the counters whose last window is over, at most once a minute: those of addresses after their minute,
// those of owners after their day. It also deletes the counters that a clock made while it was ahead.
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
