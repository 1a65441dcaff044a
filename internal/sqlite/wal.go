package sqlite

import "os"

// logLimit is how large SQLite's write-ahead log may stay. SQLite starts the log anew by itself, but only in a moment in
// which nobody reads it, and there may be none for long.
const logLimit = 8 << 20

// trimLog makes the readers pause for a moment if the log is too large, and empties it.
func (db *DB) trimLog(w *writer) {
	if db.logSize() < db.trimAt {
		return
	}
	db.readers.pause(func(readers []*reader) {
		for _, r := range readers {
			r.letGo()
		}
		w.conn.SetBusyTimeout(0)
		defer w.conn.SetBusyTimeout(patience)
		run(w.conn, "PRAGMA wal_checkpoint(TRUNCATE)") // if it fails, the size tells
	})
	// A process that reads for long, such as a backup, keeps the log: then do not try again after every commit.
	db.trimAt = max(logLimit, 2*db.logSize())
}

func (db *DB) logSize() int64 {
	info, err := os.Stat(db.path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}
