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

	version uint64 // its transaction shows this version or a later one
}

func newReader(conn *sqlite3.Conn) (*reader, error) {
	for _, setting := range []string{
		"PRAGMA query_only = ON",
		// In kilobytes. The system keeps the pages of the file too, and a larger cache makes reads of 10 million animals slower.
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

// readPets lends a reader that shows every animal, category and order stored so far, and nothing that other readers of
// the same version do not show.
func (db *DB) readPets(ctx context.Context, work func(*reader) error) error {
	version, alone := db.Version()
	return db.readSince(ctx, version, alone, work)
}

// readSince lends a reader that shows this version or a later one. If this process was not alone when the version was
// read, the reader shows all that is stored now.
func (db *DB) readSince(ctx context.Context, version uint64, alone bool, work func(*reader) error) (err error) {
	defer db.watch.Call(false, time.Now(), &err)
	r, err := db.lend(ctx)
	if err != nil {
		return err
	}
	defer db.readers.give(r)
	if alone {
		err = db.refresh(r, version)
	} else {
		err = r.letGo() // another process writes animals, and a held transaction would hide them
	}
	if err != nil {
		return failure(err)
	}
	return failure(work(r))
}

// refresh makes the reader show this version or a later one. A reader keeps its transaction open as long as it can:
// beginning and ending one costs nearly as much as finding an animal, and empties SQLite's cache of the file. That is
// right only because this process is the only writer of animals.
func (db *DB) refresh(r *reader, version uint64) error {
	if r.holds() && r.version >= version {
		return nil
	}
	if err := r.letGo(); err != nil {
		return err
	}
	db.gate.RLock()
	defer db.gate.RUnlock()
	if err := run(r.conn, "BEGIN"); err != nil {
		return err
	}
	if err := run(r.conn, "PRAGMA user_version"); err != nil { // the first read fixes what the transaction shows
		return cmp.Or(r.letGo(), err)
	}
	r.version = db.newest.version.Load()
	return nil
}

func (r *reader) holds() bool { return !r.conn.AutocommitEnabled() }

// letGo ends the transaction that the reader holds, if any. Such a transaction hides what others write, and keeps the WAL
// from being emptied.
func (r *reader) letGo() error {
	r.version = 0 // so that nothing relies on the transaction, even if it does not end
	if !r.holds() {
		return nil
	}
	return run(r.conn, "ROLLBACK")
}

// read lends a reading connection that also shows what other processes have written. It may show a write earlier than
// readPets does, so it must not be used for an answer about animals, categories or orders.
func (db *DB) read(ctx context.Context, work func(*sqlite3.Conn) error) (err error) {
	defer db.watch.Call(false, time.Now(), &err)
	r, err := db.lend(ctx)
	if err != nil {
		return err
	}
	defer db.readers.give(r)
	if err := r.letGo(); err != nil {
		return failure(err)
	}
	return failure(work(r.conn))
}
