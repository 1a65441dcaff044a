package sqlite

import (
	"context"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

const (
	selectInventory = "SELECT status, animals FROM inventory"
	addToInventory  = "UPDATE inventory SET animals = animals + ?2 WHERE status = ?1"
)

// Inventory reads the number of animals of each status. The writer keeps the counts up to date.
func (db *DB) Inventory(ctx context.Context) (all petstore.Inventory, err error) {
	err = db.readVersioned(ctx, func(r *reader) error {
		return query(r.conn, func(row *sqlite3.Stmt) {
			all.Add(petstore.Status(row.ColumnInt64(0)), row.ColumnInt64(1))
		}, selectInventory)
	})
	return all, err
}

// storeInventory updates the stored counts with the changes of the running transaction.
func (w *writer) storeInventory() error {
	for status, n := range w.inventoryDelta {
		if n == 0 {
			continue
		}
		if err := run(w.conn, addToInventory, status, n); err != nil {
			return err
		}
	}
	return nil
}
