package sqlite

import "os"

// walLimit is the size in bytes at which petstore empties SQLite's write-ahead log (WAL). SQLite also empties the WAL by
// itself, but only at a moment when nobody reads the WAL. There may be no such moment for a long time.
const walLimit = 8 << 20

// trimWAL empties the WAL if the WAL is too large. The readers pause while trimWAL works.
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
		run(w.conn, "PRAGMA wal_checkpoint(TRUNCATE)") // if the checkpoint fails, WALSize still shows a large WAL
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
