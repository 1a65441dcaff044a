package httpapi

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"petstore/internal/petstore"
)

const (
	// maxUses is how many keys may wait for their use to be noted. One more is noted when it is next looked up.
	maxUses    = 1024
	useTimeout = 5 * time.Second
)

// keyUses notes in the storage in which hour a key was last used: in the background, one key at a time, and at most once
// an hour for each. No request waits for it, and none fails with it.
type keyUses struct {
	storage petstore.Storage
	log     *slog.Logger

	mu      sync.Mutex
	waiting map[string]time.Time // the hour by the key's id
	writing bool                 // a goroutine writes until nothing waits
}

func newKeyUses(storage petstore.Storage, log *slog.Logger) *keyUses {
	return &keyUses{storage: storage, log: log, waiting: make(map[string]time.Time)}
}

// note remembers that a key is used now, unless the storage knows it already.
func (u *keyUses) note(key petstore.Key, now time.Time) {
	hour := now.UTC().Truncate(time.Hour)
	if !key.LastUsedAt.Before(hour) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.waiting) >= maxUses {
		return
	}
	u.waiting[key.ID] = hour
	if !u.writing {
		u.writing = true
		go u.write()
	}
}

func (u *keyUses) write() {
	for {
		id, hour, ok := u.next()
		if !ok {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), useTimeout)
		err := u.storage.UseKey(ctx, id, hour)
		cancel()
		if err != nil {
			u.log.Debug("the use of a key was not noted; it is noted when the key is next looked up", "key", id, "cause", err.Error())
		}
		u.done(id, hour)
	}
}

// next chooses a key that waits. It goes on waiting until it is done, so that it is not noted twice.
func (u *keyUses) next() (id string, hour time.Time, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, hour := range u.waiting {
		return id, hour, true
	}
	u.writing = false
	return "", time.Time{}, false
}

func (u *keyUses) done(id string, hour time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.waiting[id].Equal(hour) {
		delete(u.waiting, id)
	}
}
