package sqlite

import (
	"context"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	selectOwner = "SELECT 1 FROM keys WHERE owner = ?1 LIMIT 1"
	selectBan   = "SELECT started_at, ends_at, streak FROM bans WHERE owner = ?1"
	putBan      = "INSERT OR REPLACE INTO bans (owner, started_at, ends_at, streak) VALUES (?1, ?2, ?3, ?4)"
	deleteBan   = "DELETE FROM bans WHERE owner = ?1"
)

// BanOwner starts the owner's next ban.
func (db *DB) BanOwner(ctx context.Context, owner string, now time.Time) (petstore.Ban, error) {
	var next petstore.Ban
	err := db.write(ctx, func(w *writer) error {
		if err := checkOwner(w.conn, owner); err != nil {
			return err
		}
		var last petstore.Ban
		err := query(w.conn, func(row *sqlite3.Stmt) {
			last = petstore.Ban{Start: columnTime(row, 0), Until: columnTime(row, 1), Streak: row.ColumnInt(2)}
		}, selectBan, owner)
		if err != nil {
			return err
		}
		if next = last.Next(now.UTC().Truncate(time.Millisecond)); next == last {
			return nil
		}
		return run(w.conn, putBan, owner, next.Start.UnixMilli(), next.Until.UnixMilli(), next.Streak)
	})
	if err != nil {
		return petstore.Ban{}, err
	}
	return next, nil
}

// checkOwner refuses an owner that has no key. The owner's id is the id of its first key, so the refusal names that key.
func checkOwner(conn *sqlite3.Conn, owner string) error {
	known := false
	err := query(conn, func(*sqlite3.Stmt) { known = true }, selectOwner, owner)
	if err == nil && !known {
		err = petstore.NoSuchKey(owner)
	}
	return err
}
