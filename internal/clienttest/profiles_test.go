package clienttest

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"petstore/client"
	"petstore/internal/petstore"
)

// jpegFile returns the file of a photo of that size.
func jpegFile(t *testing.T, width, height int) *bytes.Reader {
	t.Helper()
	var file bytes.Buffer
	noError(t, jpeg.Encode(&file, image.NewGray(image.Rect(0, 0, width, height)), nil))
	return bytes.NewReader(file.Bytes())
}

// named returns the names of animals.
func named(pets []client.Pet) (names []string) {
	for _, pet := range pets {
		names = append(names, pet.Name)
	}
	return names
}

func TestAnimalsAreFoundByWordsAndCategory(t *testing.T) {
	store, _ := online(t)
	ctx := t.Context()
	for i, name := range []string{"Biscuit the Beagle", "Ébène", "Beatrix & Co", "Bee"} {
		must(store.CreatePet(ctx, client.NewPet{Name: name, CategoryID: int64(i % 2)}))(t)
	}
	for _, c := range []struct {
		query client.PetQuery
		want  []string
	}{
		{client.PetQuery{Search: "bea"}, []string{"Beatrix & Co", "Biscuit the Beagle"}},
		{client.PetQuery{Search: "bea BISC"}, []string{"Biscuit the Beagle"}},
		{client.PetQuery{Search: "EBEN"}, []string{"Ébène"}},
		{client.PetQuery{Search: "x & co"}, nil},
		{client.PetQuery{Search: "& co"}, []string{"Beatrix & Co"}},
		{client.PetQuery{CategoryID: new(int64(0))}, []string{"Beatrix & Co", "Biscuit the Beagle"}},
		{client.PetQuery{CategoryID: new(int64(1)), Search: "b"}, []string{"Bee"}},
		{client.PetQuery{CategoryID: new(int64(1)), Search: "b", Status: client.Sold}, nil},
		{client.PetQuery{ID: new(int64(4)), Search: "bee"}, []string{"Bee"}},
	} {
		page, err := store.ListPets(ctx, c.query)
		wantResult(t, named(page.Items), err, c.want)
		var walked []string
		for pet, err := range store.Pets(ctx, client.PetQuery{Search: c.query.Search, CategoryID: c.query.CategoryID, ID: c.query.ID, Status: c.query.Status, Limit: 1}) {
			noError(t, err)
			walked = append(walked, pet.Name)
		}
		if !slices.Equal(walked, c.want) {
			t.Errorf("a walk of %+v visits %q, want %q", c.query, walked, c.want)
		}
	}
	for _, refused := range []string{"*", strings.Repeat("a", 101), "a b c d e f g h i", "Zo\xeb"} {
		_, err := store.ListPets(ctx, client.PetQuery{Search: refused})
		wantRefusal(t, err, client.ErrInvalidParameter, 400)
	}
}

func TestProfilesCanBeReadChangedAndListed(t *testing.T) {
	store, s := online(t)
	ctx := t.Context()
	for range 3 {
		must(store.CreatePet(ctx, client.NewPet{Name: "Biscuit", CategoryID: 1}))(t)
	}
	nothing := client.Profile{Photos: []client.Photo{}}
	got, err := store.GetProfile(ctx, 1)
	wantResult(t, got, err, nothing)
	whole := client.Profile{Breed: "Beagle & <mix>", Sex: client.Female, BornOn: "2024-05", ArrivedOn: "2026-11-02",
		Description: "Kind.\n\tLikes ham.", Tags: []string{"shy", "good with cats"}, Notes: "Bites.", Photos: []client.Photo{}}
	got, err = store.UpdateProfile(ctx, 1, client.ProfilePatch{Breed: &whole.Breed, Sex: &whole.Sex, BornOn: &whole.BornOn, ArrivedOn: &whole.ArrivedOn,
		Description: &whole.Description, Tags: &whole.Tags, Notes: &whole.Notes})
	wantResult(t, got, err, whole)
	got, err = store.GetProfile(ctx, 1)
	wantResult(t, got, err, whole)

	page, err := store.ListPets(ctx, client.PetQuery{ID: new(int64(1)), Profiles: true})
	wantResult(t, page.Items, err, []client.Pet{{ID: 1, Name: "Biscuit", CategoryID: 1, Status: client.Available, Profile: &whole}})
	profiles := 0
	for pet, err := range store.Pets(ctx, client.PetQuery{Profiles: true, Limit: 1}) {
		noError(t, err)
		if pet.Profile != nil {
			profiles++
		}
	}
	if profiles != 3 {
		t.Errorf("a walk over 3 animals with their profiles has %d profiles", profiles)
	}
	found, err := store.FindPet(ctx, 1)
	wantResult(t, found.Profile, err, nil)

	secret, err := s.key(ctx, petstore.Free, petstore.ReadOnly, 0, 0)
	noError(t, err)
	public := whole
	public.Notes = ""
	got, err = through(t, s, secret).GetProfile(ctx, 1)
	wantResult(t, got, err, public)

	got, err = store.UpdateProfile(ctx, 1, client.ProfilePatch{})
	wantResult(t, got, err, whole)
	got, err = store.UpdateProfile(ctx, 1, client.ProfilePatch{Breed: new(""), Sex: new(client.Sex("")), BornOn: new(""), ArrivedOn: new(""),
		Description: new(""), Tags: new([]string), Notes: new("")})
	wantResult(t, got, err, nothing)

	_, err = store.UpdateProfile(ctx, 1, client.ProfilePatch{BornOn: new("yesterday")})
	wantRefusal(t, err, client.ErrInvalidField, 400)
	_, err = store.GetProfile(ctx, 7)
	wantRefusal(t, err, client.ErrNotFound, 404)
	_, err = store.UpdateProfile(ctx, 7, client.ProfilePatch{})
	wantRefusal(t, err, client.ErrNotFound, 404)
}

func TestPhotosCanBeAddedCoveredAndDeleted(t *testing.T) {
	store, s := online(t)
	ctx := t.Context()
	must(store.CreatePet(ctx, client.NewPet{Name: "Biscuit", CategoryID: 1}))(t)
	first := must(store.AddPhoto(ctx, 1, jpegFile(t, 2000, 1000)))(t)
	if first.ID != 1 || first.Width != 1280 || first.Height != 640 || first.CreatedAt.IsZero() {
		t.Errorf("added %+v", first)
	}
	var file bytes.Buffer
	noError(t, png.Encode(&file, image.NewGray(image.Rect(0, 0, 3, 2))))
	second := must(store.AddPhoto(ctx, 1, &file))(t)
	for address, width := range map[string]int{first.URL: 1280, first.ThumbnailURL: 400, second.URL: 3, second.ThumbnailURL: 3} {
		answer := httptest.NewRecorder()
		s.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, address, nil))
		if shown, err := jpeg.DecodeConfig(answer.Body); err != nil || shown.Width != width {
			t.Errorf("%s is %d pixels wide, %v; want %d", address, shown.Width, err, width)
		}
	}

	profile, err := store.CoverPhoto(ctx, 1, second.ID)
	wantResult(t, profile.Photos, err, []client.Photo{second, first})
	page, err := store.ListPets(ctx, client.PetQuery{Profiles: true})
	wantResult(t, page.Items[0].Profile.Photos, err, []client.Photo{second, first})
	noError(t, store.DeletePhoto(ctx, 1, second.ID))
	profile, err = store.GetProfile(ctx, 1)
	wantResult(t, profile.Photos, err, []client.Photo{first})

	wantRefusal(t, store.DeletePhoto(ctx, 1, second.ID), client.ErrNotFound, 404)
	_, err = store.CoverPhoto(ctx, 1, second.ID)
	wantRefusal(t, err, client.ErrNotFound, 404)
	_, err = store.AddPhoto(ctx, 7, jpegFile(t, 3, 2))
	wantRefusal(t, err, client.ErrNotFound, 404)
	_, err = store.AddPhoto(ctx, 1, strings.NewReader("GIF89a"))
	wantRefusal(t, err, client.ErrInvalidPhoto, 400)
	for range petstore.MaxPhotos - 1 {
		must(store.AddPhoto(ctx, 1, jpegFile(t, 3, 2)))(t)
	}
	_, err = store.AddPhoto(ctx, 1, jpegFile(t, 3, 2))
	wantRefusal(t, err, client.ErrTooManyPhotos, 409)
}

func TestAPhotoWhoseAnswerIsLostIsAddedOnce(t *testing.T) {
	s := testService(t)
	tries := 0
	unlucky := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/photos") {
			if tries++; tries == 1 {
				s.ServeHTTP(httptest.NewRecorder(), r)
				panic(http.ErrAbortHandler)
			}
		}
		s.ServeHTTP(w, r)
	})
	store := through(t, unlucky, s.generousKey(t))
	pet := must(store.CreatePet(t.Context(), client.NewPet{Name: "Biscuit", CategoryID: 1}))(t)
	var meta client.Meta
	added, err := store.AddPhoto(t.Context(), pet.ID, jpegFile(t, 3, 2), client.WithMeta(&meta))
	if err != nil || !meta.Replayed || tries != 2 {
		t.Fatalf("after %d requests got %v and %+v", tries, err, meta)
	}
	profile, err := store.GetProfile(t.Context(), pet.ID)
	wantResult(t, fmt.Sprint(profile.Photos), err, fmt.Sprint([]client.Photo{added}))
}
