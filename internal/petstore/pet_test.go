package petstore_test

import (
	"slices"
	"strings"
	"testing"

	"petstore/internal/petstore"
)

func TestStatusesAreThePublishedOnes(t *testing.T) {
	var names []string
	for _, status := range petstore.Statuses {
		names = append(names, status.String())
		if again, ok := petstore.ParseStatus(status.String()); !ok || again != status {
			t.Errorf("%s is read as %v, %v", status, again, ok)
		}
	}
	if got := strings.Join(names, " "); got != "available pending sold" {
		t.Errorf("got %s", got)
	}
	for _, other := range []string{"", "Available", "SOLD", "sold ", "lost", "1"} {
		if status, ok := petstore.ParseStatus(other); ok {
			t.Errorf("%q is read as %v", other, status)
		}
	}
}

func TestAnimalMayBeStored(t *testing.T) {
	for _, c := range []struct {
		behaviour string
		pet       petstore.NewPet
		fault     string
	}{
		{"with a name and a status", petstore.NewPet{Name: "Rex", Status: petstore.Sold}, ""},
		{"with white space in its name", petstore.NewPet{Name: " \tRex\n", Status: petstore.Sold}, ""},
		{"with a name of 1,000 code points", petstore.NewPet{Name: strings.Repeat("🐕", 1000), Status: petstore.Sold}, ""},
		{"not with one more", petstore.NewPet{Name: strings.Repeat("a", 1001), Status: petstore.Sold}, "name must be at most 1,000 characters long"},
		{"not without a name", petstore.NewPet{Status: petstore.Sold}, "name must not be empty"},
		{"not with a name of white space", petstore.NewPet{Name: " \u3000\u0085", Status: petstore.Sold}, "name must not be only white space"},
		{"not with U+0000 in its name", petstore.NewPet{Name: "R\x00x", Status: petstore.Sold}, "name must not contain the character U+0000"},
		{"not with a name that is not UTF-8", petstore.NewPet{Name: "R\xffx", Status: petstore.Sold}, "name must be valid UTF-8"},
		{"not without a status", petstore.NewPet{Name: "Rex"}, "status must be one of available, pending, sold"},
		{"not with several faults, each of which is named", petstore.NewPet{Status: 9}, "name must not be empty; status must be one of available, pending, sold"},
	} {
		t.Run(c.behaviour, func(t *testing.T) {
			faults := c.pet.Validate()
			if faults.String() != c.fault || petstore.IsCode(faults.Err(), petstore.InvalidField) != (c.fault != "") {
				t.Errorf("got %s, want %s", faults, c.fault)
			}
		})
	}
}

func TestFaultsKeepTheFirstOfEachFieldAndSayWhetherOneIsMissing(t *testing.T) {
	var faults petstore.Faults
	faults.Add("name", "must be a string")
	faults.AddMissing("categoryId")
	faults.Add("name", "must not be empty")
	faults.Add("status", "must be one of available, pending, sold")
	want := petstore.Faults{
		{Field: "name", Problem: "must be a string"},
		{Field: "categoryId", Problem: "is required", Missing: true},
		{Field: "status", Problem: "must be one of available, pending, sold"},
	}
	if !slices.Equal(faults, want) || !petstore.IsCode(faults.Err(), petstore.MissingField) {
		t.Errorf("got %+v, %v", faults, faults.Err())
	}
	if got, want := faults.String(), "name must be a string; categoryId is required; status must be one of available, pending, sold"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
