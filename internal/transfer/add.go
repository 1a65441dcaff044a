package transfer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"petstore/client"
	"petstore/internal/petstore"
	"petstore/internal/terminal"
)

const (
	// storageConcurrency is how many creates wait for a database at the same time.
	storageConcurrency = 512
	// stopTimeout is how long an interrupted import waits for the answers to requests that it has sent.
	stopTimeout = 2 * time.Second
	// journalEvery is the time between two writes of acknowledged lines to the journal.
	journalEvery = time.Second
)

// create is a function that adds one line. It reports whether an earlier import had already added the line.
type create func(ctx context.Context, it item) (replayed bool, err error)

// createOnServer returns a create that adds lines through the API. A line always has the same body and the same idempotency
// key.
func createOnServer(store *client.Client) create {
	return func(ctx context.Context, it item) (bool, error) {
		var meta client.Meta
		pet := client.NewPet{Name: it.Pet.Name, CategoryID: it.Pet.CategoryID, Status: client.PetStatus(it.Pet.Status.String())}
		_, err := store.CreatePet(ctx, pet, client.WithIdempotencyKey(it.idempotencyKey()), client.WithMeta(&meta))
		if refused := (*client.Error)(nil); errors.As(err, &refused) {
			switch refused.Status {
			case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge:
				err = &badLine{Number: it.Number, Reason: refused.Message}
			}
		}
		return meta.Replayed && meta.Attempts == 1, err // after a retry, the replayed create may be this import's own
	}
}

// importOwner is the owner of idempotency records for imports into a database. No API key has this owner.
const importOwner = "petstore import"

// createInStorage returns a create that adds lines one by one to a database. The database remembers each line for 24 hours.
func createInStorage(storage petstore.Pets) create {
	return func(ctx context.Context, it item) (bool, error) {
		key := it.idempotencyKey()
		idempotency := &petstore.Idempotency{Owner: importOwner, Key: key, Fingerprint: sha256.Sum256([]byte(key))}
		_, replayed, err := storage.CreatePet(ctx, it.Pet, idempotency)
		return replayed, err
	}
}

// addOneByOne adds each line with a create of its own, in the given number of goroutines. When addOneByOne returns, the
// journal has all acknowledged lines.
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
	im.sent.Add(1)
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

// addInBatches adds many lines to a database in one transaction. It writes the lines of a batch to the journal before it
// stores them in the database. For 24 hours, the database remembers whether it has stored the last batch in the journal.
func (im *importer) addInBatches(ctx context.Context, storage petstore.Loader) error {
	if err := im.badLines.removeOld(); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	batches := make(chan []item, 2)
	go func() {
		defer close(batches)
		im.sendBatches(ctx, batches, stop)
	}()
	for batch := range batches {
		if ctx.Err() != nil {
			break
		}
		if err := im.addBatch(context.WithoutCancel(ctx), storage, batch); err != nil {
			return err
		}
	}
	return cmp.Or(im.journal.seal(), context.Cause(ctx))
}

func (im *importer) sendBatches(ctx context.Context, batches chan<- []item, stop context.CancelCauseFunc) {
	for ended := false; !ended; {
		batch := make([]item, 0, maxBlockLines)
		for len(batch) < maxBlockLines && !ended {
			it, err := im.next()
			switch {
			case err == io.EOF:
				ended = true
			case err != nil:
				stop(err)
				return
			default:
				batch = append(batch, it)
			}
		}
		select {
		case batches <- batch:
		case <-ctx.Done():
			return
		}
	}
}

func (im *importer) addBatch(ctx context.Context, storage petstore.Loader, batch []item) error {
	if len(batch) == 0 {
		return nil
	}
	pets, lines := make([]petstore.NewPet, len(batch)), make([]lineID, len(batch))
	for i, it := range batch {
		pets[i], lines[i] = it.Pet, it.lineID
	}
	block := newBlockID()
	if err := im.journal.appendBlock(block, lines); err != nil {
		return err
	}
	if _, err := storage.AddPets(ctx, pets, blockIdempotency(block)); err != nil {
		return err
	}
	im.added.Add(int64(len(batch)))
	im.progress.Add(int64(len(batch)))
	return nil
}

func blockIdempotency(block blockID) *petstore.Idempotency {
	return &petstore.Idempotency{Owner: importOwner, Key: hex.EncodeToString(block[:])}
}

// checkJournal refuses a journal that has more lines than the database has ever had animals. In that case, the database is
// new or was restored. The check cannot notice every restore.
func (im *importer) checkJournal(ctx context.Context, storage petstore.Loader) error {
	highest, err := storage.Counters(ctx)
	if err == nil && highest.Pet < im.journaled {
		err = fmt.Errorf("%s lists %s, but this database has had only %s; if it is new, or was restored from a backup older than the import, remove %[1]s", im.journal.name(), terminal.Plural(im.journaled, "animal"), terminal.WithCommas(highest.Pet))
	}
	return err
}

// confirmBlock returns a function that asks a database whether it has stored a block. The question uses up the idempotency
// key of the block. If the database has not stored the block by then, it never will.
func confirmBlock(ctx context.Context, storage petstore.Loader) func(blockID) (bool, error) {
	return func(block blockID) (bool, error) { return storage.AddPets(ctx, nil, blockIdempotency(block)) }
}
