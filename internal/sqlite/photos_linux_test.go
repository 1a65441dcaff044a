package sqlite

import (
	"path/filepath"
	"testing"

	"petstore/internal/petstore"
	"petstore/internal/testservice"
)

func TestAFullDiskStoresNoHalfPhoto(t *testing.T) {
	disk := testservice.SmallDisk(t, 16<<20)
	db := open(t, Config{Path: filepath.Join(disk.Folder, "petstore.db"), Create: true, Serve: true})
	photos := addPhotos(t, db, 1, 500_000)
	large := petstore.NewPhoto{Width: 4, Height: 3, Large: make([]byte, 4<<20), Small: make([]byte, 1000)}
	for range 3 {
		pet, _, err := db.CreatePet(t.Context(), rex, nil)
		noError(t, err)
		disk.FillExcept(t, 512<<10) // room for a part of the photo
		_, _, err = db.AddPhoto(t.Context(), pet.ID, large, nil)
		if !petstore.IsCode(err, petstore.Unavailable) {
			t.Fatalf("got %v, want Unavailable", err)
		}
		disk.Free(t)
		stored, err := db.StoredPhotos(t.Context(), petstore.StoredPhoto{}, 100)
		noError(t, err)
		if len(stored) != len(photos) {
			t.Fatalf("%d photos, %d were acknowledged", len(stored), len(photos))
		}
		for id, photo := range addPhotos(t, db, 1, 1000) {
			photos[id] = photo
		}
		for _, photo := range photos {
			_, err := db.PhotoFile(t.Context(), photo.Token, petstore.LargePhoto)
			noError(t, err)
		}
	}
	checkIntegrity(t, db)
}
