package sqlite

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"petstore/internal/petstore"
)

func noProgress(int64, int64) {}

func production(path string) Config {
	return Config{Path: path, Environment: petstore.Production}
}

// newWithBackup creates a database with the given number of animals, and makes a backup of the database.
func newWithBackup(t *testing.T, pets int) (database, backup string) {
	t.Helper()
	database, backup = filepath.Join(t.TempDir(), "pets.db"), filepath.Join(t.TempDir(), "backup.db")
	db := open(t, Config{Path: database, Create: true})
	fillPets(t, db, pets)
	noError(t, Backup(t.Context(), production(database), backup, noProgress))
	noError(t, db.Close())
	return database, backup
}

func fillPets(t *testing.T, db *DB, pets int) {
	t.Helper()
	batch := make([]change, pets)
	for i := range batch {
		batch[i].pet = petstore.NewPet{Name: fmt.Sprintf("Pet %d", i), Status: petstore.Sold}
	}
	_, err := db.commitBatch(batch)
	noError(t, err)
}

func countPets(t *testing.T, path string) int64 {
	t.Helper()
	db := open(t, production(path))
	defer db.Close()
	return countPetsIn(t, db)
}

// countPetsIn counts the animals in db by listing all of them.
func countPetsIn(t *testing.T, db *DB) int64 {
	t.Helper()
	pets, err := db.ListPets(t.Context(), petstore.PetQuery{Limit: math.MaxInt32})
	noError(t, err)
	return int64(len(pets))
}

func TestABackupContainsEveryAnimalAcknowledgedBeforeIt(t *testing.T) {
	database, backup := filepath.Join(t.TempDir(), "pets.db"), filepath.Join(t.TempDir(), "backup.db")
	server := open(t, Config{Path: database, Create: true, Serve: true})
	fillPets(t, server, 100)
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for ctx.Err() == nil {
				server.CreatePet(ctx, petstore.NewPet{Name: "meanwhile", Status: petstore.Sold}, nil)
			}
		})
	}
	if err := Backup(t.Context(), production(database), backup, noProgress); err != nil {
		t.Error(err)
	}
	stop()
	writers.Wait()
	if n := countPets(t, backup); n < 100 {
		t.Errorf("the backup has %d animals", n)
	}
	if err := Backup(t.Context(), production(database), backup, noProgress); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a backup to an existing file: %v", err)
	}
}

func TestAFailedBackupNamesTheFileAtFault(t *testing.T) {
	database, _ := newWithBackup(t, 2000)
	dir := t.TempDir()
	backUp := func(target, want string) {
		t.Helper()
		err := Backup(t.Context(), production(database), target, noProgress)
		if err == nil || err.Error() != want {
			t.Errorf("said  %v\nwant %s", err, want)
		}
		if _, err := os.Stat(target); err == nil {
			t.Errorf("the failed backup left %s", target)
		}
	}
	folder := filepath.Join(dir, "none")
	backUp(filepath.Join(folder, "backup.db"), "the folder "+folder+" does not exist; create it, or choose another file for the backup")
	noError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	unwritable := filepath.Join(dir, "file", "backup.db")
	backUp(unwritable, "petstore cannot write "+unwritable+"; choose another file, or let the user that runs petstore write in its folder")

	content, err := os.ReadFile(database)
	noError(t, err)
	for i := len(content) / 2; i < len(content)/2+8192; i++ {
		content[i] ^= 0xa5
	}
	noError(t, os.WriteFile(database, content, 0o600))
	backUp(filepath.Join(dir, "backup.db"), "the database "+database+" is damaged; restore it from a backup with petstore restore")
}

// If an old WAL lay beside the new backup, SQLite would apply the WAL when it opens the backup.
func TestABackupIsRefusedBesideTheFilesOfAnOlderDatabase(t *testing.T) {
	database, backup := newWithBackup(t, 5)
	noError(t, os.Remove(backup))
	for _, suffix := range companionSuffixes {
		left := backup + suffix
		noError(t, os.WriteFile(left, []byte("its content"), 0o600))
		want := left + " belongs to an older database " + backup + ", and SQLite would take it for part of the new one; move it away, or choose another name"
		if err := Backup(t.Context(), production(database), backup, noProgress); err == nil || err.Error() != want {
			t.Errorf("said %v\nwant %s", err, want)
		}
		if content, err := os.ReadFile(left); string(content) != "its content" {
			t.Errorf("%s holds %q, %v", left, content, err)
		}
		noError(t, os.Remove(left))
	}
	noError(t, Backup(t.Context(), production(database), backup, noProgress))
}

func TestOnlyOneOfSeveralBackupsGetsTheName(t *testing.T) {
	database, _ := newWithBackup(t, 5000)
	for range 3 {
		backup := filepath.Join(t.TempDir(), "same.db")
		results := make(chan error, 4)
		for range cap(results) {
			go func() { results <- Backup(t.Context(), production(database), backup, noProgress) }()
		}
		made := 0
		for range cap(results) {
			if err := <-results; err == nil {
				made++
			} else if !strings.Contains(err.Error(), "overwrites nothing") {
				t.Errorf("a refused backup says: %v", err)
			}
		}
		if n := countPets(t, backup); made != 1 || n != 5000 {
			t.Errorf("%d backups were made, and the file has %d animals", made, n)
		}
	}
}
