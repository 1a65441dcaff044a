package sqlite

import (
	"context"

	sqlite3 "zombiezen.com/go/sqlite"
)

// SQLite stores the highest id of a table with AUTOINCREMENT in sqlite_sequence, unless a higher one is there already. So the
// writer reserves some ids at once by storing a higher one. The commits that use the reserved ids have one page less to write.

// selectHighestID is followed by the name of the table. Like AUTOINCREMENT, it does not trust sqlite_sequence alone.
const (
	selectHighestID = "SELECT max(coalesce((" + selectSequence + "), 0), coalesce(max(id), 0)) FROM "
	lowerSequence   = "UPDATE sqlite_sequence SET seq = ?2 WHERE name = ?1 AND seq = ?3"
)

// reservedIDs is how many ids are reserved at once. A server that is killed leaves as many unused at most.
const reservedIDs = 100

// idRange is ids that are reserved, from next to last. If it has none, the highest id must be read.
type idRange struct{ next, last int64 }

// takeIDs returns the first of n ids that follow each other and were never used in the table.
func (w *writer) takeIDs(ids *idRange, table string, n int) (first int64, err error) {
	first = ids.next
	if first == 0 {
		err := query(w.conn, func(row *sqlite3.Stmt) { first = row.ColumnInt64(0) + 1 }, selectHighestID+table, table)
		if err != nil {
			return 0, err
		}
	}
	if next := first + int64(n); next-1 > ids.last {
		if err := w.raiseSequence(table, next-1+reservedIDs); err != nil {
			return 0, err
		}
		ids.last = next - 1 + reservedIDs
	}
	ids.next = first + int64(n)
	return first, nil
}

// raiseSequence makes AUTOINCREMENT continue after an id, unless it is further.
func (w *writer) raiseSequence(table string, highest int64) error {
	for _, statement := range []string{raiseSequence, startSequence} {
		if err := run(w.conn, statement, table, highest); err != nil {
			return err
		}
	}
	return nil
}

// returnIDs makes the reserved ids the next ones again. Ids that are not returned are never used.
func (db *DB) returnIDs() {
	w, err := db.writer.take(context.Background())
	if err != nil {
		return
	}
	reserved := w.petIDs != (idRange{}) || w.orderIDs != (idRange{})
	db.writer.give(w)
	if !reserved {
		return
	}
	db.write(context.Background(), func(w *writer) error {
		for table, ids := range map[string]*idRange{"pets": &w.petIDs, "orders": &w.orderIDs} {
			if *ids == (idRange{}) {
				continue
			}
			if err := run(w.conn, lowerSequence, table, ids.next-1, ids.last); err != nil {
				return err
			}
			*ids = idRange{}
		}
		return nil
	})
}
