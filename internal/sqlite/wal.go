package sqlite

import (
	"context"
	"os"

	sqlite3 "zombiezen.com/go/sqlite"
)

const (
	// walLimit is the size in bytes at which petstore empties SQLite's write-ahead log (WAL). SQLite also empties the WAL by
	// itself, but only at a moment when nobody reads the WAL. There may be no such moment for a long time.
	walLimit = 8 << 20
	// sharedWALLimit is the size at which readers no longer keep transactions. It matters only beside a process that reads the
	// WAL all the time. The WAL grows on until that process begins a new transaction, and should not reach 64 MiB.
	sharedWALLimit = 16 << 20
	// frameBytes is the size of a page in the WAL, with its header.
	frameBytes = 4096 + 24
)

// trimWAL empties the WAL if the WAL is too large.
func (db *DB) trimWAL(w *writer) {
	if db.WALSize() >= db.trimWALAt {
		db.emptyWAL(w)
	}
}

// trimIdleWAL empties the WAL if the WAL is too large, although nobody writes.
func (db *DB) trimIdleWAL(ctx context.Context) {
	if db.WALSize() < walLimit {
		return
	}
	if w, err := db.writer.take(ctx); err == nil {
		defer db.writer.give(w)
		db.emptyWAL(w)
	}
}

// emptyWAL empties the WAL, unless another process reads it. The readers pause meanwhile. Another process that follows the
// WAL, such as Litestream, can begin the WAL anew, at a moment that only that process chooses. So while the WAL is very large,
// readers keep no transactions.
func (db *DB) emptyWAL(w *writer) {
	db.readers.pause(func(readers []*reader) {
		for _, r := range readers {
			r.endTransaction()
		}
		w.conn.SetBusyTimeout(0)
		defer w.conn.SetBusyTimeout(busyTimeout)
		// The size of the file does not tell how much of it is in use: a process that begins the WAL anew may keep the file.
		frames := int64(-1) // unknown
		query(w.conn, func(row *sqlite3.Stmt) { frames = row.ColumnInt64(1) }, "PRAGMA wal_checkpoint(TRUNCATE)")
		db.walIsLarge.Store(frames < 0 || frames*frameBytes >= sharedWALLimit)
	})
	// A process that reads for a long time, such as a backup, keeps the WAL from being emptied. The next attempt waits
	// until the WAL has doubled. Otherwise every commit would try again.
	db.trimWALAt = max(walLimit, 2*db.WALSize())
}

// WALSize returns the size of the write-ahead log in bytes.
func (db *DB) WALSize() int64 {
	info, err := os.Stat(db.path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}
