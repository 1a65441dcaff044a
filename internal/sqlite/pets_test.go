package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

var (
	rex = petstore.NewPet{Name: "Rex", CategoryID: 1, Status: petstore.Available}
	// The animal big fills a page of the table and a page of the index.
	big = petstore.NewPet{Name: strings.Repeat("🐘", petstore.MaxNameLength), Status: petstore.Sold}
)

func TestCreatesThatWaitTogetherShareACommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "petstore.db")
	synctest.Test(t, func(t *testing.T) {
		db := open(t, Config{Path: path, Create: true})
		before := db.cache.version.Load()
		w, err := db.writer.take(t.Context())
		noError(t, err)
		const many = 400
		var all sync.WaitGroup
		for range many {
			all.Go(func() {
				if _, _, err := db.CreatePet(t.Context(), rex, nil); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait() // now all creates have begun, and the first commit waits for the writer
		db.writer.give(w)
		all.Wait()
		if commits := db.cache.version.Load() - before; commits > 2 {
			t.Errorf("%d creates took %d commits, want 2", many, commits)
		}
		if pets, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 2 * many}); err != nil || len(pets) != many {
			t.Errorf("%d animals, %v", len(pets), err)
		}
	})
}

// The type created holds the answer to a create in a batch.
type created struct {
	pet      petstore.Pet
	replayed bool
	refusal  error
}

// createChange returns the change that stores an animal. If there is an idempotency key, the change also stores its answer
// in the argument answer.
func createChange(pet petstore.NewPet, idempotency *petstore.Idempotency, answer *created) change {
	if idempotency == nil {
		return change{pet: pet}
	}
	return change{work: func(w *writer) (err error) {
		answer.pet, answer.replayed, err = recallOrDo(w, idempotency, func(w *writer) (petstore.Pet, error) { return w.addPet(pet) })
		answer.refusal = err
		return err
	}}
}

func TestBatchesOfAnySizeAreStoredAsAnswered(t *testing.T) {
	db := openNew(t)
	for size := 1; size <= 3*maxInsertRows+1; size++ {
		batch, pets, got := make([]change, size), make([]petstore.NewPet, size), make([]created, size)
		for i := range batch {
			pets[i] = petstore.NewPet{Name: fmt.Sprintf("%d of %d", i, size), CategoryID: int64(i), Status: petstore.Statuses[i%3]}
			var idempotency *petstore.Idempotency
			if i%5 == 4 {
				idempotency = &petstore.Idempotency{Owner: "ann", Key: pets[i].Name, Now: time.Now()}
			}
			batch[i] = createChange(pets[i], idempotency, &got[i])
		}
		results, err := db.commitBatch(batch)
		noError(t, err)
		for i, pet := range pets {
			answered := max(results[i].id, got[i].pet.ID)
			stored, err := db.GetPet(t.Context(), answered)
			if err != nil || stored.NewPet != pet {
				t.Fatalf("create %d of %d was answered %v, stored is %v, %v", i, size, answered, stored, err)
			}
		}
	}
}

func TestOnlyADatabaseThatIsServedHasAVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "petstore.db")
	for _, serve := range []bool{true, false} {
		if _, ok := open(t, Config{Path: path, Create: true, Serve: serve}).Version(); ok != serve {
			t.Errorf("opened to serve: %v, has a version: %v", serve, ok)
		}
	}
}

func TestVersionChangesWithEveryCommit(t *testing.T) {
	db := openNew(t)
	for range 3 {
		before := db.cache.version.Load()
		_, _, err := db.CreatePet(t.Context(), rex, nil)
		noError(t, err)
		if db.cache.version.Load() == before {
			t.Fatal("the version is the same after a create")
		}
	}
	before := db.cache.version.Load()
	if _, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 1}); err != nil || db.cache.version.Load() != before {
		t.Errorf("the version changed with a read: %v", err)
	}
}

// A database with a size limit stands in for a full disk, because not every machine can provide a full disk.
func TestAFailedCommitFailsAllItsCreatesAndStoresNothing(t *testing.T) {
	db := openNew(t)
	execOnWriter(t, db, "PRAGMA max_page_count = 100")
	var stored []petstore.Pet
	var err error
	for err == nil {
		var pet petstore.Pet
		if pet, _, err = db.CreatePet(t.Context(), big, nil); err == nil {
			stored = append(stored, pet)
		}
	}
	if !petstore.IsCode(err, petstore.Unavailable) || sqlite3.ErrCode(errors.Unwrap(err)) != sqlite3.ResultFull {
		t.Fatalf("got %v, want Unavailable because the database is full", err)
	}

	if _, err := db.commitBatch([]change{{pet: rex}, {pet: big}, {pet: rex}}); !petstore.IsCode(err, petstore.Unavailable) {
		t.Fatalf("got %v, want Unavailable", err)
	}
	pets, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 100})
	noError(t, err)
	if len(pets) != len(stored) {
		t.Fatalf("%d animals, %d were acknowledged", len(pets), len(stored))
	}

	execOnWriter(t, db, "PRAGMA max_page_count = 4000")
	pet, _, err := db.CreatePet(t.Context(), big, nil)
	noError(t, err)
	if pet.ID <= stored[len(stored)-1].ID {
		t.Errorf("id %d after %d", pet.ID, stored[len(stored)-1].ID)
	}
	checkIntegrity(t, db)
}

// failCommits makes every COMMIT after a create fail, by a deferred foreign key, until mend is called.
func failCommits(t *testing.T, db *DB) (mend func()) {
	t.Helper()
	execOnWriter(t, db, "PRAGMA foreign_keys = ON")
	execOnWriter(t, db, "CREATE TABLE none (id INTEGER PRIMARY KEY)")
	execOnWriter(t, db, "CREATE TABLE faulty (id INTEGER REFERENCES none DEFERRABLE INITIALLY DEFERRED)")
	execOnWriter(t, db, "CREATE TRIGGER fault AFTER INSERT ON pets BEGIN INSERT INTO faulty VALUES (7); END")
	return func() { execOnWriter(t, db, "DROP TRIGGER fault") }
}

func TestVersionChangesWithACommitThatFails(t *testing.T) {
	db := openNew(t)
	mend := failCommits(t, db)
	before := db.cache.version.Load()
	if pet, _, err := db.CreatePet(t.Context(), rex, nil); err == nil {
		t.Fatalf("%v was stored", pet)
	}
	if db.cache.version.Load() == before {
		t.Error("the version is the same after a failed commit")
	}
	mend()
	pet, _, err := db.CreatePet(t.Context(), rex, nil)
	noError(t, err)
	if pets, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 9}); err != nil || !slices.Equal(pets, []petstore.Pet{pet}) {
		t.Errorf("the store shows %v, want %v (%v)", pets, pet, err)
	}
}

func TestIDsStayBelowWhatJavaScriptReadsExactly(t *testing.T) {
	db := openNew(t)
	const last = 1<<53 - 1
	execOnWriter(t, db, fmt.Sprintf("INSERT INTO sqlite_sequence (name, seq) VALUES ('pets', %d)", last-1))
	pet, _, err := db.CreatePet(t.Context(), rex, nil)
	noError(t, err)
	if pet.ID != last {
		t.Errorf("id %d, want %d", pet.ID, last)
	}
	if pets, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 1}); err != nil || len(pets) != 1 || pets[0] != pet {
		t.Errorf("a list begins with %v, want %v, %v", pets, pet, err)
	}
	if pet, _, err := db.CreatePet(t.Context(), rex, nil); !petstore.IsCode(err, petstore.Unavailable) {
		t.Errorf("got %v, %v, want Unavailable", pet, err)
	}
}

func TestQueriesUseTheirIndexes(t *testing.T) {
	db := openNew(t)
	for statement, want := range map[string]string{
		selectPets:         "SEARCH pets USING INTEGER PRIMARY KEY (rowid<?)",
		selectPetsOfStatus: "SEARCH pets USING COVERING INDEX pets_by_status (status=? AND id<?)",
		selectPet:          "SEARCH pets USING INTEGER PRIMARY KEY (rowid=?)",
		selectIdempotency:  "SEARCH idempotency USING PRIMARY KEY (owner=? AND key=?)",
		selectOwner:        "SEARCH keys USING COVERING INDEX keys_by_owner (owner=?)",
		selectBan:          "SEARCH bans USING PRIMARY KEY (owner=?)",
		selectKeyByHash:    "SEARCH keys USING INDEX sqlite_autoindex_keys_2 (hash=?)",
		selectKeyByID:      "SEARCH keys USING INDEX sqlite_autoindex_keys_1 (id=?)",
		purgeIdempotency:   "SEARCH idempotency USING COVERING INDEX idempotency_by_age (created_at<?)",
	} {
		var plan []string
		noError(t, db.read(t.Context(), func(conn *sqlite3.Conn) error {
			stmt, err := conn.Prepare("EXPLAIN QUERY PLAN " + statement)
			for more := err == nil; more; {
				if more, err = stmt.Step(); more {
					plan = append(plan, stmt.GetText("detail"))
				}
			}
			return err
		}))
		if got := strings.Join(plan, "\n"); !slices.Contains(plan, want) || strings.Contains(got, "SCAN") {
			t.Errorf("%s:\n got %s\nwant %s", statement, got, want)
		}
	}
}

// execOnWriter executes a statement on the writer's connection.
func execOnWriter(t *testing.T, db *DB, statement string) {
	t.Helper()
	w, err := db.writer.take(t.Context())
	noError(t, err)
	defer db.writer.give(w)
	noError(t, run(w.conn, statement))
}

func TestUseOfAKeyDoesNotChangeTheVersion(t *testing.T) {
	db := openNew(t)
	key := petstore.NewKey("a", petstore.Free, limits, time.Now(), petstore.Forever)
	noError(t, db.CreateKey(t.Context(), key, petstore.HashSecret("a"), petstore.KeyRequest{}))
	before := db.cache.version.Load()
	noError(t, db.UseKey(t.Context(), key.ID, time.Now().Truncate(time.Hour)))
	if db.cache.version.Load() != before {
		t.Error("recording the use of a key makes cached answers stale")
	}
}
