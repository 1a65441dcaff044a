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

func TestNamesAndReferencesAreBounded(t *testing.T) {
	for _, c := range []struct {
		check   func(string) string
		most    int
		tooLong string
	}{
		{petstore.CheckPetName, 1000, "must be at most 1,000 characters long"},
		{petstore.CheckCategoryName, 100, "must be at most 100 characters long"},
		{petstore.CheckReference, 200, "must be at most 200 characters long"},
	} {
		for text, problem := range map[string]string{
			"Rex":                         "",
			" \tRex\n":                    "",
			strings.Repeat("🐕", c.most):   "",
			strings.Repeat("🐕", c.most+1): c.tooLong,
			"":                            "must not be empty",
			" \u3000\u0085":               "must not be only white space",
			"R\x00x":                      "must not contain the character U+0000",
			"R\xffx":                      "must be valid UTF-8",
		} {
			if got := c.check(text); got != problem {
				t.Errorf("at most %d characters, %.20q: %q, want %q", c.most, text, got, problem)
			}
		}
	}
}

func TestAnAnimalHasAKnownStatus(t *testing.T) {
	for _, status := range petstore.Statuses {
		if problem := petstore.CheckStatus(status); problem != "" {
			t.Errorf("%s: %q", status, problem)
		}
	}
	for _, unknown := range []petstore.Status{petstore.AnyStatus, 4, 9, 255} {
		if problem := petstore.CheckStatus(unknown); problem != "must be one of available, pending, sold" {
			t.Errorf("the status %d: %q", unknown, problem)
		}
	}
}

func TestFaultsKeepTheFirstProblemOfEachField(t *testing.T) {
	var faults petstore.Faults
	faults.Add("name", "")
	if err := faults.Err(); err != nil {
		t.Errorf("got %v although there are no faults", err)
	}
	faults.Add("name", "must be a string")
	if err := faults.Err(); !petstore.IsCode(err, petstore.InvalidField) {
		t.Errorf("got %v, want the code %s", err, petstore.InvalidField)
	}
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
