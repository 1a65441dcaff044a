package httpapi

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"petstore/internal/petstore"
)

const (
	// maxUses is how many keys may wait for their use to be noted. The use of any other key is noted after a later look-up.
	maxUses    = 1024
	useTimeout = 5 * time.Second
)

// keyUses notes in the storage in which hour a key was last used. It works in the background, on one key at a time, and
// notes each key at most once an hour. No request waits for it or fails because of it.
type keyUses struct {
	storage petstore.Storage
	log     *slog.Logger

	mu      sync.Mutex
	waiting map[string]time.Time // the hours to note, by the ids of the keys
	writing bool                 // a goroutine writes until no key waits
}

func newKeyUses(storage petstore.Storage, log *slog.Logger) *keyUses {
	return &keyUses{storage: storage, log: log, waiting: make(map[string]time.Time)}
}

// note queues the use of a key to be noted, unless the storage has noted this hour already.
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

// next chooses a waiting key. The key stays in waiting until done is called, so that it is not noted twice.
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
