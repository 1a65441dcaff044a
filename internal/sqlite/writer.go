package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petcache"
	"petstore/internal/petstore"
)

// selectDataVersion returns a different number after another connection has written to the file.
const selectDataVersion = "PRAGMA data_version"

// writer is the only connection that writes, with the statements that every create needs.
type writer struct {
	conn             *sqlite3.Conn
	inserts          [maxInsertRows]*sqlite3.Stmt // for one row, for two rows, and so on
	get              *sqlite3.Stmt
	list             *sqlite3.Stmt
	dataVersion      *sqlite3.Stmt
	selectEndOfFeed  *sqlite3.Stmt
	insertEvents     *sqlite3.Stmt
	insertEventOfPet *sqlite3.Stmt
	lastDataVersion  int64                     // what dataVersion returned last
	feedEnd          *feedEnd                  // nil if it must be read
	petIDs           idRange                   // reserved for new animals
	orderIDs         idRange                   // reserved for new orders
	petChanges       []petcache.Change         // by the running transaction
	events           eventLog                  // of the running transaction
	breedsChanged    bool                      // the running transaction has stored profiles
	inventoryDelta   [petstore.Sold + 1]int64  // how many animals of each status the running transaction has added
	orderCounts      [petstore.Expired + 1]int // how many orders the running transaction has given each status
}

func newWriter(ctx context.Context, conn *sqlite3.Conn) (*writer, error) {
	if err := retryWhileBusy(ctx, conn, func() error { return beginWAL(conn) }); err != nil {
		return nil, err
	}
	settings := []string{
		"PRAGMA synchronous = FULL",
		"PRAGMA fullfsync = ON", // for macOS, where an ordinary fsync does not reach the disk
		"PRAGMA checkpoint_fullfsync = ON",
		fmt.Sprintf("PRAGMA journal_size_limit = %d", walLimit),
	}
	for _, setting := range settings {
		if err := retryWhileBusy(ctx, conn, func() error { return run(conn, setting) }); err != nil {
			return nil, err
		}
	}
	w := &writer{conn: conn}
	statements := map[string]**sqlite3.Stmt{
		selectPet: &w.get, selectPets: &w.list, selectDataVersion: &w.dataVersion,
		selectEndOfFeed: &w.selectEndOfFeed, insertEvents: &w.insertEvents, insertEventOfPet: &w.insertEventOfPet,
	}
	for more := range w.inserts {
		statements[insertPets+strings.Repeat(", (?, ?, ?, ?)", more)] = &w.inserts[more]
	}
	if err := prepare(conn, statements); err != nil {
		return nil, err
	}
	_, err := w.changedByOthers()
	return w, err
}

// beginWAL makes SQLite keep a write-ahead log. SQLite itself reports no error if it keeps another journal mode.
func beginWAL(conn *sqlite3.Conn) error {
	mode, err := pragmaValue(conn, "PRAGMA journal_mode = WAL")
	if err == nil && mode != "wal" {
		err = fmt.Errorf("the database cannot have a write-ahead log where it is (SQLite keeps the journal mode %q); put it on a local disk", mode)
	}
	return err
}

// write does work with the writer in a transaction. The work must not change data that readVersioned shows.
func (db *DB) write(ctx context.Context, work func(*writer) error) error {
	return db.writeWith(ctx, work, func(w *writer) error { return run(w.conn, "COMMIT") })
}

// writeVersioned does work with the writer in a transaction that changes the version, because the work changes data that
// readVersioned shows.
func (db *DB) writeVersioned(ctx context.Context, work func(*writer) error) error {
	return db.writeWith(ctx, work, db.commitVersioned)
}

// writeWith does work with the writer in a transaction that commit ends, and then keeps the WAL small. It acknowledges
// nothing that was written to a lost file.
func (db *DB) writeWith(ctx context.Context, work, commit func(*writer) error) (err error) {
	defer db.watch.Call(true, time.Now(), &err)
	w, err := db.writer.take(ctx)
	if err != nil {
		return err
	}
	defer db.writer.give(w)
	if err := db.checkFiles(); err != nil {
		return failure(err)
	}
	defer db.trimWAL(w)
	w.petChanges, w.breedsChanged = w.petChanges[:0], false
	w.events.reset()
	clear(w.inventoryDelta[:])
	clear(w.orderCounts[:])
	defer db.reportOrders(w, &err)
	err = transactionWith(ctx, w.conn, func() error {
		if err := db.dropStaleCache(w); err != nil {
			return err
		}
		if err := work(w); err != nil {
			return err
		}
		if err := w.storeInventory(); err != nil {
			return err
		}
		return w.storeEvents(db.now)
	}, func() error { return commit(w) })
	if err != nil {
		w.forget() // it is unknown what reached the disk
		return failure(err)
	}
	if fileLost := db.checkFiles(); fileLost != nil {
		return petstore.MaybeDone(fileLost)
	}
	return nil
}

// commitVersioned commits and changes the version. For readers both happen at the same moment: until then, a reader with an
// open transaction shows the old version, and a reader without one waits.
func (db *DB) commitVersioned(w *writer) error {
	db.commitMu.Lock()
	defer db.commitMu.Unlock()
	committed := false
	defer func() {
		if committed {
			db.cache.advance(w.petChanges)
			if len(w.petChanges) > 0 || w.breedsChanged {
				db.notifyIndexer()
			}
			if w.events.count > 0 {
				db.eventsStored.send()
			}
		} else {
			db.cache.invalidate() // it is unknown what reached the disk
		}
		clear(w.petChanges) // so that no long names stay in memory
	}()
	err := run(w.conn, "COMMIT")
	committed = err == nil
	return err
}

// dropStaleCache empties the cache and makes the writer forget what it knows if another process has written to the file. While a
// server holds its lock, no other petstore process changes animals, but an operator's tools may.
func (db *DB) dropStaleCache(w *writer) error {
	changed, err := w.changedByOthers()
	if changed {
		w.forget()
		db.commitMu.Lock()
		defer db.commitMu.Unlock()
		db.cache.invalidate()
	}
	if err == nil {
		db.soleWriter.Store(db.lock != nil)
	}
	return err
}

// forget drops what the writer knows of the file, which may have changed.
func (w *writer) forget() { w.feedEnd, w.petIDs, w.orderIDs = nil, idRange{}, idRange{} }

// changedByOthers reports whether another process has written to the file since the last call.
func (w *writer) changedByOthers() (bool, error) {
	defer w.dataVersion.Reset()
	if _, err := w.dataVersion.Step(); err != nil {
		return false, err
	}
	before := w.lastDataVersion
	w.lastDataVersion = w.dataVersion.ColumnInt64(0)
	return w.lastDataVersion != before, nil
}

// noteStored records that the running transaction has stored an animal.
func (w *writer) noteStored(pet petstore.Pet) {
	w.inventoryDelta[pet.Status]++
	w.petChanges = append(w.petChanges, petcache.Change{Pet: pet})
}

// noteRemoved records that the running transaction has removed an animal.
func (w *writer) noteRemoved(pet petstore.Pet) {
	w.inventoryDelta[pet.Status]--
	w.petChanges = append(w.petChanges, petcache.Change{Pet: pet, Deleted: true})
}

// change is one caller's part of a commit: an animal to store, or other work. Work that returns a refusal must have changed
// nothing, except that it may have closed an overdue order, because the changes of the other callers are still committed.
type change struct {
	pet  petstore.NewPet
	work func(*writer) error // nil to store the animal
}

// changeResult is what one caller learns about its change.
type changeResult struct {
	id      int64 // of the animal that was stored
	refusal error
}

// inNextCommit does work in the next commit, together with the changes of other callers.
func (db *DB) inNextCommit(ctx context.Context, work func(*writer) error) error {
	_, err := db.submit(ctx, change{work: work})
	return err
}

// submit adds a change to the next commit and waits for that commit.
func (db *DB) submit(ctx context.Context, c change) (id int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, petstore.NotDone(err)
	}
	// Once its change is accepted, a caller waits for the result even if ctx ends: NotDone would promise that nothing was
	// stored.
	done, err := db.changes.Do(context.Background(), c)
	if err != nil {
		return 0, failure(err)
	}
	return done.id, done.refusal
}

// commitBatch makes a batch of changes in one transaction.
func (db *DB) commitBatch(batch []change) ([]changeResult, error) {
	results := make([]changeResult, len(batch))
	err := db.writeVersioned(context.Background(), func(w *writer) error { return w.makeChanges(batch, results) })
	if db.batched != nil {
		db.batched(len(batch))
	}
	return results, err
}

// makeChanges does the work of each change, and then stores the animals, several in one statement.
func (w *writer) makeChanges(batch []change, results []changeResult) error {
	pets := make([]int, 0, len(batch)) // the positions of the changes that only store an animal
	for i, c := range batch {
		if c.work == nil {
			pets = append(pets, i)
			continue
		}
		err := c.work(w)
		if refused := (*petstore.Error)(nil); err != nil && !errors.As(err, &refused) {
			return err
		}
		results[i].refusal = err
	}
	return w.addBatch(batch, pets, results)
}
