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

	version uint64 // what its transaction shows, at least
}

func newReader(conn *sqlite3.Conn) (*reader, error) {
	if err := run(conn, "PRAGMA query_only = ON"); err != nil {
		return nil, err
	}
	r := &reader{conn: conn}
	return r, prepare(conn, map[string]**sqlite3.Stmt{
		selectPets:         &r.list,
		selectPetsOfStatus: &r.listOfStatus,
		selectPet:          &r.get,
	})
}

// readPets lends a reader that shows every animal, category and order stored so far, and nothing that another reader of
// this version might not show.
func (db *DB) readPets(ctx context.Context, work func(*reader) error) error {
	return db.readSince(ctx, db.newest.version.Load(), work)
}

// readSince lends a reader that shows this version or a later one.
func (db *DB) readSince(ctx context.Context, version uint64, work func(*reader) error) (err error) {
	defer db.watch.Call(false, time.Now(), &err)
	r, err := db.lend(ctx)
	if err != nil {
		return err
	}
	defer db.readers.give(r)
	if db.lock != nil { // else another process writes animals
		if err := db.refresh(r, version); err != nil {
			return unreachable(err)
		}
	}
	return unreachable(work(r))
}

// refresh makes the reader show the version or a later one, of which this process is the only writer. To begin and end a
// transaction costs nearly as much as finding an animal, and with it goes what SQLite has kept of the file, so a reader
// holds its own open as long as it can.
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
	if err := run(r.conn, "PRAGMA user_version"); err != nil { // from the first read on it shows the same
		return cmp.Or(r.letGo(), err)
	}
	r.version = db.newest.version.Load()
	return nil
}

func (r *reader) holds() bool { return !r.conn.AutocommitEnabled() }

// letGo ends the transaction that the reader holds, if any. Such a transaction hides what others write, and keeps the WAL
// from being emptied.
func (r *reader) letGo() error {
	r.version = 0 // whatever it still shows, should it not end
	if !r.holds() {
		return nil
	}
	return run(r.conn, "ROLLBACK")
}

// read lends a reading connection that shows what other processes have written too. It may show a write before readPets
// does, so no answer about animals, categories or orders comes from it.
func (db *DB) read(ctx context.Context, work func(*sqlite3.Conn) error) (err error) {
	defer db.watch.Call(false, time.Now(), &err)
	r, err := db.lend(ctx)
	if err != nil {
		return err
	}
	defer db.readers.give(r)
	if err := r.letGo(); err != nil {
		return unreachable(err)
	}
	return unreachable(work(r.conn))
}
