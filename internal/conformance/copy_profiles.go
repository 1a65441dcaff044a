package conformance

import (
	"context"
	"fmt"
	"sync"

	"petstore/internal/petstore"
)

var copyProfileCases = []copyCase{
	{"profiles and photos are copied with their files, and the next copy brings their changes", func(t copyTest) {
		from, to := storageTest{t.checks, t.from}, storageTest{t.checks, t.to}
		var pets []petstore.Pet
		for i := range 250 { // more than one step
			pet := from.add(rex)
			from.updateProfile(pet.ID, withBreed(fmt.Sprint("Breed ", i)))
			from.addPhoto(pet.ID)
			pets = append(pets, pet)
		}
		from.updateProfile(pets[0].ID, withFacts(fullFacts))
		second := from.addPhoto(pets[0].ID)
		from.coverPhoto(pets[0].ID, second.ID)
		last := int64(0)
		_, err := petstore.Copy(t.Context(), t.from, t.to, func(kind string, done, _ int64) {
			if kind == "photos" {
				last = done
			}
		})
		t.noError(err)
		t.same("progress with photos", last, int64(251))
		t.sameContent()
		t.same("profile", to.profile(pets[0].ID), from.profile(pets[0].ID))
		t.same("large file", to.file(second.Token, petstore.LargePhoto), string(smallPhoto.Large))
		t.same("small file", to.file(second.Token, petstore.SmallPhoto), string(smallPhoto.Small))
		t.same("again", t.copyAll(), nothingDone)

		from.deletePhoto(pets[0].ID, second.ID)
		from.updateProfile(pets[1].ID, withBreed("Poodle"))
		from.patch(pets[2].ID, withName("Max"))
		from.noError(errorOf(t.from.DeletePet(t.Context(), pets[3].ID, nil)))
		from.updateProfile(from.add(rex).ID, withNotes("New."))
		t.same("what was done", t.copyAll()[4:7], []petstore.Tally{
			{Kind: "animals", Added: 1, Changed: 1, Removed: 1},
			{Kind: "profiles", Added: 1, Changed: 1},
			{Kind: "photos", Removed: 1},
		})
		t.sameContent()
	}},
	{"what only the target has is removed", func(t copyTest) {
		to := storageTest{t.checks, t.to}
		pet := to.add(rex)
		to.updateProfile(pet.ID, withFacts(fullFacts))
		photo := to.addPhoto(pet.ID)
		storageTest{t.checks, t.from}.add(rex)
		t.same("what was done", t.copyAll()[5:7], []petstore.Tally{{Kind: "profiles", Removed: 1}, {Kind: "photos", Removed: 1}})
		t.sameContent()
		_, err := t.to.PhotoFile(t.Context(), photo.Token, petstore.LargePhoto)
		to.refused(err, petstore.NotFound)
	}},
	{"the target never reuses the id of a photo", func(t copyTest) {
		from, to := storageTest{t.checks, t.from}, storageTest{t.checks, t.to}
		pet := from.add(rex)
		photo := from.addPhoto(pet.ID)
		from.deletePhoto(pet.ID, photo.ID)
		t.copyAll()
		if next := to.addPhoto(pet.ID); next.ID <= photo.ID {
			t.Errorf("a new photo got the id %d, and %d was given before", next.ID, photo.ID)
		}
	}},
	{"a copy goes on if a photo or an animal disappears meanwhile, and leaves no profile without its animal", func(t copyTest) {
		from := storageTest{t.checks, t.from}
		gone, kept := from.add(rex), from.add(rex)
		deleted := from.addPhoto(kept.ID)
		from.addPhoto(kept.ID)
		changes := &vanishingSource{Database: t.from, change: sync.OnceFunc(func() {
			from.noError(errorOf(t.from.DeletePet(t.Context(), gone.ID, nil)))
			from.deletePhoto(kept.ID, deleted.ID)
			late := from.add(rex)
			from.updateProfile(late.ID, withBreed("Beagle"))
			from.addPhoto(late.ID)
		})}
		_, err := petstore.Copy(t.Context(), changes, t.to, func(string, int64, int64) {})
		t.noError(err)
		profiles, err := t.to.StoredProfiles(t.Context(), petstore.StoredProfile{}, 10)
		t.noError(err)
		for _, p := range profiles {
			if _, err := t.to.GetPet(t.Context(), p.PetID); err != nil {
				t.Errorf("the profile of animal %d was copied without it: %v", p.PetID, err)
			}
		}
		photos, err := t.to.StoredPhotos(t.Context(), petstore.StoredPhoto{}, 10)
		t.noError(err)
		for _, p := range photos {
			if _, err := t.to.GetPet(t.Context(), p.PetID); err != nil {
				t.Errorf("the photo %d was copied without animal %d: %v", p.ID, p.PetID, err)
			}
		}
		t.copyAll()
		t.sameContent()
	}},
}

// vanishingSource is a storage that changes after the copy has read the animals and its photos.
type vanishingSource struct {
	petstore.Database
	change func()
}

func (s *vanishingSource) StoredPhotos(ctx context.Context, after petstore.StoredPhoto, limit int) ([]petstore.StoredPhoto, error) {
	photos, err := s.Database.StoredPhotos(ctx, after, limit)
	s.change()
	return photos, err
}

func (s *vanishingSource) StoredProfiles(ctx context.Context, after petstore.StoredProfile, limit int) ([]petstore.StoredProfile, error) {
	if after == (petstore.StoredProfile{}) {
		late, _, err := s.CreatePet(ctx, rex, nil)
		if err == nil {
			_, _, err = s.UpdateProfile(ctx, late.ID, withBreed("Late"), nil)
		}
		if err != nil {
			return nil, err
		}
	}
	return s.Database.StoredProfiles(ctx, after, limit)
}
