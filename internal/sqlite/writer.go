package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

// selectChanged returns a different number after another connection has written to the file.
const selectChanged = "PRAGMA data_version"

// writer is the one connection that writes, with the statements that every create needs.
type writer struct {
	conn    *sqlite3.Conn
	inserts [maxRows]*sqlite3.Stmt // for one row, for two rows, and so on
	get     *sqlite3.Stmt
	list    *sqlite3.Stmt
	changed *sqlite3.Stmt
	seen    int64                     // the number that changed returned last
	altered []alteration              // what the running transaction has done to animals
	counted [petstore.Sold + 1]int64  // how many animals the transaction has added, by status
	ordered [petstore.Expired + 1]int // how many orders the transaction has brought to each state
}

func newWriter(ctx context.Context, conn *sqlite3.Conn) (*writer, error) {
	if err := patiently(ctx, conn, func() error { return beginWAL(conn) }); err != nil {
		return nil, err
	}
	settings := []string{
		"PRAGMA synchronous = FULL",
		"PRAGMA fullfsync = ON", // macOS: an ordinary fsync there does not reach the disk
		"PRAGMA checkpoint_fullfsync = ON",
		fmt.Sprintf("PRAGMA journal_size_limit = %d", walLimit),
	}
	for _, setting := range settings {
		if err := patiently(ctx, conn, func() error { return run(conn, setting) }); err != nil {
			return nil, err
		}
	}
	w := &writer{conn: conn}
	statements := map[string]**sqlite3.Stmt{selectPet: &w.get, selectPets: &w.list, selectChanged: &w.changed}
	for more := range w.inserts {
		statements[insertPets+strings.Repeat(", (?, ?, ?)", more)] = &w.inserts[more]
	}
	if err := prepare(conn, statements); err != nil {
		return nil, err
	}
	_, err := w.disturbed()
	return w, err
}

// beginWAL asks SQLite to keep a write-ahead log. SQLite reports no error if it stays with another journal mode.
func beginWAL(conn *sqlite3.Conn) error {
	mode, err := setting(conn, "PRAGMA journal_mode = WAL")
	if err == nil && mode != "wal" {
		err = fmt.Errorf("the database can keep no write-ahead log where it is (SQLite stays with the journal mode %q); put it on a local disk", mode)
	}
	return err
}

// write lends the writer, in a transaction, for work on data that readPets does not show.
func (db *DB) write(ctx context.Context, work func(*writer) error) error {
	return db.writeTo(ctx, work, func(w *writer) error { return run(w.conn, "COMMIT") })
}

// writePets lends the writer, in a transaction, for work on data that readPets shows.
func (db *DB) writePets(ctx context.Context, work func(*writer) error) error {
	return db.writeTo(ctx, work, db.publish)
}

// writeTo lends the writer, in a transaction that commit ends, and keeps the WAL small. It acknowledges nothing that was
// written to a lost file.
func (db *DB) writeTo(ctx context.Context, work, commit func(*writer) error) (err error) {
	defer db.watch.Call(true, time.Now(), &err)
	w, err := db.writer.take(ctx)
	if err != nil {
		return err
	}
	defer db.writer.give(w)
	if err := db.checkOriginals(); err != nil {
		return failure(err)
	}
	defer db.trimWAL(w)
	w.altered = w.altered[:0]
	clear(w.counted[:])
	clear(w.ordered[:])
	defer db.tellOrders(w, &err)
	err = transactionTo(ctx, w.conn, func() error {
		if err := db.notice(w); err != nil {
			return err
		}
		if err := work(w); err != nil {
			return err
		}
		return w.storeInventory()
	}, func() error { return commit(w) })
	if err == nil {
		if lost := db.checkOriginals(); lost != nil {
			return petstore.MaybeDone(lost)
		}
	}
	return failure(err)
}

// publish commits and changes the version. For readers both happen at the same moment: until then, a reader that holds a
// transaction shows the version before, and a reader that holds none waits.
func (db *DB) publish(w *writer) error {
	db.gate.Lock()
	defer db.gate.Unlock()
	committed := false
	defer func() {
		if committed {
			db.newest.follow(w.altered)
		} else {
			db.newest.forget() // nobody knows what reached the disk
		}
		clear(w.altered) // keeps no long names in memory
	}()
	err := run(w.conn, "COMMIT")
	committed = err == nil
	return err
}

// notice forgets the animals in memory if another process has written. No other petstore process changes animals beside
// a server that has its lock, but an operator's tools may.
func (db *DB) notice(w *writer) error {
	disturbed, err := w.disturbed()
	if disturbed {
		db.gate.Lock()
		defer db.gate.Unlock()
		db.newest.forget()
	}
	if err == nil {
		db.alone.Store(db.lock != nil)
	}
	return err
}

// disturbed reports whether another process has written since the last call.
func (w *writer) disturbed() (bool, error) {
	defer w.changed.Reset()
	if _, err := w.changed.Step(); err != nil {
		return false, err
	}
	before := w.seen
	w.seen = w.changed.ColumnInt64(0)
	return w.seen != before, nil
}

// stored notes that the running transaction has stored an animal.
func (w *writer) stored(pet petstore.Pet) {
	w.counted[pet.Status]++
	w.altered = append(w.altered, alteration{pet: pet})
}

// removed notes that the running transaction has removed an animal.
func (w *writer) removed(pet petstore.Pet) {
	w.counted[pet.Status]--
	w.altered = append(w.altered, alteration{pet: pet, gone: true})
}

// change is one caller's part of a commit: an animal to store, or other work. Work that returns a refusal has changed
// nothing, so the changes of the other callers are still committed.
type change struct {
	pet  petstore.NewPet
	work func(*writer) error // nil to store the animal
}

// outcome is what became of a change.
type outcome struct {
	id      int64 // the id of the animal that was stored
	refusal error
}

// change does work in the next commit, together with the changes of others.
func (db *DB) change(ctx context.Context, work func(*writer) error) error {
	_, err := db.do(ctx, change{work: work})
	return err
}

func (db *DB) do(ctx context.Context, c change) (id int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, petstore.NotDone(err)
	}
	// A caller whose change was accepted waits for the outcome, even if ctx ends, because NotDone would promise that nothing
	// was stored.
	done, err := db.changes.Do(context.Background(), c)
	if err != nil {
		return 0, failure(err)
	}
	return done.id, done.refusal
}

// commit makes a batch of changes in one transaction.
func (db *DB) commit(batch []change) ([]outcome, error) {
	outcomes := make([]outcome, len(batch))
	err := db.writePets(context.Background(), func(w *writer) error { return w.apply(batch, outcomes) })
	if db.batched != nil {
		db.batched(len(batch))
	}
	return outcomes, err
}

// apply stores animals several at a time and does the other work one by one.
func (w *writer) apply(batch []change, outcomes []outcome) error {
	plain := make([]int, 0, len(batch)) // the places of the animals in the batch
	for i, c := range batch {
		if c.work == nil {
			plain = append(plain, i)
			continue
		}
		err := c.work(w)
		if refused := (*petstore.Error)(nil); err != nil && !errors.As(err, &refused) {
			return err
		}
		outcomes[i].refusal = err
	}
	return w.addAll(batch, plain, outcomes)
}
