package sqlite

import "os"

// walLimit is how large SQLite's write-ahead log (WAL) may stay. SQLite starts the WAL anew by itself, but only at a moment
// at which nobody reads it, and there may be no such moment for a long time.
const walLimit = 8 << 20

// trimWAL empties the WAL if it is too large. The readers pause meanwhile.
func (db *DB) trimWAL(w *writer) {
	if db.WALSize() < db.trimWALAt {
		return
	}
	db.readers.pause(func(readers []*reader) {
		for _, r := range readers {
			r.letGo()
		}
		w.conn.SetBusyTimeout(0)
		defer w.conn.SetBusyTimeout(patience)
		run(w.conn, "PRAGMA wal_checkpoint(TRUNCATE)") // if it fails, WALSize shows it
	})
	// A process that reads for a long time, such as a backup, keeps the WAL from being emptied. Then the limit doubles, so
	// that not every commit tries again.
	db.trimWALAt = max(walLimit, 2*db.WALSize())
}

// WALSize is how many bytes the write-ahead log takes.
func (db *DB) WALSize() int64 {
	info, err := os.Stat(db.path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}
