package main

import (
	"bytes"
	"image"
	"image/jpeg"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"petstore/client"
	"petstore/internal/testservice"
)

// photoFile writes a photo of that size and returns its path.
func photoFile(t *testing.T, width, height int) string {
	t.Helper()
	var file bytes.Buffer
	noError(t, jpeg.Encode(&file, image.NewGray(image.Rect(0, 0, width, height)), nil))
	return writeFile(t, "biscuit.jpg", file.String())
}

func TestAnimalsAreFoundFromTheCommandLine(t *testing.T) {
	t.Parallel()
	user := newRemoteUser(t)
	user.does(t, "categories", "name", "5", "Dogs")
	user.does(t, "categories", "name", "6", "Big cats")
	user.does(t, "pets", "add", "Biscuit the Beagle", "--category", "5")
	user.does(t, "pets", "add", "Ébène", "--category", "6", "--status", "sold")
	user.does(t, "pets", "add", "Beatrix", "--category", "6")
	for typed, want := range map[string]string{
		"--search bea":                     "Beatrix Biscuit",
		"--search|bisc BEA":                "Biscuit",
		"--search eben":                    "Ébène",
		"--search ebony":                   "",
		"--category Dogs":                  "Biscuit",
		"--category|BIG CATS":              "Beatrix Ébène",
		"--category 6 --search e":          "Ébène",
		"--category=6 --status available":  "Beatrix",
		"--category -6":                    "",
		"--category 7":                     "",
		"--search bea --limit 1":           "Beatrix",
		"--search|'; DROP TABLE pets; --'": "",
	} {
		separator := " "
		if strings.Contains(typed, "|") {
			separator = "|"
		}
		args := append([]string{"pets", "list"}, strings.Split(typed, separator)...)
		stdout, _, _ := invokeWith(t, user.env, args...)
		var names []string
		for row := range strings.Lines(stdout) {
			name, _, _ := strings.Cut(strings.Split(row, "\t")[1], " ")
			names = append(names, name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("petstore %q lists %q, want %q", args, got, want)
		}
	}
}

func TestASearchListsAllItsPages(t *testing.T) {
	t.Parallel()
	user := newRemoteUser(t)
	for range 102 {
		user.Ask(t, "POST", "/v1/pets", `{"name":"Biscuit","categoryId":5}`)
		user.Ask(t, "POST", "/v1/pets", `{"name":"Rex","categoryId":5}`)
	}
	if got := user.does(t, "pets", "list", "--search", "bisc", "--category", "5"); strings.Count(got, "\tBiscuit\t") != 102 || strings.Count(got, "\n") != 102 {
		t.Errorf("the search for 102 of 204 animals lists %d", strings.Count(got, "\n"))
	}
}

func TestAProfileIsEditedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	user := newRemoteUser(t)
	user.does(t, "pets", "add", "Biscuit", "--category", "5")
	shown := func() client.Pet {
		return testservice.Decode[client.Pet](t, user.does(t, "pets", "show", "1", "--json"))
	}
	if got := user.does(t, "pets", "edit", "1", "--breed", "Beagle, mix", "--sex", "female", "--born", "2024-05", "--arrived", "2026-11-02",
		"--description", "Kind.\nLikes ham.", "--tag", "shy, a bit", "--tag", "good with cats", "--notes", "Bites."); got != "1\tBiscuit\t5\tavailable\n" {
		t.Errorf("pets edit printed %q", got)
	}
	got := *shown().Profile
	want := client.Profile{Breed: "Beagle, mix", Sex: client.Female, BornOn: "2024-05", ArrivedOn: "2026-11-02", Description: "Kind.\nLikes ham.",
		Tags: []string{"shy, a bit", "good with cats"}, Notes: "Bites.", Photos: []client.Photo{}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the profile is %+v, want %+v", got, want)
	}
	user.does(t, "pets", "edit", "1", "--breed", "", "--sex", "", "--born", "", "--arrived=", "--description", "", "--tag", "", "--name", "Rex")
	if pet := shown(); pet.Name != "Rex" || !reflect.DeepEqual(*pet.Profile, client.Profile{Notes: "Bites.", Photos: []client.Photo{}}) {
		t.Errorf("after its facts were removed, the animal is %s %+v", pet.Name, pet.Profile)
	}
}

func TestPhotosAreManagedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	user := newRemoteUser(t)
	user.does(t, "pets", "add", "Biscuit", "--category", "5")
	added := testservice.Decode[client.Photo](t, user.does(t, "pets", "photo", "add", "1", photoFile(t, 1600, 800), "--json"))
	if added.ID != 1 || added.Width != 1280 || added.Height != 640 {
		t.Errorf("pets photo add printed %+v", added)
	}
	if answer := user.Ask(t, "GET", strings.TrimPrefix(added.URL, user.URL), ""); answer.Status != http.StatusOK {
		t.Errorf("%s answers %d", added.URL, answer.Status)
	}
	command := testservice.Command(t, "pets", "photo", "add", "1", "-")
	for name, value := range user.env {
		command.Env = append(command.Env, name+"="+value)
	}
	file, err := os.Open(photoFile(t, 3, 2))
	noError(t, err)
	defer file.Close()
	command.Stdin = file
	if row, err := command.Output(); err != nil || !strings.HasPrefix(string(row), "2\t3\t2\t") {
		t.Errorf("pets photo add from standard input printed %q, %v", row, err)
	}
	ids := func() (ids string) {
		for row := range strings.Lines(user.does(t, "pets", "photos", "ls", "1")) {
			ids += row[:1]
		}
		return ids
	}
	for _, step := range []struct{ typed, says, left string }{
		{"cover 1 2", "Photo 2 is the cover of animal 1.\n", "21"},
		{"delete 1 2", "Deleted photo 2 of animal 1.\n", "1"},
		{"rm 1 1", "Deleted photo 1 of animal 1.\n", ""},
	} {
		_, stderr, status := invokeWith(t, user.env, append([]string{"pets", "photo"}, strings.Fields(step.typed)...)...)
		if status != 0 || stderr != step.says {
			t.Errorf("pets photo %s ended with %d and said %q", step.typed, status, stderr)
		}
		if got := ids(); got != step.left {
			t.Errorf("after pets photo %s the photos are %q, want %q", step.typed, got, step.left)
		}
	}
	if got := user.does(t, "pets", "photo", "list", "1", "--json"); got != "[]\n" {
		t.Errorf("pets photo list --json printed %q", got)
	}
}

func TestARefusedPhotoOrProfileIsExplained(t *testing.T) {
	t.Parallel()
	user := newRemoteUser(t)
	user.does(t, "pets", "add", "Biscuit", "--category", "5")
	user.does(t, "orders", "place", "1")
	user.does(t, "categories", "name", "3", "Dogs")
	user.does(t, "categories", "name", "4", "DOGS")
	photo, folder := photoFile(t, 3, 2), t.TempDir()
	for range 8 {
		user.does(t, "pets", "photo", "add", "1", photo)
	}
	user.does(t, "pets", "add", "Rex", "--category", "5")
	text := writeFile(t, "notes.txt", "Bites.")
	empty := writeFile(t, "empty.jpg", "")
	large := writeFile(t, "large.jpg", strings.Repeat("x", client.MaxPhotoSize+1))
	missing := filepath.Join(folder, "biscuit.jpg")
	for _, c := range []struct {
		typed []string
		says  []string
	}{
		{[]string{"pets", "photo", "add", "1", photo}, []string{"8 photos", "Delete one", "(409 too_many_photos, request "}},
		{[]string{"pets", "photo", "add", "2", text}, []string{"not a JPEG, PNG or WebP", "(400 invalid_photo, request "}},
		{[]string{"pets", "photo", "add", "2", empty}, []string{"the photo is empty"}},
		{[]string{"pets", "photo", "add", "2", large}, []string{"The photo is larger than 5 MiB. Send a smaller one."}},
		{[]string{"pets", "photo", "add", "2", missing}, []string{"the photo cannot be opened", missing, "no such file"}},
		{[]string{"pets", "photo", "add", "2", folder}, []string{"the photo cannot be read", folder, "is a directory"}},
		{[]string{"pets", "photo", "add", "9", photo}, []string{"There is no animal with this id.", "(404 not_found, request "}},
		{[]string{"pets", "photo", "list", "9"}, []string{"There is no animal with this id.", "(404 not_found, request "}},
		{[]string{"pets", "photo", "cover", "2", "1"}, []string{"This animal has no photo with this id.", "(404 not_found, request "}},
		{[]string{"pets", "photo", "delete", "2", "1"}, []string{"This animal has no photo with this id.", "(404 not_found, request "}},
		{[]string{"pets", "list", "--search", "*"}, []string{"q must have 1 to 100 characters and 1 to 8 words.", "(400 invalid_parameter, request "}},
		{[]string{"pets", "list", "--category", "Fish"}, []string{`no category is named "Fish"`, "petstore categories list"}},
		{[]string{"pets", "list", "--category", "dogs"}, []string{`"dogs" can mean the category "Dogs" or "DOGS"; write the name exactly, or use the number 3 or 4`}},
		{[]string{"pets", "edit", "2", "--sex", "f"}, []string{"sex must be one of female, male.", "(400 invalid_field, request "}},
		{[]string{"pets", "edit", "2", "--born", "17.05.2024"}, []string{"bornOn must be a year, a month or a day, such as 2024, 2024-05 or 2024-05-17", "(400 invalid_field, request "}},
		{[]string{"pets", "edit", "2", "--tag", "shy", "--tag", "shy"}, []string{"tags must differ", "(400 invalid_field, request "}},
		{[]string{"pets", "edit", "9", "--breed", "Beagle"}, []string{"There is no animal with this id.", "(404 not_found, request "}},
		{[]string{"pets", "edit", "1", "--breed", "Beagle", "--status", "sold"}, []string{"The profile of animal 1 was changed, the rest was not.\n", "(409 pet_reserved, request "}},
	} {
		stdout, stderr, status := invokeWith(t, user.env, c.typed...)
		if status != 1 || stdout != "" {
			t.Errorf("petstore %q ended with %d and printed %q", c.typed, status, stdout)
		}
		for _, part := range c.says {
			if !strings.Contains(stderr, part) {
				t.Errorf("petstore %q said %q, which lacks %q", c.typed, stderr, part)
			}
		}
	}
}
