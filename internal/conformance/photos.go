package conformance

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"time"

	"petstore/internal/petstore"
)

// smallPhoto stands for a photo. No storage looks into the files.
var smallPhoto = petstore.NewPhoto{Width: 1280, Height: 960, Large: []byte("\xff\xd8 large \x00"), Small: []byte("\xff\xd8 small")}

func (t storageTest) addPhoto(petID int64) petstore.Photo {
	t.Helper()
	photo, _, err := t.AddPhoto(t.Context(), petID, smallPhoto, nil)
	t.noError(err)
	return photo
}

func (t storageTest) coverPhoto(petID, photoID int64) petstore.Profile {
	t.Helper()
	profile, _, err := t.CoverPhoto(t.Context(), petID, photoID, nil)
	t.noError(err)
	t.same("got after the cover", t.profile(petID), profile)
	return profile
}

func (t storageTest) deletePhoto(petID, photoID int64) {
	t.Helper()
	t.noError(errorOf(t.DeletePhoto(t.Context(), petID, photoID, nil)))
}

// expectPhotos checks the photos of an animal, in their order.
func (t storageTest) expectPhotos(petID int64, want ...petstore.Photo) {
	t.Helper()
	t.same("photos", append([]petstore.Photo{}, t.profile(petID).Photos...), append([]petstore.Photo{}, want...))
}

func (t storageTest) file(token string, size petstore.PhotoSize) string {
	t.Helper()
	file, err := t.PhotoFile(t.Context(), token, size)
	t.noError(err)
	return string(file)
}

var photoCases = []storageCase{
	{"a photo is stored with its two files", func(t storageTest) {
		pet := t.add(rex)
		photo := t.addPhoto(pet.ID)
		if photo.ID < 1 || photo.ID > petstore.MaxID || !petstore.CanBePhotoToken(photo.Token) || photo.Width != 1280 || photo.Height != 960 {
			t.Fatalf("got %+v", photo)
		}
		if at := photo.CreatedAt; time.Since(at).Abs() > time.Minute || !at.Equal(at.Truncate(time.Millisecond)) || at.Location() != time.UTC {
			t.Fatalf("it was created at %v", at)
		}
		t.expectPhotos(pet.ID, photo)
		t.same("large", t.file(photo.Token, petstore.LargePhoto), string(smallPhoto.Large))
		t.same("small", t.file(photo.Token, petstore.SmallPhoto), string(smallPhoto.Small))
	}},
	{"files of a megabyte are stored whole", func(t storageTest) {
		large := bytes.Repeat([]byte("\x00\xff'\\"), 1<<18)
		photo, _, err := t.AddPhoto(t.Context(), t.add(rex).ID, petstore.NewPhoto{Width: 1, Height: 1, Large: large, Small: []byte("s")}, nil)
		t.noError(err)
		t.same("large", t.file(photo.Token, petstore.LargePhoto) == string(large), true)
	}},
	{"a token that no photo has finds nothing", func(t storageTest) {
		for _, token := range []string{"", "00000000000000000000000000000000", "'"} {
			_, err := t.PhotoFile(t.Context(), token, petstore.LargePhoto)
			t.refused(err, petstore.NotFound)
		}
	}},
	{"photos come in the order in which they were added, the cover first", func(t storageTest) {
		pet := t.add(rex)
		a, b, c := t.addPhoto(pet.ID), t.addPhoto(pet.ID), t.addPhoto(pet.ID)
		t.expectPhotos(pet.ID, a, b, c)
		t.coverPhoto(pet.ID, c.ID)
		t.expectPhotos(pet.ID, c, a, b)
		t.coverPhoto(pet.ID, b.ID)
		t.coverPhoto(pet.ID, b.ID)
		t.expectPhotos(pet.ID, b, a, c)
		d := t.addPhoto(pet.ID)
		t.expectPhotos(pet.ID, b, a, c, d)
		t.updateProfile(pet.ID, withBreed("Beagle"))
		t.expectPhotos(pet.ID, b, a, c, d)
	}},
	{"when the cover is deleted, the earliest of the others takes its place", func(t storageTest) {
		pet := t.add(rex)
		a, b, c := t.addPhoto(pet.ID), t.addPhoto(pet.ID), t.addPhoto(pet.ID)
		t.coverPhoto(pet.ID, c.ID)
		t.deletePhoto(pet.ID, c.ID)
		t.expectPhotos(pet.ID, a, b)
		t.deletePhoto(pet.ID, a.ID)
		t.expectPhotos(pet.ID, b)
		d := t.addPhoto(pet.ID)
		t.expectPhotos(pet.ID, b, d)
	}},
	{"a deleted photo is gone, and its id and token are not used again", func(t storageTest) {
		pet := t.add(rex)
		photo := t.addPhoto(pet.ID)
		t.deletePhoto(pet.ID, photo.ID)
		t.expectPhotos(pet.ID)
		for _, size := range []petstore.PhotoSize{petstore.LargePhoto, petstore.SmallPhoto} {
			_, err := t.PhotoFile(t.Context(), photo.Token, size)
			t.refused(err, petstore.NotFound)
		}
		t.refused(errorOf(t.DeletePhoto(t.Context(), pet.ID, photo.ID, nil)), petstore.NotFound)
		if next := t.addPhoto(pet.ID); next.ID <= photo.ID || next.Token == photo.Token {
			t.Fatalf("after %+v comes %+v", photo, next)
		}
	}},
	{"a photo belongs to one animal", func(t storageTest) {
		pet, other := t.add(rex), t.add(tom)
		photo := t.addPhoto(pet.ID)
		for _, id := range []int64{other.ID, other.ID + 1} {
			_, _, err := t.CoverPhoto(t.Context(), id, photo.ID, nil)
			t.refused(err, petstore.NotFound)
			t.refused(errorOf(t.DeletePhoto(t.Context(), id, photo.ID, nil)), petstore.NotFound)
		}
		t.expectPhotos(pet.ID, photo)
		_, _, err := t.AddPhoto(t.Context(), other.ID+1, smallPhoto, nil)
		t.refused(err, petstore.NotFound)
	}},
	{"photos are deleted with their animal", func(t storageTest) {
		kept := t.addPhoto(t.add(rex).ID)
		for _, o := range []*petstore.Idempotency{nil, idempotency("k", 1)} {
			pet := t.add(rex)
			photo := t.addPhoto(pet.ID)
			t.coverPhoto(pet.ID, photo.ID)
			t.noError(errorOf(t.DeletePet(t.Context(), pet.ID, o)))
			_, err := t.PhotoFile(t.Context(), photo.Token, petstore.LargePhoto)
			t.refused(err, petstore.NotFound)
		}
		t.same("of another animal", t.file(kept.Token, petstore.SmallPhoto), string(smallPhoto.Small))
	}},
	{"an animal has at most eight photos, also when many are added at once", func(t storageTest) {
		pet := t.add(rex)
		var added, refused atomic.Int64
		t.concurrently(2*petstore.MaxPhotos, func(int) error {
			_, _, err := t.AddPhoto(t.Context(), pet.ID, smallPhoto, nil)
			switch {
			case petstore.IsCode(err, petstore.TooManyPhotos):
				refused.Add(1)
				return nil
			case err == nil:
				added.Add(1)
			}
			return err
		})
		t.same("added and refused", fmt.Sprint(added.Load(), refused.Load()), "8 8")
		photos := t.profile(pet.ID).Photos
		t.same("photos", len(photos), petstore.MaxPhotos)
		_, _, err := t.AddPhoto(t.Context(), pet.ID, smallPhoto, nil)
		t.refused(err, petstore.TooManyPhotos)
		t.deletePhoto(pet.ID, photos[3].ID)
		t.addPhoto(pet.ID)
	}},
	{"the bytes of all photos are counted", func(t storageTest) {
		count := func() int64 {
			n, err := t.PhotoBytes(t.Context())
			t.noError(err)
			return n
		}
		t.same("none", count(), int64(0))
		one := int64(len(smallPhoto.Large) + len(smallPhoto.Small))
		pet, other := t.add(rex), t.add(rex)
		photo := t.addPhoto(pet.ID)
		t.addPhoto(pet.ID)
		t.addPhoto(other.ID)
		t.same("three", count(), 3*one)
		t.deletePhoto(pet.ID, photo.ID)
		t.same("two", count(), 2*one)
		t.noError(errorOf(t.DeletePet(t.Context(), pet.ID, nil)))
		t.same("one", count(), one)
	}},
	{"nothing is stored for a caller that has given up before", func(t storageTest) {
		pet := t.add(rex)
		photo := t.addPhoto(pet.ID)
		_, _, err := t.AddPhoto(canceledContext(), pet.ID, smallPhoto, nil)
		t.refused(err, petstore.Unavailable)
		_, _, err = t.UpdateProfile(canceledContext(), pet.ID, withBreed("Beagle"), nil)
		t.refused(err, petstore.Unavailable)
		t.refused(errorOf(t.DeletePhoto(canceledContext(), pet.ID, photo.ID, nil)), petstore.Unavailable)
		t.same("profile", t.profile(pet.ID), petstore.Profile{Photos: []petstore.Photo{photo}})
	}},
}
