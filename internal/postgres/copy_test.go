package postgres

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"petstore/internal/conformance"
	"petstore/internal/petstore"
	"petstore/internal/sqlite"
	"petstore/internal/testservice"
)

// The test copies from SQLite to PostgreSQL and back, and from one PostgreSQL database to another.
func TestCopyConforms(t *testing.T) {
	emptied := func(url string) func(t *testing.T) petstore.Database {
		return func(t *testing.T) petstore.Database { return openEmptied(t, url) }
	}
	here, there := emptied(testservice.Postgres(t)), emptied(testservice.Postgres(t))
	file := func(t *testing.T) petstore.Database {
		db, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "pets.db"), Environment: petstore.Production, Create: true})
		noError(t, err)
		t.Cleanup(func() { db.Close() })
		return db
	}
	t.Run("from SQLite", func(t *testing.T) { conformance.Copy(t, file, here) })
	t.Run("to SQLite", func(t *testing.T) { conformance.Copy(t, here, file) })
	t.Run("from PostgreSQL to PostgreSQL", func(t *testing.T) { conformance.Copy(t, here, there) })
}

func TestReplacingAnExistingAnimalFailsNoCreate(t *testing.T) {
	db := open(t, testservice.Postgres(t))
	first, _, err := db.CreatePet(t.Context(), rex, nil)
	noError(t, err)
	var all sync.WaitGroup
	for i := range 5 {
		all.Go(func() {
			for range 200 {
				var err error
				if i == 0 {
					err = db.ReplacePets(t.Context(), []petstore.Pet{first}, nil)
				} else {
					_, _, err = db.CreatePet(t.Context(), rex, nil)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

func TestAStartingServerWaitsForAStepOfACopy(t *testing.T) {
	url := testservice.Postgres(t)
	db := open(t, url)
	step := holdLocks(t, url, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", int64(servingLock)))
	marked := make(chan error, 1)
	go func() { marked <- db.MarkServed(t.Context()) }()
	awaitLockWaits(t, url, 1)
	noError(t, errorOf(step.Exec(t.Context(), "COMMIT")))
	if err := <-marked; err != nil {
		t.Errorf("after the step, MarkServed fails: %v", err)
	}
}
