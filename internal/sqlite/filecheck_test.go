package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

func TestCreatesAreRefusedWhileAFileIsLost(t *testing.T) {
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		for name, displace := range map[string]func(t *testing.T, path string){
			"deleted":  func(t *testing.T, path string) {},
			"replaced": func(t *testing.T, path string) { noError(t, os.WriteFile(path, nil, 0o600)) },
		} {
			t.Run("petstore.db"+suffix+" "+name, func(t *testing.T) {
				var reported []error
				db := open(t, Config{
					Path: filepath.Join(t.TempDir(), "petstore.db"), Create: true, Serve: true,
					FileLost: func(problem error) { reported = append(reported, problem) },
				})
				file := db.path + suffix
				noError(t, os.Rename(file, file+".away"))
				displace(t, file)
				if _, err := db.ExpireOrders(t.Context()); err != nil || len(reported) != 1 {
					t.Errorf("the upkeep of every second reported %v, %v", reported, err)
				}
				for range 3 {
					if pet, _, err := db.CreatePet(t.Context(), rex, nil); !petstore.IsCode(err, petstore.Unavailable) {
						t.Fatalf("got %v, %v, want Unavailable", pet, err)
					}
				}
				if err := db.Ping(t.Context()); !petstore.IsCode(err, petstore.Unavailable) {
					t.Errorf("a ping says %v, want Unavailable", err)
				}
				if len(reported) != 1 || reported[0] == nil || !strings.Contains(reported[0].Error(), file) {
					t.Fatalf("it reported %v, want the loss of %s once", reported, file)
				}

				noError(t, os.Rename(file+".away", file))
				noError(t, db.Ping(t.Context()))
				pet, _, err := db.CreatePet(t.Context(), rex, nil)
				noError(t, err)
				if len(reported) != 2 || reported[1] != nil {
					t.Errorf("it reported %v, want nil because the file is back", reported[1:])
				}
				noError(t, db.Close())
				again := open(t, Config{Path: db.path})
				if pets, err := again.ListPets(t.Context(), petstore.PetQuery{Limit: 9}); err != nil || len(pets) != 1 || pets[0] != pet {
					t.Errorf("stored are %v of %v, %v", pets, pet, err)
				}
			})
		}
	}
}

// The database file is deleted and its WAL stays. The test then follows the advice in the error: it stops the server and
// restores a backup.
func TestTheAdviceAboutALostFileWorks(t *testing.T) {
	db := openNew(t)
	_, _, err := db.CreatePet(t.Context(), rex, nil)
	noError(t, err)
	backup := filepath.Join(t.TempDir(), "backup.db")
	noError(t, Backup(t.Context(), production(db.path), backup, noProgress))
	noError(t, os.Remove(db.path))
	if err := db.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), "or stop petstore and restore a backup") {
		t.Errorf("a ping says %v", err)
	}
	noError(t, db.Close())
	if _, err := Open(t.Context(), Config{Path: db.path, Create: true, Serve: true}); err == nil {
		t.Error("a new database was created beside the WAL of the old one")
	}
	_, err = Restore(t.Context(), production(db.path), backup, false, noProgress)
	noError(t, err)
	if inventory, err := open(t, Config{Path: db.path, Serve: true}).Inventory(t.Context()); err != nil || inventory.Available != 1 {
		t.Errorf("got %+v, %v", inventory, err)
	}
}

// While its folder does not change, a database does not look at each file.
func TestAFileLostAfterAQuietTimeIsNoticedAtOnce(t *testing.T) {
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		db := openNew(t)
		longAgo := time.Now().Add(-time.Hour)
		noError(t, os.Chtimes(filepath.Dir(db.path), longAgo, longAgo))
		for range 2 {
			fillPets(t, db, 1)
		}
		if db.folder.Load() == nil {
			t.Error("the folder has not been noted")
		}
		noError(t, os.Rename(db.path+suffix, db.path+".away"))
		if _, _, err := db.CreatePet(t.Context(), rex, nil); !petstore.IsCode(err, petstore.Unavailable) {
			t.Errorf("without its file%s: %v, want Unavailable", suffix, err)
		}
		noError(t, os.Rename(db.path+".away", db.path+suffix))
		fillPets(t, db, 1)
	}
}

// Without its lock file, the first server cannot keep a second server from starting.
func TestAServerThatLostItsLockShowsWhatAnotherServerStores(t *testing.T) {
	first := openNew(t)
	var newest petstore.Pet
	add := func(db *DB) {
		t.Helper()
		var err error
		newest, _, err = db.CreatePet(t.Context(), rex, nil)
		noError(t, err)
	}
	shows := func(want int64, versioned bool) {
		t.Helper()
		if n := countPetsIn(t, first); n != want {
			t.Errorf("it shows %d animals of %d", n, want)
		}
		if _, err := first.GetPet(t.Context(), newest.ID); err != nil {
			t.Errorf("the newest animal: %v", err)
		}
		if _, ok := first.Version(); ok != versioned {
			t.Errorf("it has a version: %v, want %v", ok, versioned)
		}
	}
	add(first)
	shows(1, true)
	lock := first.path + ".lock"
	noError(t, os.Rename(lock, lock+".away"))
	second := open(t, Config{Path: first.path, Serve: true})
	add(second)
	if err := first.Ping(t.Context()); !petstore.IsCode(err, petstore.Unavailable) {
		t.Errorf("a ping says %v, want Unavailable", err)
	}
	shows(2, false)
	add(second)
	shows(3, false)
	noError(t, second.Close())

	noError(t, os.Rename(lock+".away", lock))
	noError(t, first.Ping(t.Context()))
	shows(3, false)
	add(first)
	shows(4, true)
}

// Every animal acknowledged before the file is moved is in the file, and no animal is acknowledged afterwards.
func TestAFileMovedUnderLoadHasEveryAcknowledgedAnimal(t *testing.T) {
	for range 5 {
		db := openNew(t)
		var newest atomic.Int64
		ended := make(chan error)
		const creators = 8
		for range creators {
			go func() {
				for range 10_000 {
					pet, _, err := db.CreatePet(t.Context(), rex, nil)
					if err != nil {
						ended <- err
						return
					}
					for id := newest.Load(); id < pet.ID && !newest.CompareAndSwap(id, pet.ID); id = newest.Load() {
					}
				}
				ended <- nil
			}()
		}
		for newest.Load() < 50 {
			noError(t, db.Ping(t.Context()))
		}
		away := filepath.Join(t.TempDir(), "away.db")
		noError(t, os.Rename(db.path, away))
		noError(t, os.Rename(db.path+"-wal", away+"-wal"))
		for range creators {
			if err := <-ended; !petstore.IsCode(err, petstore.Unavailable) && !petstore.IsCode(err, petstore.OutcomeUnknown) {
				t.Errorf("got %v, want Unavailable, or OutcomeUnknown for the last commit", err)
			}
		}
		noError(t, db.Close())
		kept := open(t, production(away))
		if _, err := kept.GetPet(t.Context(), newest.Load()); err != nil {
			t.Errorf("the animal %d was acknowledged: %v", newest.Load(), err)
		}
	}
}

func TestAWriteIsNotAcknowledgedIfTheFileIsMovedMeanwhile(t *testing.T) {
	db := openNew(t)
	err := db.write(t.Context(), func(w *writer) error {
		if _, err := w.addPets(rex); err != nil {
			return err
		}
		return os.Rename(db.path, db.path+".away")
	})
	if !petstore.IsCode(err, petstore.OutcomeUnknown) {
		t.Errorf("got %v, want OutcomeUnknown", err)
	}
}

func TestEveryCommitReachesTheDisk(t *testing.T) {
	db := openNew(t)
	w, err := db.writer.take(t.Context())
	noError(t, err)
	defer db.writer.give(w)
	for pragma, want := range map[string]string{
		"journal_mode":         "wal",
		"synchronous":          "2", // FULL: every commit reaches the disk
		"fullfsync":            "1",
		"checkpoint_fullfsync": "1",
		"journal_size_limit":   "8388608",
	} {
		if got, err := pragmaValue(w.conn, "PRAGMA "+pragma); err != nil || got != want {
			t.Errorf("%s is %s, want %s, %v", pragma, got, want, err)
		}
	}
}

// A database in memory cannot have a WAL.
func TestADatabaseThatCannotHaveAWALIsRefused(t *testing.T) {
	conn, err := sqlite3.OpenConn(":memory:", sqlite3.OpenReadWrite)
	noError(t, err)
	defer conn.Close()
	want := `the database cannot have a write-ahead log where it is (SQLite keeps the journal mode "memory"); put it on a local disk`
	if _, err := newWriter(t.Context(), conn); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %v", err, want)
	}
}
