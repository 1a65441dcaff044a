package sqlite

import (
	"bytes"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	sqlite3 "zombiezen.com/go/sqlite"

	"petstore/internal/petstore"
)

// addPhotos adds a photo of that size to each of n new animals, and returns the photos by their animals.
func addPhotos(t *testing.T, db *DB, n, size int) map[int64]petstore.Photo {
	t.Helper()
	photos := make(map[int64]petstore.Photo)
	for i := range n {
		pet, _, err := db.CreatePet(t.Context(), rex, nil)
		noError(t, err)
		file := bytes.Repeat([]byte{byte(i)}, size)
		photos[pet.ID], _, err = db.AddPhoto(t.Context(), pet.ID, petstore.NewPhoto{Width: 4, Height: 3, Large: file, Small: file[:size/10]}, nil)
		noError(t, err)
	}
	return photos
}

func TestABackupHasProfilesAndPhotos(t *testing.T) {
	database, backup := filepath.Join(t.TempDir(), "pets.db"), filepath.Join(t.TempDir(), "backup.db")
	db := open(t, Config{Path: database, Create: true, Serve: true})
	photos := addPhotos(t, db, 20, 300_000)
	breed := "Beagle"
	want, _, err := db.UpdateProfile(t.Context(), 1, petstore.ProfilePatch{Breed: &breed}, nil)
	noError(t, err)
	noError(t, Backup(t.Context(), production(database), backup, noProgress))
	noError(t, db.Close())

	restored := open(t, production(backup))
	got, err := restored.GetProfile(t.Context(), 1)
	noError(t, err)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, photo := range photos {
		file, err := restored.PhotoFile(t.Context(), photo.Token, petstore.LargePhoto)
		noError(t, err)
		if len(file) != 300_000 {
			t.Errorf("photo %d has %d bytes", photo.ID, len(file))
		}
	}
}

// A page of profiles reads no table from end to end, and the sum of the sizes reads only an index.
func TestProfilesAndSizesAreReadByIndexes(t *testing.T) {
	db := openNew(t)
	for statement, want := range map[string]string{
		selectProfiles: "SEARCH photos USING INDEX photos_by_pet",
		sumPhotoBytes:  "SCAN photos USING COVERING INDEX photos_by_pet",
	} {
		var plan strings.Builder
		noError(t, db.read(t.Context(), func(conn *sqlite3.Conn) error {
			return query(conn, func(row *sqlite3.Stmt) { plan.WriteString(row.ColumnText(3) + "\n") }, "EXPLAIN QUERY PLAN "+strings.ReplaceAll(statement, "?1", "'[1]'"))
		}))
		if got := plan.String(); !strings.Contains(got, want) || strings.Contains(got, "SCAN pets") || strings.Contains(got, "SCAN profiles") {
			t.Errorf("the plan is\n%s", got)
		}
	}
}
