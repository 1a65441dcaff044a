package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// smallDisk mounts a file system of 4 MiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=4m")
	if errors.Is(err, syscall.EPERM) {
		testservice.Missing(t, "a small disk", "run the tests as root, who can mount one")
	}
	noError(t, err)
	t.Cleanup(func() { noError(t, syscall.Unmount(folder, 0)) })
	return folder
}

// fill takes all the room that is left on a disk and returns how to give it back.
func fill(t *testing.T, folder string) (free func()) {
	t.Helper()
	path := filepath.Join(folder, "filler")
	file, err := os.Create(path)
	noError(t, err)
	defer file.Close()
	for size := 1 << 20; size > 0; size /= 2 {
		for err = nil; err == nil; {
			_, err = file.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	return func() { noError(t, os.Remove(path)) }
}

func TestServerOutlivesAFullDisk(t *testing.T) {
	folder := smallDisk(t)
	path := filepath.Join(folder, "petstore.db")
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
		free := fill(t, folder)
		var err error
		for err == nil {
			err = add()
		}
		if !petstore.IsCode(err, petstore.Unavailable) {
			t.Fatalf("got %v, want Unavailable", err)
		}
		check()
		free()
		noError(t, add())
		check()
	}
	checkIntegrity(t, db)
	noError(t, db.Close())
	db = open(t, Config{Path: path})
	check()
}

func TestOpenRefusesAFullDisk(t *testing.T) {
	folder := smallDisk(t)
	path := filepath.Join(folder, "petstore.db")
	free := fill(t, folder)
	for range 2 {
		err := openOrCreate(path)
		if err == nil || !strings.HasPrefix(err.Error(), "the disk with "+path+" is full; make room") {
			t.Fatalf("got %v", err)
		}
		free()
		noError(t, openOrCreate(path)) // and once it exists
		free = fill(t, folder)
	}
}
