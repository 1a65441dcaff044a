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
	// storeConcurrency is how many creates wait for the store at once.
	storeConcurrency = 512
	// grace is how long a stopped import waits for its open requests.
	grace = 2 * time.Second
	// journalEvery is how often acknowledged lines go into the journal.
	journalEvery = time.Second
)

// create adds one line, and reports whether the line was added before.
type create func(ctx context.Context, it item) (replayed bool, err error)

// createAt adds lines through the API. A line always has the same body and the same idempotency key.
func createAt(store *client.Client) create {
	return func(ctx context.Context, it item) (bool, error) {
		var meta client.Meta
		pet := client.NewPet{Name: it.Pet.Name, CategoryID: it.Pet.CategoryID, Status: client.PetStatus(it.Pet.Status.String())}
		_, err := store.CreatePet(ctx, pet, client.WithIdempotencyKey(it.Key()), client.WithMeta(&meta))
		if refused := (*client.Error)(nil); errors.As(err, &refused) {
			switch refused.Status {
			case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge:
				err = &BadLine{Number: it.Number, Reason: refused.Message}
			}
		}
		return meta.Replayed && meta.Attempts == 1, err // a later try may replay what an earlier one of this import has added
	}
}

// importOwner owns the idempotency records of imports that do not go through the API. No API key has this owner.
const importOwner = "petstore import"

// createIn adds lines one by one to a store. The store remembers each of them for 24 hours.
func createIn(storage petstore.Pets) create {
	return func(ctx context.Context, it item) (bool, error) {
		idempotency := &petstore.Idempotency{Owner: importOwner, Key: it.Key(), Fingerprint: sha256.Sum256([]byte(it.Key()))}
		_, replayed, err := storage.CreatePet(ctx, it.Pet, idempotency)
		return replayed, err
	}
}

// oneByOne adds lines with that many goroutines. When it returns, all acknowledged lines are in the journal.
func (im *importer) oneByOne(ctx context.Context, concurrency int, add create) error {
	if err := im.bad.begin(); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	sending, abandon := context.WithCancel(context.WithoutCancel(ctx))
	defer abandon()
	context.AfterFunc(ctx, func() { time.AfterFunc(grace, abandon) })

	items, acknowledged := make(chan item), make(chan ID, concurrency)
	go func() {
		defer close(items)
		im.feed(ctx, items, stop)
	}()
	var workers sync.WaitGroup
	for range concurrency {
		workers.Go(func() {
			for it := range orDone(ctx, items) {
				stored, err := im.one(sending, it, add)
				if err != nil {
					stop(err)
					return
				}
				if stored {
					acknowledged <- it.ID
				}
			}
		})
	}
	go func() {
		workers.Wait()
		close(acknowledged)
	}()
	if err := im.note(acknowledged); err != nil {
		stop(err)
		for range acknowledged { // drain it, so that no goroutine waits
		}
	}
	return context.Cause(ctx)
}

// feed sends the lines to add.
func (im *importer) feed(ctx context.Context, items chan<- item, stop context.CancelCauseFunc) {
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

// orDone yields items until there are no more or ctx ends.
func orDone(ctx context.Context, items <-chan item) func(yield func(item) bool) {
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

// one adds a line. It reports a line that the store refuses, and the import goes on; the next import tries that line again.
func (im *importer) one(ctx context.Context, it item, add create) (stored bool, err error) {
	replayed, err := add(ctx, it)
	im.progress.Add(1)
	bad := (*BadLine)(nil)
	switch {
	case errors.As(err, &bad):
		return false, im.bad.report(bad.Number, bad.Reason)
	case err != nil:
		return false, err
	case replayed:
		im.known.Add(1)
	default:
		im.added.Add(1)
	}
	return true, nil
}

// note writes acknowledged lines into the journal, every second and at the end.
func (im *importer) note(acknowledged <-chan ID) error {
	var lines []ID
	write := func() error {
		if im.journal == nil || len(lines) == 0 {
			lines = lines[:0]
			return nil
		}
		defer func() { lines = lines[:0] }()
		return im.journal.Append(NewBlock(), lines)
	}
	tick := time.NewTicker(journalEvery)
	defer tick.Stop()
	for {
		full := false
		select {
		case id, more := <-acknowledged:
			if !more {
				return write()
			}
			lines = append(lines, id)
			full = len(lines) == MaxBlock
		case <-tick.C:
			full = true
		}
		if full {
			if err := write(); err != nil {
				return err
			}
		}
	}
}

// inBatches adds lines to a store, many in one transaction. The journal names the lines before they are stored. The store
// remembers for 24 hours whether it has stored the last lines that the journal names.
func (im *importer) inBatches(ctx context.Context, storage petstore.Loader) error {
	if err := im.bad.begin(); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	batches := make(chan []item, 2)
	go func() {
		defer close(batches)
		im.feedBatches(ctx, batches, stop)
	}()
	for batch := range batches {
		if ctx.Err() != nil {
			break
		}
		if err := im.batch(context.WithoutCancel(ctx), storage, batch); err != nil {
			return err
		}
	}
	return cmp.Or(im.journal.Seal(), context.Cause(ctx))
}

func (im *importer) feedBatches(ctx context.Context, batches chan<- []item, stop context.CancelCauseFunc) {
	for ended := false; !ended; {
		batch := make([]item, 0, MaxBlock)
		for len(batch) < MaxBlock && !ended {
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

func (im *importer) batch(ctx context.Context, storage petstore.Loader, batch []item) error {
	if len(batch) == 0 {
		return nil
	}
	pets, lines := make([]petstore.NewPet, len(batch)), make([]ID, len(batch))
	for i, it := range batch {
		pets[i], lines[i] = it.Pet, it.ID
	}
	block := NewBlock()
	if err := im.journal.Append(block, lines); err != nil {
		return err
	}
	if _, err := storage.AddPets(ctx, pets, onceFor(block)); err != nil {
		return err
	}
	im.added.Add(int64(len(batch)))
	im.progress.Add(int64(len(batch)))
	return nil
}

func onceFor(block Block) *petstore.Idempotency {
	return &petstore.Idempotency{Owner: importOwner, Key: hex.EncodeToString(block[:])}
}

// compare refuses a journal that names more animals than the store has had. It cannot notice every restore.
func (im *importer) compare(ctx context.Context, storage petstore.Loader) error {
	highest, err := storage.Counters(ctx)
	if err == nil && highest.Pet < im.journaled {
		err = fmt.Errorf("%s names %s, but this database has had only %s; if it is new, or was restored from a backup older than the import, remove %[1]s", im.journal.Name(), terminal.Plural(im.journaled, "animal"), terminal.WithCommas(highest.Pet))
	}
	return err
}

// confirmIn asks a store whether a block was stored. The question uses up the idempotency key of the block, so a block
// that is not stored yet never will be.
func confirmIn(ctx context.Context, storage petstore.Loader) func(Block) (bool, error) {
	return func(block Block) (bool, error) { return storage.AddPets(ctx, nil, onceFor(block)) }
}
