package sqlite

import (
	"fmt"
	"slices"
	"testing"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

func TestTheWALIsEmptiedAlthoughReadersHaveTransactions(t *testing.T) {
	db := openNew(t)
	batch := slices.Repeat([]change{{pet: big}}, 250)
	for range 6 { // six commits of 2 MiB each
		holdTransactions(t, db)
		_, err := db.commitBatch(batch)
		noError(t, err)
		if size := db.WALSize(); size > walLimit {
			t.Fatalf("the WAL grew to %d bytes", size)
		}
	}
}

func TestNotEveryCommitTriesToEmptyAWALThatAnotherProcessReads(t *testing.T) {
	db := openNew(t)
	other := open(t, Config{Path: db.path})
	noError(t, other.read(t.Context(), func(conn *sqlite3.Conn) error {
		if err := run(conn, "BEGIN"); err != nil {
			return err
		}
		defer run(conn, "ROLLBACK")
		if err := run(conn, "SELECT count(*) FROM pets"); err != nil {
			return err
		}
		batch := slices.Repeat([]change{{pet: big}}, 250)
		for range 6 { // six commits of 2 MiB each
			if _, err := db.commitBatch(batch); err != nil {
				return err
			}
		}
		if size := db.WALSize(); size < walLimit || db.trimWALAt <= size {
			t.Errorf("the WAL has %d bytes, and the next try is at %d", size, db.trimWALAt)
		}
		return nil
	}))
}

func TestTheWALIsEmptiedAfterAPurgeToo(t *testing.T) {
	db := openNew(t)
	batch := make([]change, maxBatch)
	for n := range 24 {
		for i := range batch {
			batch[i] = createChange(rex, &petstore.Idempotency{Owner: "ann", Key: fmt.Sprintf("%0200d", n*maxBatch+i), Now: time.Now()}, new(created))
		}
		_, err := db.commitBatch(batch)
		noError(t, err)
	}
	holdTransactions(t, db)
	purged, err := db.PurgeIdempotency(t.Context(), time.Now().Add(time.Hour))
	noError(t, err)
	if size := db.WALSize(); size > walLimit || purged != 24*maxBatch {
		t.Errorf("%d records were purged, and the WAL has %d bytes", purged, size)
	}
}

// Upkeep runs every second, even on an idle server. A transaction that upkeep left open would keep other processes from
// emptying the WAL.
func TestExpireOrdersEndsTheTransactionsOfReaders(t *testing.T) {
	db := openNew(t)
	holdTransactions(t, db)
	for range 2 * cap(db.readers) {
		_, err := db.ExpireOrders(t.Context())
		noError(t, err)
	}
	db.readers.pause(func(readers []*reader) {
		for _, r := range readers {
			if r.inTransaction() {
				t.Error("on an idle server, a reader has a transaction")
			}
		}
	})
}
