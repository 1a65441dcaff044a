package sqlite

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

func TestAServerSurvivesAFullDisk(t *testing.T) {
	disk := testservice.SmallDisk(t, 4<<20)
	path := filepath.Join(disk.Folder, "petstore.db")
	db := open(t, Config{Path: path, Create: true, Serve: true})
	stored := 0
	add := func() error {
		_, _, err := db.CreatePet(t.Context(), big, nil)
		if err == nil {
			stored++
		}
		return err
	}
	check := func() {
		t.Helper()
		pets, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 10_000})
		noError(t, err)
		if len(pets) != stored {
			t.Fatalf("%d animals, %d were acknowledged", len(pets), stored)
		}
	}
	noError(t, add())
	for range 3 {
		disk.Fill(t)
		var err error
		for err == nil {
			err = add()
		}
		if !petstore.IsCode(err, petstore.Unavailable) {
			t.Fatalf("got %v, want Unavailable", err)
		}
		check()
		if found := petsAfterCrash(t, path); found != stored {
			t.Fatalf("after a crash there are %d animals, %d were acknowledged", found, stored)
		}
		disk.Free(t)
		noError(t, add())
		check()
	}
	checkIntegrity(t, db)
	noError(t, db.Close())
	db = open(t, Config{Path: path})
	check()
}

// petsAfterCrash returns how many animals a new process would find if this process crashed now.
func petsAfterCrash(t *testing.T, path string) int {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "petstore.db")
	for _, end := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + end)
		noError(t, err)
		noError(t, os.WriteFile(copied+end, content, 0o600))
	}
	db := open(t, Config{Path: copied})
	pets, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: 10_000})
	noError(t, err)
	return len(pets)
}

// A commit that fails with an I/O error may be complete in the WAL, where SQLite may find it after a crash. The test uses
// another process, because a limit on file sizes applies to every file that a process writes.
func TestACommitThatFailsWithAnIOErrorMayHaveHappened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "petstore.db")
	if out, err := otherProcess(t, "meet the end of a file", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	checkIntegrity(t, open(t, production(path)))
}

func init() { roles["meet the end of a file"] = meetEndOfFile }

// meetEndOfFile limits the size of files to the current size of the WAL, and then writes. The writes fail with an I/O
// error, not with the error for a full disk.
func meetEndOfFile(path string) error {
	ctx := context.Background()
	db, err := Open(ctx, Config{Path: path, Environment: petstore.Production, Create: true, Serve: true})
	if err != nil {
		return err
	}
	if _, _, err := db.CreatePet(ctx, rex, nil); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(db.WALSize()), Max: before.Max}); err != nil {
		return err
	}
	_, _, created := db.CreatePet(ctx, rex, nil)
	key := db.CreateKey(ctx, petstore.NewKey("ci", petstore.Free, limits, time.Now(), petstore.Forever), petstore.HashSecret("ci"), petstore.KeyRequest{})
	_, batch := db.commitBatch([]change{{pet: rex}, {pet: rex}})
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	for _, err := range []error{created, key, batch} {
		if !petstore.IsCode(err, petstore.OutcomeUnknown) || sqlite3.ErrCode(err).ToPrimary() != sqlite3.ResultIOErr {
			return fmt.Errorf("got %v, want a refusal with the code %s", err, petstore.OutcomeUnknown)
		}
	}
	if _, _, err := db.CreatePet(ctx, rex, nil); err != nil {
		return err
	}
	return db.Close()
}

func TestOpenRefusesAFullDisk(t *testing.T) {
	disk := testservice.SmallDisk(t, 4<<20)
	path := filepath.Join(disk.Folder, "petstore.db")
	disk.Fill(t)
	for range 2 {
		err := openOrCreate(path)
		if err == nil || !strings.HasPrefix(err.Error(), "the disk with "+path+" is full; make room") {
			t.Fatalf("got %v", err)
		}
		disk.Free(t)
		noError(t, openOrCreate(path)) // in the second round, the database exists
		disk.Fill(t)
	}
}
