package conformance

import (
	"fmt"
	"math"
	"strings"

	"petstore/internal/petstore"
)

// fullFacts has every fact, with the longest texts of the widest characters.
var fullFacts = petstore.Facts{
	Breed: strings.Repeat("🐕", petstore.MaxBreedLength), Sex: petstore.Female, BornOn: "2024-05", ArrivedOn: "2026-02-28",
	Description: "Kind.\n\t" + strings.Repeat("é", 9000), Tags: petstore.NewTags([]string{"shy", `good "with" cats, dogs; 100 %`, "日本"}), Notes: "Bites 'sometimes'.\r\n<b>",
}

// withFacts returns the patch that sets every fact.
func withFacts(f petstore.Facts) petstore.ProfilePatch {
	return petstore.ProfilePatch{Breed: &f.Breed, Sex: &f.Sex, BornOn: &f.BornOn, ArrivedOn: &f.ArrivedOn, Description: &f.Description, Tags: &f.Tags, Notes: &f.Notes}
}

func withBreed(breed string) petstore.ProfilePatch { return petstore.ProfilePatch{Breed: &breed} }

func withNotes(notes string) petstore.ProfilePatch { return petstore.ProfilePatch{Notes: &notes} }

func (t storageTest) profile(petID int64) petstore.Profile {
	t.Helper()
	profile, err := t.GetProfile(t.Context(), petID)
	t.noError(err)
	return profile
}

// updateProfile changes a profile and checks that the storage has what the answer says.
func (t storageTest) updateProfile(petID int64, patch petstore.ProfilePatch) petstore.Profile {
	t.Helper()
	profile, _, err := t.UpdateProfile(t.Context(), petID, patch, nil)
	t.noError(err)
	t.same("got after the patch", t.profile(petID), profile)
	return profile
}

var profileCases = []storageCase{
	{"the profile of an animal is empty until something is set", func(t storageTest) {
		pet := t.add(rex)
		t.same("profile", t.profile(pet.ID), petstore.Profile{})
		t.same("an empty patch", t.updateProfile(pet.ID, petstore.ProfilePatch{}), petstore.Profile{})
	}},
	{"a patch of a profile changes the facts it names and leaves the rest", func(t storageTest) {
		pet, other := t.add(rex), t.add(tom)
		want := petstore.Profile{Facts: fullFacts}
		t.same("every fact", t.updateProfile(pet.ID, withFacts(fullFacts)), want)
		want.Breed = "Beagle"
		t.same("a breed", t.updateProfile(pet.ID, withBreed("Beagle")), want)
		want.Notes = ""
		t.same("no notes", t.updateProfile(pet.ID, withNotes("")), want)
		t.same("an empty patch", t.updateProfile(pet.ID, petstore.ProfilePatch{}), want)
		t.same("nothing", t.updateProfile(pet.ID, withFacts(petstore.Facts{})), petstore.Profile{})
		t.same("of another animal", t.profile(other.ID), petstore.Profile{})
		t.same("the animals", t.all(), []petstore.Pet{other, pet})
	}},
	{"an animal that does not exist has no profile", func(t storageTest) {
		pet := t.add(rex)
		for _, id := range []int64{0, -1, pet.ID + 1, petstore.MaxID, math.MaxInt64} {
			_, err := t.GetProfile(t.Context(), id)
			t.refused(err, petstore.NotFound)
			_, _, err = t.UpdateProfile(t.Context(), id, withBreed("Beagle"), nil)
			t.refused(err, petstore.NotFound)
		}
	}},
	{"the profiles of several animals come together, those of missing animals are left out", func(t storageTest) {
		a, b, c := t.add(rex), t.add(tom), t.add(rex)
		t.updateProfile(a.ID, withFacts(fullFacts))
		photo := t.addPhoto(c.ID)
		got, err := t.Profiles(t.Context(), []int64{a.ID, b.ID, c.ID, c.ID + 1, -5})
		t.noError(err)
		t.same("profiles", got, map[int64]petstore.Profile{a.ID: {Facts: fullFacts}, b.ID: {}, c.ID: {Photos: []petstore.Photo{photo}}})
		got, err = t.Profiles(t.Context(), nil)
		t.noError(err)
		t.same("of no animals", len(got), 0)
	}},
	{"a profile is deleted with its animal, and the next animal does not inherit it", func(t storageTest) {
		for _, o := range []*petstore.Idempotency{nil, idempotency("k", 1)} {
			pet := t.add(rex)
			t.updateProfile(pet.ID, withFacts(fullFacts))
			t.noError(errorOf(t.DeletePet(t.Context(), pet.ID, o)))
			_, err := t.GetProfile(t.Context(), pet.ID)
			t.refused(err, petstore.NotFound)
			t.same("the next animal's", t.profile(t.add(rex).ID), petstore.Profile{})
		}
		stored, err := t.StoredProfiles(t.Context(), petstore.StoredProfile{}, 10)
		t.noError(err)
		t.same("stored profiles", len(stored), 0)
	}},
	{"a refused delete leaves the profile as it is", func(t storageTest) {
		pet := t.add(rex)
		want := t.updateProfile(pet.ID, withFacts(fullFacts))
		t.place(pet.ID)
		t.refused(errorOf(t.DeletePet(t.Context(), pet.ID, nil)), petstore.PetReserved)
		t.same("profile", t.profile(pet.ID), want)
	}},
	{"changes of an animal and its orders leave its profile as it is", func(t storageTest) {
		pet := t.add(rex)
		want := t.updateProfile(pet.ID, withFacts(fullFacts))
		t.patch(pet.ID, withName("Max"))
		t.closeOrder(t.place(pet.ID).ID, petstore.Completed)
		t.same("profile", t.profile(pet.ID), want)
	}},
	{"concurrent patches of different facts all take effect", func(t storageTest) {
		pet := t.add(rex)
		sex := petstore.Male
		patches := []petstore.ProfilePatch{withBreed("Beagle"), withNotes("Bites."), {Sex: &sex}}
		for range 10 {
			t.updateProfile(pet.ID, withFacts(petstore.Facts{}))
			t.concurrently(len(patches), func(i int) error {
				_, _, err := t.UpdateProfile(t.Context(), pet.ID, patches[i], nil)
				return err
			})
			t.same("profile", t.profile(pet.ID).Facts, petstore.Facts{Breed: "Beagle", Notes: "Bites.", Sex: sex})
		}
	}},
	{"a profile never outlives an animal that is deleted at the same time", func(t storageTest) {
		for range 20 {
			pet := t.add(rex)
			t.concurrently(3, func(i int) error {
				var err error
				switch i {
				case 0:
					_, err = t.DeletePet(t.Context(), pet.ID, nil)
					return err
				case 1:
					_, _, err = t.UpdateProfile(t.Context(), pet.ID, withBreed("Beagle"), nil)
				case 2:
					_, _, err = t.AddPhoto(t.Context(), pet.ID, smallPhoto, nil)
				}
				if petstore.IsCode(err, petstore.NotFound) {
					err = nil
				}
				return err
			})
		}
		profiles, err := t.StoredProfiles(t.Context(), petstore.StoredProfile{}, 10)
		t.noError(err)
		photos, err := t.StoredPhotos(t.Context(), petstore.StoredPhoto{}, 10)
		t.noError(err)
		t.same("left", fmt.Sprint(profiles, photos), "[] []")
	}},
	{"a repeat of a patch with a large answer shows the profile as it is then", func(t storageTest) {
		pet := t.add(rex)
		large := fullFacts
		large.Notes = strings.Repeat("é", petstore.MaxDescriptionLength)
		first, replayed, err := t.UpdateProfile(t.Context(), pet.ID, withFacts(large), idempotency("k", 1))
		t.noError(err)
		t.same("first", first, petstore.Profile{Facts: large})
		t.same("replayed", replayed, false)
		now := t.updateProfile(pet.ID, withBreed("Poodle"))
		again, replayed, err := t.UpdateProfile(t.Context(), pet.ID, withFacts(large), idempotency("k", 1))
		t.noError(err)
		t.same("again", again, now)
		t.same("replayed", replayed, true)
		_, _, err = t.UpdateProfile(t.Context(), pet.ID, withFacts(large), idempotency("k", 2))
		t.refused(err, petstore.IdempotencyConflict)
		t.noError(errorOf(t.DeletePet(t.Context(), pet.ID, nil)))
		_, _, err = t.UpdateProfile(t.Context(), pet.ID, withFacts(large), idempotency("k", 1))
		t.refused(err, petstore.NotFound)
	}},
}
