package transfer

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"sync"

	"petstore/internal/petstore"
	"petstore/internal/terminal"
)

// maxBatchSize is the size of the texts in a batch, in bytes, from which on nothing is added to it.
const maxBatchSize = 4 << 20

// bulkStorage is the storage that lines are added to in batches.
type bulkStorage interface {
	petsAndProfiles
	petstore.Loader
}

// addInBatches adds many lines to a database in one transaction. It writes the lines of a batch to the journal before it
// stores them. The database remembers for 24 hours whether it has stored the last batch in the journal. The lines of a batch
// in which one has facts are added one by one, up to concurrency at a time.
func (im *importer) addInBatches(ctx context.Context, storage bulkStorage, concurrency int) error {
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
		if err := im.addBatch(ctx, storage, batch, concurrency); err != nil {
			return err
		}
	}
	return cmp.Or(im.journal.seal(), context.Cause(ctx))
}

func (im *importer) sendBatches(ctx context.Context, batches chan<- []item, stop context.CancelCauseFunc) {
	for ended := false; !ended; {
		batch := make([]item, 0, maxBlockLines)
		for size := 0; len(batch) < maxBlockLines && size < maxBatchSize && !ended; {
			it, err := im.next()
			switch {
			case err == io.EOF:
				ended = true
			case err != nil:
				stop(err)
				return
			default:
				batch = append(batch, it)
				size += len(it.Pet.Name) + len(it.Facts.Description) + len(it.Facts.Notes)
			}
		}
		select {
		case batches <- batch:
		case <-ctx.Done():
			return
		}
	}
}

// addBatch adds a batch.
func (im *importer) addBatch(ctx context.Context, storage bulkStorage, batch []item, concurrency int) error {
	if slices.ContainsFunc(batch, func(it item) bool { return it.hasFacts() }) {
		return im.addEach(ctx, batch, concurrency, createInStorage(storage))
	}
	return im.addTogether(ctx, storage, batch)
}

// addTogether adds lines in one transaction.
func (im *importer) addTogether(ctx context.Context, storage petstore.Loader, batch []item) error {
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
	_, _, err := retry(ctx, func(ctx context.Context) (struct{}, bool, error) {
		stored, err := storage.AddPets(ctx, pets, blockIdempotency(block))
		return struct{}{}, stored, err
	})
	if err != nil {
		return err
	}
	im.added.Add(int64(len(batch)))
	im.progress.Add(int64(len(batch)))
	return nil
}

// addEach adds lines one by one and writes those that are stored to the journal.
func (im *importer) addEach(ctx context.Context, batch []item, concurrency int, add create) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	stored, free := make([]bool, len(batch)), make(chan struct{}, concurrency)
	var running sync.WaitGroup
	for i, it := range batch {
		free <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		running.Go(func() {
			defer func() { <-free }()
			var err error
			if stored[i], err = im.addOne(ctx, it, add); err != nil {
				stop(err)
			}
		})
	}
	running.Wait()
	var lines []lineID
	for i, it := range batch {
		if stored[i] {
			lines = append(lines, it.lineID)
		}
	}
	return cmp.Or(im.journal.appendStored(lines), context.Cause(ctx))
}

func blockIdempotency(block blockID) *petstore.Idempotency {
	return &petstore.Idempotency{Owner: importOwner, Key: hex.EncodeToString(block[:])}
}

// checkJournal refuses a journal that has more lines than the database has ever had animals: the database is new or was
// restored. It cannot notice every restore.
func (im *importer) checkJournal(ctx context.Context, storage petstore.Loader) error {
	highest, err := storage.Counters(ctx)
	if err == nil && highest.Pet < im.journaled {
		err = fmt.Errorf("%s lists %s, but this database has had only %s; if it is new, or was restored from a backup older than the import, remove %[1]s", im.journal.name(), terminal.Plural(im.journaled, "animal"), terminal.WithCommas(highest.Pet))
	}
	return err
}

// confirmBlock returns a function that asks a database whether it has stored a block. The question uses up the
// idempotency key of the block, so a block that is not stored by then never will be.
func confirmBlock(ctx context.Context, storage petstore.Loader) func(blockID) (bool, error) {
	return func(block blockID) (bool, error) { return storage.AddPets(ctx, nil, blockIdempotency(block)) }
}
