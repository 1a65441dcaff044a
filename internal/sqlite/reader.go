package sqlite

import (
	"cmp"
	"context"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"
)

// reader is a connection that only reads, with the statements that every request needs.
type reader struct {
	conn         *sqlite3.Conn
	list         *sqlite3.Stmt
	listOfStatus *sqlite3.Stmt
	get          *sqlite3.Stmt

	version uint64 // the reader's transaction shows this version or a later one
}

func newReader(conn *sqlite3.Conn) (*reader, error) {
	for _, setting := range []string{
		"PRAGMA query_only = ON",
		// 250 kB: the system caches the file too, and with 10 million animals a larger cache makes reads slower.
		"PRAGMA cache_size = -250",
	} {
		if err := run(conn, setting); err != nil {
			return nil, err
		}
	}
	r := &reader{conn: conn}
	return r, prepare(conn, map[string]**sqlite3.Stmt{
		selectPets:         &r.list,
		selectPetsOfStatus: &r.listOfStatus,
		selectPet:          &r.get,
	})
}

// readVersioned lends a reader that shows every animal, category and order stored so far. All readers of one version show
// the same.
func (db *DB) readVersioned(ctx context.Context, work func(*reader) error) error {
	version, sole := db.Version()
	return db.readSince(ctx, version, sole, work)
}

// readSince lends a reader that shows this version or a later one. If this process was not the sole writer when the version
// was read, the reader shows what is stored now.
func (db *DB) readSince(ctx context.Context, version uint64, sole bool, work func(*reader) error) (err error) {
	defer db.watch.Call(false, time.Now(), &err)
	r, err := db.takeReader(ctx)
	if err != nil {
		return err
	}
	defer db.giveReader(r)
	if sole {
		err = db.refresh(r, version)
	} else {
		err = r.endTransaction() // the transaction would hide the animals that another process writes
	}
	if err != nil {
		return failure(err)
	}
	return failure(work(r))
}

// refresh makes the reader show this version or a later one. A reader keeps its transaction open for as long as it can:
// beginning and ending a transaction costs nearly as much as finding an animal, and empties SQLite's cache of the file. The
// open transaction is current only because no other process writes animals.
func (db *DB) refresh(r *reader, version uint64) error {
	if r.inTransaction() && r.version >= version {
		return nil
	}
	if err := r.endTransaction(); err != nil {
		return err
	}
	db.commitMu.RLock()
	defer db.commitMu.RUnlock()
	if err := run(r.conn, "BEGIN"); err != nil {
		return err
	}
	if err := run(r.conn, "PRAGMA user_version"); err != nil { // the first read decides what the transaction shows
		return cmp.Or(r.endTransaction(), err)
	}
	r.version = db.cache.version.Load()
	return nil
}

func (r *reader) inTransaction() bool { return !r.conn.AutocommitEnabled() }

// endTransaction ends the reader's transaction, if there is one. An open transaction hides what others write and keeps the
// WAL from being emptied.
func (r *reader) endTransaction() error {
	r.version = 0 // nothing may rely on the transaction, even if it does not end
	if !r.inTransaction() {
		return nil
	}
	return run(r.conn, "ROLLBACK")
}

// read lends a reading connection that also shows what other processes have written. It may show a write earlier than
// readVersioned does, so no answer about animals, categories or orders may use it.
func (db *DB) read(ctx context.Context, work func(*sqlite3.Conn) error) (err error) {
	defer db.watch.Call(false, time.Now(), &err)
	r, err := db.takeReader(ctx)
	if err != nil {
		return err
	}
	defer db.readers.give(r)
	if err := r.endTransaction(); err != nil {
		return failure(err)
	}
	return failure(work(r.conn))
}

// readFresh lends a reader that shows everything stored so far, by other processes too, and nothing that readVersioned does not
// show yet. All that the reader shows is of one moment.
func (db *DB) readFresh(ctx context.Context, work func(*reader) error) (err error) {
	defer db.watch.Call(false, time.Now(), &err)
	r, err := db.takeReader(ctx)
	if err != nil {
		return err
	}
	defer db.giveReader(r)
	if err := r.endTransaction(); err != nil {
		return failure(err)
	}
	if err := db.refresh(r, 0); err != nil {
		return failure(err)
	}
	if !db.soleWriter.Load() {
		defer r.endTransaction()
	}
	return failure(work(r))
}

// takeReader takes a reader from the pool. It counts how often none is idle.
func (db *DB) takeReader(ctx context.Context) (*reader, error) {
	if len(db.readers) == 0 {
		db.waits.Add(1)
	}
	return db.readers.take(ctx)
}

// giveReader returns a reader to the pool. The reader keeps its transaction for the next read, unless that would keep the WAL
// from being emptied.
func (db *DB) giveReader(r *reader) {
	if db.walIsLarge.Load() {
		r.endTransaction() // if this fails, the next read fails too and reports it
	}
	db.readers.give(r)
}
