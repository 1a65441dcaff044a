package sqlite

import (
	"context"
	"fmt"
	"testing"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

// hold makes every reader hold a transaction, as they do under load.
func hold(t *testing.T, db *DB) {
	t.Helper()
	for range 2 * cap(db.readers) {
		_, err := readFile(db, petstore.PetQuery{Limit: 1})
		noError(t, err)
	}
	db.readers.pause(func(readers []*reader) {
		for _, r := range readers {
			if !r.holds() {
				t.Error("a reader holds nothing")
			}
		}
	})
}

// readFile is ListPets from the file, without the animals in memory.
func readFile(db *DB, q petstore.PetQuery) (pets []petstore.Pet, err error) {
	err = db.readPets(context.Background(), func(r *reader) (err error) {
		pets, err = r.listPets(q)
		return err
	})
	return pets, err
}

func TestEveryReaderShowsWhatWasStored(t *testing.T) {
	db := openNew(t)
	for range 3 {
		hold(t, db)
		pet, _, err := db.CreatePet(t.Context(), rex, nil)
		noError(t, err)
		for range cap(db.readers) {
			pets, err := readFile(db, petstore.PetQuery{Limit: 1})
			noError(t, err)
			if len(pets) != 1 || pets[0] != pet {
				t.Fatalf("%v was stored, %v is shown", pet, pets)
			}
			if got, err := db.GetPet(t.Context(), pet.ID); err != nil || got != pet {
				t.Fatalf("%v was stored, %v is shown, %v", pet, got, err)
			}
		}
	}
}

// Other readers may still show the version before, so this one must not show more than they do.
func TestAReaderShowsTheVersionThatItBeganWith(t *testing.T) {
	db := openNew(t)
	noError(t, db.readPets(t.Context(), func(r *reader) error {
		if _, _, err := db.CreatePet(t.Context(), rex, nil); err != nil {
			return err
		}
		pets, err := r.listPets(petstore.PetQuery{Limit: 9})
		if len(pets) != 0 {
			t.Errorf("%v is shown, which was stored afterwards", pets)
		}
		return err
	}))
}

func TestReadersShowTheKeysOfOtherProcesses(t *testing.T) {
	db := openNew(t)
	other := open(t, Config{Path: db.path})
	key, hash := petstore.NewKey("ci", petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, time.Now(), petstore.Forever), petstore.HashSecret("a")
	hold(t, db)
	noError(t, other.CreateKey(t.Context(), key, hash))
	hold(t, db)
	noError(t, other.RevokeKey(t.Context(), key.ID, time.Now()))
	for range cap(db.readers) {
		if found, err := db.FindKey(t.Context(), hash); err != nil || found.RevokedAt.IsZero() {
			t.Errorf("a revoked key is found as %+v, %v", found, err)
		}
	}
}

// Nobody tells a command that runs beside the server what the server writes.
func TestAnotherProcessShowsWhatTheServerStored(t *testing.T) {
	db := openNew(t)
	other := open(t, Config{Path: db.path})
	for n := range 3 {
		for range 2 * cap(other.readers) {
			if pets, err := other.ListPets(t.Context(), petstore.PetQuery{Limit: 9}); err != nil || len(pets) != n {
				t.Fatalf("%d animals are shown of %d, %v", len(pets), n, err)
			}
		}
		_, _, err := db.CreatePet(t.Context(), rex, nil)
		noError(t, err)
	}
}

func TestTheWALIsEmptiedAlthoughReadersHoldIt(t *testing.T) {
	db := openNew(t)
	batch := make([]change, 250)
	for i := range batch {
		batch[i].pet = big
	}
	for range 6 { // of 2 MiB each
		hold(t, db)
		_, err := db.commit(batch)
		noError(t, err)
		if size := db.WALSize(); size > walLimit {
			t.Fatalf("the WAL grew to %d bytes", size)
		}
	}
}

func TestAWALThatAnotherProcessReadsIsNotTriedAfterEveryCommit(t *testing.T) {
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
		batch := make([]change, 250)
		for i := range batch {
			batch[i].pet = big
		}
		for range 6 { // of 2 MiB each
			if _, err := db.commit(batch); err != nil {
				return err
			}
		}
		if size := db.WALSize(); size < walLimit || db.trimWALAt <= size {
			t.Errorf("the WAL has %d bytes and is tried again at %d", size, db.trimWALAt)
		}
		return nil
	}))
}

func TestTheWALIsEmptiedAfterAPurgeToo(t *testing.T) {
	db := openNew(t)
	batch := make([]change, maxBatch)
	for n := range 24 {
		for i := range batch {
			batch[i] = creating(rex, &petstore.Idempotency{Owner: "ann", Key: fmt.Sprintf("%0200d", n*maxBatch+i), Now: time.Now()}, new(created))
		}
		_, err := db.commit(batch)
		noError(t, err)
	}
	hold(t, db)
	purged, err := db.PurgeIdempotency(t.Context(), time.Now().Add(time.Hour))
	noError(t, err)
	if size := db.WALSize(); size > walLimit || purged != 24*maxBatch {
		t.Errorf("%d records were purged, and the WAL has %d bytes", purged, size)
	}
}

func TestAReaderThatFailedShowsNothingOld(t *testing.T) {
	db := openNew(t)
	hold(t, db)
	_, _, err := db.CreatePet(t.Context(), rex, nil)
	noError(t, err)
	interrupted := make(chan struct{})
	close(interrupted)
	db.readers.pause(func(readers []*reader) {
		for _, r := range readers {
			r.conn.SetInterrupt(interrupted)
		}
	})
	for range cap(db.readers) {
		if _, err := readFile(db, petstore.PetQuery{Limit: 1}); !petstore.IsCode(err, petstore.Unavailable) {
			t.Errorf("got %v", err)
		}
	}
	db.readers.pause(func(readers []*reader) {
		for _, r := range readers {
			r.conn.SetInterrupt(nil)
		}
	})
	for range cap(db.readers) {
		if pets, err := readFile(db, petstore.PetQuery{Limit: 9}); err != nil || len(pets) != 1 {
			t.Errorf("%d animals are shown of 1, %v", len(pets), err)
		}
	}
}

// The sweep comes every second, whether or not anybody asks for anything.
func TestTheSweepLetsOtherProcessesEmptyTheWAL(t *testing.T) {
	db := openNew(t)
	hold(t, db)
	for range 2 * cap(db.readers) {
		_, err := db.ExpireOrders(t.Context())
		noError(t, err)
	}
	db.readers.pause(func(readers []*reader) {
		for _, r := range readers {
			if r.holds() {
				t.Error("a reader holds a transaction on an idle server")
			}
		}
	})
}
