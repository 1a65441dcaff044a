package sqlite

import (
	"context"
	"testing"
	"time"

	"petstore/internal/petstore"
)

// holdTransactions makes every reader hold a transaction, as readers do under load.
func holdTransactions(t *testing.T, db *DB) {
	t.Helper()
	for range 2 * cap(db.readers) {
		_, err := readFile(db, petstore.PetQuery{Limit: 1})
		noError(t, err)
	}
	db.readers.pause(func(readers []*reader) {
		for _, r := range readers {
			if !r.inTransaction() {
				t.Error("a reader has no transaction")
			}
		}
	})
}

// readFile lists animals as ListPets does, but does not use the cache.
func readFile(db *DB, q petstore.PetQuery) (pets []petstore.Pet, err error) {
	err = db.readVersioned(context.Background(), func(r *reader) (err error) {
		pets, err = r.listPets(q)
		return err
	})
	return pets, err
}

func TestEveryReaderShowsWhatWasStored(t *testing.T) {
	db := openNew(t)
	for range 3 {
		holdTransactions(t, db)
		pet, _, err := db.CreatePet(t.Context(), rex, nil)
		noError(t, err)
		for range cap(db.readers) {
			pets, err := readFile(db, petstore.PetQuery{Limit: 1})
			noError(t, err)
			if len(pets) != 1 || pets[0] != pet {
				t.Fatalf("stored %v, and a reader shows %v", pet, pets)
			}
			if got, err := db.GetPet(t.Context(), pet.ID); err != nil || got != pet {
				t.Fatalf("stored %v, and GetPet shows %v, %v", pet, got, err)
			}
		}
	}
}

// Other readers may still show the old version, so this reader must not show a newer version.
func TestAReaderShowsTheVersionThatItBeganWith(t *testing.T) {
	db := openNew(t)
	noError(t, db.readVersioned(t.Context(), func(r *reader) error {
		if _, _, err := db.CreatePet(t.Context(), rex, nil); err != nil {
			return err
		}
		pets, err := r.listPets(petstore.PetQuery{Limit: 9})
		if len(pets) != 0 {
			t.Errorf("the reader shows %v, which was stored afterwards", pets)
		}
		return err
	}))
}

func TestReadersShowTheKeysOfOtherProcesses(t *testing.T) {
	db := openNew(t)
	other := open(t, Config{Path: db.path})
	key, hash := petstore.NewKey("ci", petstore.Free, petstore.Limits{PerMinute: 60, PerDay: 1000}, time.Now(), petstore.Forever), petstore.HashSecret("a")
	holdTransactions(t, db)
	noError(t, other.CreateKey(t.Context(), key, hash, petstore.KeyRequest{}))
	holdTransactions(t, db)
	_, _, err := other.RevokeKey(t.Context(), key.ID, petstore.ByOperator(time.Now()))
	noError(t, err)
	for range cap(db.readers) {
		if found, err := db.FindKey(t.Context(), hash); err != nil || found.RevokedAt.IsZero() {
			t.Errorf("a revoked key is found as %+v, %v", found, err)
		}
	}
}

// A command that runs beside the server gets no message when the server writes.
func TestAnotherProcessShowsWhatTheServerStored(t *testing.T) {
	db := openNew(t)
	other := open(t, Config{Path: db.path})
	for n := range 3 {
		for range 2 * cap(other.readers) {
			if pets, err := other.ListPets(t.Context(), petstore.PetQuery{Limit: 9}); err != nil || len(pets) != n {
				t.Fatalf("the other process shows %d animals of %d, %v", len(pets), n, err)
			}
		}
		_, _, err := db.CreatePet(t.Context(), rex, nil)
		noError(t, err)
	}
}

func TestAReaderThatFailedShowsNothingStale(t *testing.T) {
	db := openNew(t)
	holdTransactions(t, db)
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
			t.Errorf("a reader shows %d animals of 1, %v", len(pets), err)
		}
	}
}
