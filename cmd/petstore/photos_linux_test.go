package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

// The photos of this test have 240 MB in all, so that a command that holds all of them in memory is noticed.
func TestManyPhotosAreBackedUpRestoredAndCopiedInBoundedMemory(t *testing.T) {
	t.Parallel()
	const animals, maxMemory = 1000, 128 << 20
	folder := t.TempDir()
	database, backup := "sqlite:"+filepath.Join(folder, "pets.db"), filepath.Join(folder, "backup.db")
	withStorage(t, database, func(storage petstore.Database) error {
		random := rand.NewChaCha8([32]byte{})
		for range animals {
			pet, _, err := storage.CreatePet(t.Context(), petstore.NewPet{Name: "Rex", CategoryID: 1, Status: petstore.Available}, nil)
			if err != nil {
				return err
			}
			for range petstore.MaxPhotos {
				photo := petstore.NewPhoto{Width: 4, Height: 3, Large: make([]byte, 25_000), Small: make([]byte, 5_000)}
				random.Read(photo.Large)
				random.Read(photo.Small)
				if _, _, err := storage.AddPhoto(t.Context(), pet.ID, photo, nil); err != nil {
					return err
				}
			}
		}
		return nil
	})
	want := photosIn(t, database)
	if count := fmt.Sprint(animals*petstore.MaxPhotos, " photos, "); !strings.HasPrefix(want, count) {
		t.Fatalf("the database has %s", want)
	}

	// boundedly runs a command, and fails the test if it takes more memory than allowed.
	boundedly := func(args ...string) (stderr string) {
		t.Helper()
		command := testservice.Command(t, args...)
		said, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("petstore %s: %v\n%s", args[0], err, said)
		}
		if peak := command.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10; peak > maxMemory {
			t.Errorf("petstore %s took %d MiB", args[0], peak>>20)
		}
		return string(said)
	}
	restored := "sqlite:" + filepath.Join(folder, "restored.db")
	boundedly("backup", backup, "--database", database)
	boundedly("restore", backup, "--database", restored)
	if got := photosIn(t, restored); got != want {
		t.Errorf("restored were %s, want %s", got, want)
	}
	for _, to := range []string{testservice.Postgres(t), testservice.NewDatabase(t)} {
		for _, says := range []string{"Copied photos: 8000 added, 0 changed, 0 removed", "Copied photos: 0 added, 0 changed, 0 removed"} {
			if said := boundedly("copy", "--from", database, "--to", to); !strings.Contains(said, says) {
				t.Errorf("copy said %s", said)
			}
		}
		if got := photosIn(t, to); got != want {
			t.Errorf("copied were %s, want %s", got, want)
		}
		database = to // the second copy comes from PostgreSQL
	}
}

// photosIn returns how many photos a database has, and a hash of them and of their files.
func photosIn(t *testing.T, database string) string {
	t.Helper()
	count, content := 0, sha256.New()
	withStorage(t, database, func(storage petstore.Database) error {
		var after petstore.StoredPhoto
		for {
			photos, err := storage.StoredPhotos(t.Context(), after, 1000)
			if err != nil || len(photos) == 0 {
				return err
			}
			for _, photo := range photos {
				if err := addPhoto(t, content, storage, photo); err != nil {
					return err
				}
			}
			count, after = count+len(photos), photos[len(photos)-1]
		}
	})
	return fmt.Sprintf("%d photos, %x", count, content.Sum(nil))
}

func addPhoto(t *testing.T, content hash.Hash, storage petstore.Database, photo petstore.StoredPhoto) error {
	t.Helper()
	binary.Write(content, binary.BigEndian, []int64{photo.ID, photo.PetID, photo.CreatedAt.UnixMilli()})
	for _, size := range []petstore.PhotoSize{petstore.LargePhoto, petstore.SmallPhoto} {
		file, err := storage.PhotoFile(t.Context(), photo.Token, size)
		if err != nil {
			return err
		}
		content.Write(file)
	}
	return nil
}
