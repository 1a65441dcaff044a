package sqlite

import "os"

// walLimit is the size in bytes at which petstore empties SQLite's write-ahead log (WAL). SQLite also does so by itself,
// but only at a moment when nobody reads the WAL, and there may be no such moment for a long time.
const walLimit = 8 << 20

// trimWAL empties the WAL if it is too large. Meanwhile the readers pause.
func (db *DB) trimWAL(w *writer) {
	if db.WALSize() < db.trimWALAt {
		return
	}
	db.readers.pause(func(readers []*reader) {
		for _, r := range readers {
			r.endTransaction()
		}
		w.conn.SetBusyTimeout(0)
		defer w.conn.SetBusyTimeout(busyTimeout)
		run(w.conn, "PRAGMA wal_checkpoint(TRUNCATE)") // if this fails, WALSize shows it
	})
	// A process that reads for a long time, such as a backup, keeps the WAL from being emptied. The next try waits until the
	// WAL has doubled, so that not every commit tries.
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
