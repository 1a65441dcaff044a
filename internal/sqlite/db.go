// Package sqlite keeps the store in one SQLite file. One connection writes, many changes in one commit; a few others read.
//
// [Open] returns a [DB], which is a petstore.Storage. Every write goes through writer.go. Every read goes through
// reader.go or, for the newest animals, through the cache of petcache.go, except that a search goes through search.go and the
// index that searchindex.go keeps. The writer collects the events of a transaction in eventlog.go. The SQL of each noun is in
// the file of that name; the folder migrations has the schema.
package sqlite

import (
	"cmp"
	"context"
	"os"
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
	// Create creates a missing database and fills an empty one. Without Create, Open refuses both.
	Create bool
	// Migrate brings an older schema up to date. Without Migrate, Open refuses it.
	Migrate bool
	// Serve locks every other server out until Close. If somebody removes the lock file, FileLost is called.
	Serve bool
	// LeaveIndex leaves it to the next server to index the words of animals.
	LeaveIndex bool
	// Batched, if not nil, is called after each commit with the number of its changes.
	Batched func(changes int)
	Watch   petstore.Watch
	// Now is the clock by which orders and idempotency records expire. Nil means the system's clock.
	Now func() time.Time
	// FileLost, if not nil, is called with the problem when a file of the database is deleted or replaced, and with nil when
	// the file is back.
	FileLost func(problem error)
	// Indexing, if not nil, is called now and then while very many animals have to be indexed before a search finds them, with
	// the number that is left, and at the end with 0. Only a database that was opened to serve is indexed.
	Indexing func(left int64)
}

// DB is a petstore.Storage in a SQLite file.
type DB struct {
	changes      *batch.Writer[change, changeResult]
	batched      func(changes int)
	watch        petstore.Watch
	waits        atomic.Int64 // how often a call had to wait for a reader
	now          func() time.Time
	onFileLost   func(problem error)
	commitMu     sync.RWMutex // locked for writing while a commit changes the version
	cache        petCache
	eventsStored broadcast                   // sent after each commit that has events
	filling      atomic.Bool                 // a goroutine is reading older animals into the cache
	path         string                      // without symbolic links
	files        []databaseFile              // the files that are open
	folder       atomic.Pointer[os.FileInfo] // the folder of the files when none was missing, unless it had just changed
	fileLost     atomic.Bool                 // the last checkFiles found a file missing
	soleWriter   atomic.Bool                 // no other process writes animals, so the cache and the transactions of readers are current
	trimWALAt    int64                       // the size at which trimWAL empties the WAL
	walIsLarge   atomic.Bool                 // readers must not keep transactions
	writer       pool[*writer]               // has one member
	readers      pool[*reader]
	searchers    pool[*searcher]
	scanPages    int             // how many pages of animals a search compares one by one before it follows the index
	indexer      *indexer        // nil unless the database was opened to serve
	conns        []*sqlite3.Conn // all of them, the writer's first
	lock         *serverLock     // nil unless the database was opened to serve
	closeOnce    func() error
}

var (
	_ petstore.Database  = (*DB)(nil)
	_ petstore.Versioned = (*DB)(nil)
)

// maxBatch bounds the changes of a commit, so that the first in a long queue does not wait for the whole queue.
const maxBatch = 512

// Open opens the database and makes sure that it has the schema of this program. If Open refuses the database, it changes
// nothing, and the error says what to do.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	db := new(DB)
	db.cache.init()
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
	if err := db.watchFile(path); err != nil {
		return err
	}
	if _, err := checkSchemaFor(conn, cfg); err != nil {
		return err
	}
	if db.path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	if err := db.findLostFile(); err != nil { // checkSchemaFor may have waited for a restore, which has replaced the file
		return err
	}
	if cfg.Serve {
		if db.lock, err = takeServerLock(db.path, cfg.Path); err != nil {
			return err
		}
		db.files = append(db.files, db.lock.file)
		if err := removeAsideLinks(db.path); err != nil {
			return err
		}
	}
	if err := migrate(ctx, conn, cfg); err != nil {
		return err
	}
	if err := db.fillPools(ctx, conn); err != nil {
		return err
	}
	db.soleWriter.Store(cfg.Serve)
	db.trimWALAt = walLimit
	db.scanPages = scanPages
	db.changes = batch.NewWriter(maxBatch, db.commitBatch)
	db.batched = cfg.Batched
	db.watch = cfg.Watch
	db.now = cfg.Now
	if db.now == nil {
		db.now = time.Now
	}
	db.onFileLost = cfg.FileLost
	db.closeOnce = sync.OnceValue(db.shutDown)
	if cfg.Serve && !cfg.LeaveIndex {
		db.startIndexing(cfg.Indexing)
	}
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
	if err := db.fillSearchers(); err != nil {
		return err
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := db.watchFile(db.path + suffix); err != nil {
			return err
		}
	}
	return db.findLostFile()
}

func (db *DB) fillSearchers() error {
	searchers := make([]*searcher, max(2, runtime.GOMAXPROCS(0)/2))
	for i := range searchers {
		conn, err := db.connect(db.path, false)
		if err != nil {
			return err
		}
		if searchers[i], err = newSearcher(conn); err != nil {
			return err
		}
	}
	db.searchers = newPool(searchers...)
	return nil
}

// Version changes with every write of data that readVersioned shows, at the moment when readers can see the write. Only a
// database that was opened to serve has a version: otherwise another process may write animals.
func (db *DB) Version() (version uint64, ok bool) {
	ok = db.soleWriter.Load() // read before the version, which changes before this becomes true again
	return db.cache.version.Load(), ok
}

// Ping checks that the files of the database are in their places, and reads the database.
func (db *DB) Ping(ctx context.Context) error {
	if err := db.checkFiles(); err != nil {
		return failure(err)
	}
	return db.read(ctx, func(conn *sqlite3.Conn) error { return run(conn, "SELECT count(*) FROM settings") })
}

// Close finishes the accepted changes and releases the file. Closing again does nothing.
func (db *DB) Close() error { return db.closeOnce() }

func (db *DB) shutDown() error {
	if db.indexer != nil {
		db.indexer.stop()
	}
	db.changes.Close()
	db.returnIDs()
	db.writer.drain()
	db.cache.invalidate() // from now on every read needs a reader and is refused
	db.readers.drain()
	db.searchers.drain()
	return db.release()
}

// release closes every connection, the writer's last: when the last connection closes, SQLite moves the WAL into the
// database.
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
