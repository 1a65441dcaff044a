package httpapi

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"petstore/internal/petstore"
)

const (
	// maxScheduled is the number of keys whose update may be scheduled at once. Any other key is updated after a later
	// look-up.
	maxScheduled = 1024
	useTimeout   = 5 * time.Second
)

// keyUses updates the last-used time of keys in the storage. It works in the background, updates one key at a time, and
// each key at most once an hour. No request waits for it or fails because of it.
type keyUses struct {
	storage petstore.Storage
	log     *slog.Logger

	mu      sync.Mutex
	waiting map[string]time.Time // the new last-used times, by key id
	writing bool                 // a goroutine is running; it writes until no key is waiting
}

func newKeyUses(storage petstore.Storage, log *slog.Logger) *keyUses {
	return &keyUses{storage: storage, log: log, waiting: make(map[string]time.Time)}
}

// schedule schedules an update of the key's last-used time, unless the storage already has this hour.
func (u *keyUses) schedule(key petstore.Key, now time.Time) {
	hour := now.UTC().Truncate(time.Hour)
	if !key.LastUsedAt.Before(hour) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.waiting) >= maxScheduled {
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
			u.log.Debug("could not update the last-used time of a key; will try again after its next look-up", "key", id, "cause", err.Error())
		}
		u.done(id, hour)
	}
}

// next returns a waiting key. The key stays in waiting until done is called, so that a look-up in the meantime does not
// schedule it again.
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
