package sqlite

import (
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

	version uint64 // what it was last asked about
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

// readPets lends a reader that shows every animal stored so far.
func (db *DB) readPets(ctx context.Context, work func(*reader) error) (err error) {
	defer db.watch.Call(false, time.Now(), &err)
	r, err := db.lend(ctx)
	if err != nil {
		return err
	}
	defer db.readers.give(r)
	if db.lock != nil { // else another process writes animals
		if err := r.show(db.Version()); err != nil {
			return unreachable(err)
		}
	}
	return unreachable(work(r))
}

// show makes the reader show that version of the animals, of which this process is the only writer. To begin and end a
// transaction costs nearly as much as finding an animal, so one that is asked about the same version again holds it open.
func (r *reader) show(version uint64) error {
	if r.version != version {
		if err := r.letGo(); err != nil {
			return err
		}
		r.version = version
		return nil
	}
	if r.holds() {
		return nil
	}
	return run(r.conn, "BEGIN")
}

func (r *reader) holds() bool { return !r.conn.AutocommitEnabled() }

// letGo ends the transaction that the reader holds, if any: it hides what others write, and keeps the log from being
// emptied.
func (r *reader) letGo() error {
	if !r.holds() {
		return nil
	}
	return run(r.conn, "ROLLBACK")
}

// read lends a reading connection that shows what other processes have written too.
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
