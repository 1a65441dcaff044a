// Package sqlite keeps the store in one SQLite file. One connection writes, in groups; a few others read.
//
// [Open] returns a [DB], which is a petstore.Storage. Every write goes through writer.go, and every read through reader.go
// or, for the newest animals, through the memory of newest.go. The SQL of each noun is in the file of that name;
// migrations has the schema.
package sqlite

import (
	"cmp"
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/batch"
	"petstore/internal/petstore"
)

// Config says which file to open, and for what.
type Config struct {
	Path        string
	Environment petstore.Environment
	// Create makes a missing file and fills an empty one. Without Create, Open refuses both.
	Create bool
	// Migrate brings the schema of an older version up to date. Without Migrate, Open refuses it.
	Migrate bool
	// Serve keeps every other server off the file until Close, or until somebody removes the lock file, which counts as a
	// loss.
	Serve bool
	// Batched, if not nil, is called after each commit with the number of its changes.
	Batched func(changes int)
	Watch   petstore.Watch
	// Now is the clock by which orders and idempotency records expire; nil means the system's clock.
	Now func() time.Time
	// Lost, if not nil, is called with the problem when a file of the database is no longer in its place, and with nil when
	// the file is back.
	Lost func(problem error)
}

// DB is a petstore.Storage in a SQLite file.
type DB struct {
	changes   *batch.Writer[change, outcome]
	batched   func(changes int)
	watch     petstore.Watch
	waits     atomic.Int64 // how often a call had to wait for a reader
	now       func() time.Time
	onLoss    func(problem error)
	gate      sync.RWMutex // locked for writing during a commit and the change of the version
	newest    newest
	fetching  atomic.Bool   // a goroutine fetches older animals into newest
	path      string        // without symbolic links
	originals []original    // the files in use
	lost      atomic.Bool   // the last check missed a file
	alone     atomic.Bool   // no other process writes animals, so what is in memory and in held transactions is current
	trimWALAt int64         // the size at which the WAL is trimmed
	writer    pool[*writer] // has one member
	readers   pool[*reader]
	conns     []*sqlite3.Conn // all of them, the writer's first
	lock      *serverLock     // the server's lock, nil if the database was not opened to serve
	close     func() error
}

var (
	_ petstore.Database  = (*DB)(nil)
	_ petstore.Versioned = (*DB)(nil)
)

// maxBatch bounds a commit, so that the first change in a long queue does not wait for the whole queue.
const maxBatch = 512

// Open opens the database and makes sure that it has the schema of this program. If Open refuses the database, it
// leaves the database as it was, and the error says what to do.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	db := new(DB)
	db.newest.init()
	if err := db.open(ctx, cfg); err != nil {
		db.release()
		return nil, refusal(cfg.Path, err)
	}
	return db, nil
}

func (db *DB) open(ctx context.Context, cfg Config) error {
	path, err := locate(cfg)
	if err != nil {
		return err
	}
	conn, err := db.connect(path, cfg.Create)
	if err != nil {
		return err
	}
	if err := db.noteOriginal(path); err != nil {
		return err
	}
	if _, err := admit(conn, cfg); err != nil {
		return err
	}
	if db.path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	if err := db.displaced(); err != nil { // a restore that admit waited for has replaced the file
		return err
	}
	if cfg.Serve {
		if db.lock, err = lock(db.path, cfg.Path); err != nil {
			return err
		}
		db.originals = append(db.originals, db.lock.file)
		if err := dropAsideLinks(db.path); err != nil {
			return err
		}
	}
	if err := migrate(ctx, conn, cfg); err != nil {
		return err
	}
	if err := db.fillPools(ctx, conn); err != nil {
		return err
	}
	db.alone.Store(cfg.Serve)
	db.trimWALAt = walLimit
	db.changes = batch.NewWriter(maxBatch, db.commit)
	db.batched = cfg.Batched
	db.watch = cfg.Watch
	db.now = cfg.Now
	if db.now == nil {
		db.now = time.Now
	}
	db.onLoss = cfg.Lost
	db.close = sync.OnceValue(db.finish)
	return nil
}

func (db *DB) fillPools(ctx context.Context, conn *sqlite3.Conn) error {
	w, err := newWriter(ctx, conn)
	if err != nil {
		return err
	}
	db.writer = newPool(w)

	readers := make([]*reader, max(4, runtime.GOMAXPROCS(0)))
	for i := range readers {
		conn, err := db.connect(db.path, false)
		if err != nil {
			return err
		}
		if readers[i], err = newReader(conn); err != nil {
			return err
		}
	}
	db.readers = newPool(readers...)
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := db.noteOriginal(db.path + suffix); err != nil {
			return err
		}
	}
	return db.displaced()
}

// Version changes with every write of data that readPets shows, at the moment at which readers can see the write. Only a
// database that was opened to serve has a version: otherwise another process may write animals.
func (db *DB) Version() (version uint64, ok bool) {
	ok = db.alone.Load() // first: what becomes current again gets a new version
	return db.newest.version.Load(), ok
}

// Ping checks that the files of the database are in their places, and reads the database.
func (db *DB) Ping(ctx context.Context) error {
	if err := db.checkOriginals(); err != nil {
		return failure(err)
	}
	return db.read(ctx, func(conn *sqlite3.Conn) error { return run(conn, "SELECT count(*) FROM settings") })
}

// Close finishes the accepted changes and releases the file. Closing again does nothing.
func (db *DB) Close() error { return db.close() }

func (db *DB) finish() error {
	db.changes.Close()
	db.writer.drain()
	db.newest.forget() // so that from now on every read needs a reader, and is refused
	db.readers.drain()
	return db.release()
}

// release closes what is open, the writer last: SQLite moves the WAL into the database when the last connection is closed.
func (db *DB) release() error {
	var first error
	for _, conn := range slices.Backward(db.conns) {
		first = cmp.Or(first, conn.Close())
	}
	if db.lock != nil {
		first = cmp.Or(first, db.lock.release())
	}
	return first
}
