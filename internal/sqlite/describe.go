package sqlite

import (
	"context"
	"os"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

// Describe returns facts about the database. Its size is that of the file and of the write-ahead log.
func (db *DB) Describe(ctx context.Context) (d petstore.StorageDescription, err error) {
	info, err := os.Stat(db.path)
	if err != nil {
		return d, petstore.NotDone(err)
	}
	d.Database, d.DatabaseBytes = "sqlite", info.Size()+db.WALSize()
	err = db.read(ctx, func(conn *sqlite3.Conn) error {
		if err := query(conn, func(row *sqlite3.Stmt) { d.Schema = row.ColumnInt64(0) }, "PRAGMA user_version"); err != nil {
			return err
		}
		feed, err := readFeed(conn)
		if err != nil {
			return err
		}
		d.Events = feed.Last - feed.Trimmed
		return query(conn, func(row *sqlite3.Stmt) { d.PhotoBytes = row.ColumnInt64(0) }, sumPhotoBytes)
	})
	return d, err
}
