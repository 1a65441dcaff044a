package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"petstore/internal/petstore"
)

// newIDs creates an animal and returns its id, and the id of an order for it.
func newIDs(t *testing.T, db *DB) (pet, order int64) {
	t.Helper()
	created, _, err := db.CreatePet(t.Context(), rex, nil)
	noError(t, err)
	placed, _, err := db.PlaceOrder(t.Context(), petstore.NewOrder{PetID: created.ID, Hold: time.Hour}, nil)
	noError(t, err)
	return created.ID, placed.ID
}

func TestIDsContinueWithoutAGapAfterADatabaseIsClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "petstore.db")
	for n := int64(1); n <= 3; n++ {
		db := open(t, Config{Path: path, Create: true, Serve: true})
		if pet, order := newIDs(t, db); pet != n || order != n {
			t.Errorf("the ids are %d and %d, want %d", pet, order, n)
		}
		noError(t, db.Close())
	}
}

func TestIDsOfDeletedAnimalsAreNotUsedAgainAfterADatabaseIsClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "petstore.db")
	for n := int64(1); n <= 3; n++ {
		db := open(t, Config{Path: path, Create: true, Serve: true})
		pet, _, err := db.CreatePet(t.Context(), rex, nil)
		if err != nil || pet.ID != n {
			t.Errorf("id %d, want %d (%v)", pet.ID, n, err)
		}
		_, err = db.DeletePet(t.Context(), pet.ID, nil)
		noError(t, err)
		noError(t, db.Close())
	}
}

func TestIDsOfOtherProcessesAreNotUsedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "petstore.db")
	unclosed := open(t, Config{Path: path, Create: true}) // like a process that is killed
	before := [2]int64{}
	for _, db := range []*DB{unclosed, open(t, Config{Path: path}), unclosed, open(t, Config{Path: path})} {
		pet, order := newIDs(t, db)
		if pet <= before[0] || order <= before[1] {
			t.Errorf("the ids are %d and %d after %v", pet, order, before)
		}
		before = [2]int64{pet, order}
	}
}

func TestMoreIDsThanAreReservedFollowEachOther(t *testing.T) {
	db := openNew(t)
	fillPets(t, db, 2*reservedIDs+10)
	fillPets(t, db, reservedIDs)
	pet, _ := newIDs(t, db)
	if pet != 3*reservedIDs+11 {
		t.Errorf("id %d, want %d", pet, 3*reservedIDs+11)
	}
}
