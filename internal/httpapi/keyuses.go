package httpapi

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"petstore/internal/petstore"
)

const (
	// maxScheduled is the number of keys that can wait for an update at the same time. The update of any other key is
	// scheduled after a later look-up.
	maxScheduled = 1024
	useTimeout   = 5 * time.Second
)

// keyUses updates the last-used time of keys in the storage. It works in the background, on one key at a time, and updates
// each key at most once an hour. No request waits for an update or fails because of an update.
type keyUses struct {
	storage petstore.Storage
	log     *slog.Logger

	mu      sync.Mutex
	waiting map[string]time.Time // the last-used time to store, for each key id
	writing bool                 // whether a goroutine is running; the goroutine writes until no key is waiting
}

func newKeyUses(storage petstore.Storage, log *slog.Logger) *keyUses {
	return &keyUses{storage: storage, log: log, waiting: make(map[string]time.Time)}
}

// schedule schedules an update of the key's last-used time, unless the storage already has the current hour.
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

// next returns a waiting key. The key stays in the map waiting until done is called, so that a look-up in the meantime does
// not schedule the key again.
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
