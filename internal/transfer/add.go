package transfer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"petstore/client"
	"petstore/internal/petstore"
)

const (
	// storageConcurrency is how many creates wait for a database at the same time.
	storageConcurrency = 512
	// stopTimeout is how long an interrupted import waits for the answers to requests that it has sent.
	stopTimeout = 2 * time.Second
	// journalEvery is the time between two writes of acknowledged lines to the journal.
	journalEvery = time.Second
)

// create adds one line: first the animal, then its profile if the line has facts. It reports whether an earlier import had
// already added the line. A create that was interrupted between the two is completed by the next one.
type create func(ctx context.Context, it item) (replayed bool, err error)

// requests returns how many requests a create of the line sends.
func (l *petLine) requests() int64 {
	if l.hasFacts() {
		return 2
	}
	return 1
}

// createOnServer adds lines through the API. A line always has the same bodies and the same idempotency keys.
func createOnServer(store *client.Client) create {
	return func(ctx context.Context, it item) (bool, error) {
		var meta client.Meta
		pet := client.NewPet{Name: it.Pet.Name, CategoryID: it.Pet.CategoryID, Status: client.PetStatus(it.Pet.Status.String())}
		made, err := store.CreatePet(ctx, pet, client.WithIdempotencyKey(it.idempotencyKey()), client.WithMeta(&meta))
		if err != nil || !it.hasFacts() {
			return isReplay(meta), refusedLine(it, "", err)
		}
		meta = client.Meta{}
		_, err = store.UpdateProfile(ctx, made.ID, clientPatchOf(it.Facts), client.WithIdempotencyKey(it.profileKey(made.ID)), client.WithMeta(&meta))
		if errors.Is(err, client.ErrNotFound) {
			return true, checkDeleted(ctx, store, made.ID)
		}
		return isReplay(meta), refusedLine(it, fmt.Sprintf("the animal was added with the id %d, but its profile was refused: ", made.ID), err)
	}
}

// isReplay reports whether an earlier import made the request. After a retry, it may have been this import.
func isReplay(meta client.Meta) bool { return meta.Replayed && meta.Attempts == 1 }

// refusedLine turns the refusal of a line into a badLine, whose reason begins with before.
func refusedLine(it item, before string, err error) error {
	if refused := (*client.Error)(nil); errors.As(err, &refused) {
		switch refused.Status {
		case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge:
			return &badLine{Number: it.Number, Reason: before + refused.Message}
		}
	}
	return err
}

// checkDeleted explains why an animal has no profile. It returns nil if somebody has deleted the animal since it was added.
func checkDeleted(ctx context.Context, store *client.Client, petID int64) error {
	_, err := store.FindPet(ctx, petID)
	switch {
	case errors.Is(err, client.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("animal %d was added without its profile, because the server is older than this command and has no profiles; upgrade the server", petID)
}

// importOwner owns the idempotency records of imports into a database. No API key has this owner.
const importOwner = "petstore import"

// petsAndProfiles is the storage that lines are added to one by one.
type petsAndProfiles interface {
	petstore.Pets
	petstore.Profiles
}

// createInStorage adds lines one by one to a database, which remembers each of them for 24 hours.
func createInStorage(storage petsAndProfiles) create {
	return func(ctx context.Context, it item) (bool, error) {
		made, replayed, err := retry(ctx, func(ctx context.Context) (petstore.Pet, bool, error) {
			return storage.CreatePet(ctx, it.Pet, lineIdempotency(it.idempotencyKey()))
		})
		if err != nil || !it.hasFacts() {
			return replayed, err
		}
		_, replayed, err = retry(ctx, func(ctx context.Context) (petstore.Profile, bool, error) {
			return storage.UpdateProfile(ctx, made.ID, patchOf(it.Facts), lineIdempotency(it.profileKey(made.ID)))
		})
		if petstore.IsCode(err, petstore.NotFound) { // somebody has deleted the animal since it was added
			return true, nil
		}
		return replayed, err
	}
}

// lineIdempotency returns the idempotency of a key that stands for everything that is written with it.
func lineIdempotency(key string) *petstore.Idempotency {
	return &petstore.Idempotency{Owner: importOwner, Key: key, Fingerprint: sha256.Sum256([]byte(key))}
}

// addOneByOne adds each line with a create of its own, in the given number of goroutines. When it returns, the journal
// has all acknowledged lines.
func (im *importer) addOneByOne(ctx context.Context, concurrency int, add create) error {
	if err := im.badLines.removeOld(); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	sending, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	context.AfterFunc(ctx, func() { time.AfterFunc(stopTimeout, abandon) })

	items, acknowledged := make(chan item), make(chan lineID, concurrency)
	go func() {
		defer close(items)
		im.sendItems(ctx, items, stop)
	}()
	var workers sync.WaitGroup
	for range concurrency {
		workers.Go(func() {
			for it := range untilDone(ctx, items) {
				stored, err := im.addOne(sending, it, add)
				if err != nil {
					stop(err)
					return
				}
				if stored {
					acknowledged <- it.lineID
				}
			}
		})
	}
	go func() {
		workers.Wait()
		close(acknowledged)
	}()
	if err := im.writeJournal(acknowledged); err != nil {
		stop(err)
		for range acknowledged { // empties the channel, so that no worker blocks
		}
	}
	return context.Cause(ctx)
}

// sendItems gives the workers the lines to add.
func (im *importer) sendItems(ctx context.Context, items chan<- item, stop context.CancelCauseFunc) {
	for {
		it, err := im.next()
		if err == io.EOF {
			return
		} else if err != nil {
			stop(err)
			return
		}
		select {
		case items <- it:
		case <-ctx.Done():
			return
		}
	}
}

// untilDone yields items from the channel until the channel is closed or ctx ends.
func untilDone(ctx context.Context, items <-chan item) func(yield func(item) bool) {
	return func(yield func(item) bool) {
		for {
			select {
			case <-ctx.Done():
				return
			case it, more := <-items:
				if !more || !yield(it) {
					return
				}
			}
		}
	}
}

// addOne adds a line. If the server refuses the line, addOne reports a bad line and the import continues. The next import
// tries the line again.
func (im *importer) addOne(ctx context.Context, it item, add create) (stored bool, err error) {
	replayed, err := add(ctx, it)
	im.progress.Add(1)
	im.sent.Add(it.requests())
	bad := (*badLine)(nil)
	switch {
	case errors.As(err, &bad):
		return false, im.badLines.add(bad.Number, bad.Reason)
	case err != nil:
		return false, err
	case replayed:
		im.known.Add(1)
	default:
		im.added.Add(1)
	}
	return true, nil
}

// writeJournal writes acknowledged lines to the journal, every second and at the end.
func (im *importer) writeJournal(acknowledged <-chan lineID) error {
	var lines []lineID
	write := func() error {
		if im.journal == nil || len(lines) == 0 {
			lines = lines[:0]
			return nil
		}
		defer func() { lines = lines[:0] }()
		return im.journal.appendBlock(newBlockID(), lines)
	}
	tick := time.NewTicker(journalEvery)
	defer tick.Stop()
	for {
		due := false
		select {
		case id, more := <-acknowledged:
			if !more {
				return write()
			}
			lines = append(lines, id)
			due = len(lines) == maxBlockLines
		case <-tick.C:
			due = true
		}
		if due {
			if err := write(); err != nil {
				return err
			}
		}
	}
}
