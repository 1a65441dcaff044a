package httpapi_test

import (
	"bytes"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"petstore/internal/petstore"
	"petstore/internal/sqlite"
	"petstore/internal/testservice"
)

func TestAPhotoForWhichTheDiskHasNoRoomIsUnavailable(t *testing.T) {
	disk := testservice.SmallDisk(t, 32<<20)
	storage, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(disk.Folder, "pets.db"), Environment: petstore.Production, Create: true, Serve: true})
	noError(t, err)
	t.Cleanup(func() { storage.Close() })
	s, key := withAnimal(t, on(storage))
	noise := image.NewGray(image.Rect(0, 0, 1280, 1280))
	rand.NewChaCha8([32]byte{}).Read(noise.Pix)
	var file bytes.Buffer
	noError(t, jpeg.Encode(&file, noise, nil))

	disk.FillExcept(t, 256<<10) // room for a part of the photo
	refused := s.addPhoto(key, file.Bytes())
	refused.is(t, 503, "unavailable")
	refused.has(t, "Retry-After", "1")
	stored, err := storage.PhotoBytes(t.Context())
	noError(t, err)
	if photos := s.profile(1).Photos; len(photos) > 0 || stored > 0 {
		t.Errorf("the refused photo left %v and %d bytes", photos, stored)
	}

	disk.Free(t)
	added := s.addPhoto(key, file.Bytes())
	added.is(t, 201, "")
	shown := s.get("", "/photos/"+tokenOf.FindString(added.body)+"/1280.jpg")
	shown.is(t, 200, "")
	if len(shown.body) < 512<<10 {
		t.Fatalf("the photo has only %d bytes, so it fitted on the full disk", len(shown.body))
	}
}
