package petstore_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"petstore/internal/petstore"
)

func TestFactsAreChecked(t *testing.T) {
	tags := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprint("tag ", i))
		}
		return list
	}
	for _, c := range []struct {
		what, got, want string
	}{
		{"a breed", petstore.CheckBreed("Beagle mix"), ""},
		{"a breed of 100 characters", petstore.CheckBreed(strings.Repeat("🐕", 100)), ""},
		{"a breed of 101 characters", petstore.CheckBreed(strings.Repeat("🐕", 101)), "must be at most 100 characters long"},
		{"a breed of spaces", petstore.CheckBreed("  "), "must not be only white space"},
		{"an empty breed", petstore.CheckBreed(""), "must not be empty"},
		{"a breed of two lines", petstore.CheckBreed("Beagle\nmix"), "must not contain control characters"},
		{"a breed with a control character of Latin-1", petstore.CheckBreed("Beagle\u0085"), "must not contain control characters"},
		{"female", petstore.CheckSex("female"), ""},
		{"male", petstore.CheckSex("male"), ""},
		{"another sex", petstore.CheckSex("Male"), "must be one of female, male"},
		{"a birth in a year", petstore.CheckBornOn("2024"), ""},
		{"a birth in a month", petstore.CheckBornOn("2024-05"), ""},
		{"a birth on a leap day", petstore.CheckBornOn("2024-02-29"), ""},
		{"a birth in the future", petstore.CheckBornOn("2999-12-31"), ""},
		{"an arrival", petstore.CheckArrivedOn("2024-05-17"), ""},
		{"a description of several lines", petstore.CheckDescription("Kind.\n\tLikes cats.\r\n"), ""},
		{"a description of 10,000 characters", petstore.CheckDescription(strings.Repeat("é", 10_000)), ""},
		{"a description of 10,001 characters", petstore.CheckDescription(strings.Repeat("é", 10_001)), "must be at most 10,000 characters long"},
		{"a description with U+0000", petstore.CheckDescription("a\x00"), "must not contain the character U+0000"},
		{"a description that is not UTF-8", petstore.CheckDescription("\xff"), "must be valid UTF-8"},
		{"no tags", petstore.CheckTags(nil), ""},
		{"20 tags", petstore.CheckTags(tags(20)), ""},
		{"21 tags", petstore.CheckTags(tags(21)), "must have at most 20 entries"},
		{"the same tag twice", petstore.CheckTags([]string{"shy", "old", "shy"}), "must differ from each other: tag 3 repeats an earlier one"},
		{"tags that differ in case", petstore.CheckTags([]string{"shy", "Shy"}), ""},
		{"an empty tag", petstore.CheckTags([]string{"shy", ""}), "must each be valid: tag 2 must not be empty"},
		{"a tag of 51 characters", petstore.CheckTags([]string{strings.Repeat("x", 51)}), "must each be valid: tag 1 must be at most 50 characters long"},
		{"a tag of two lines", petstore.CheckTags([]string{"a\nb"}), "must each be valid: tag 1 must not contain control characters"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.what, c.got, c.want)
		}
	}
	for _, date := range []string{"", "24", "02024", "2024-", "2024-5", "2024-13", "2024-00", "2023-02-29", "2024-05-32", "2024-05-17T00:00", " 2024", "2024-05-17 ", "+2024", "２０２４"} {
		if petstore.CheckBornOn(date) == "" {
			t.Errorf("the birth %q passes", date)
		}
	}
	for _, date := range []string{"", "2024", "2024-05", "2023-02-29", "17.05.2024"} {
		if petstore.CheckArrivedOn(date) == "" {
			t.Errorf("the arrival %q passes", date)
		}
	}
}

func TestAPatchOfFactsChangesWhatItNames(t *testing.T) {
	full := petstore.Facts{Breed: "Beagle", Sex: petstore.Male, BornOn: "2024", ArrivedOn: "2025-01-02", Description: "Kind.", Tags: "shy\nold", Notes: "Bites."}
	if got := full.Patch(petstore.ProfilePatch{}); got != full {
		t.Errorf("an empty patch gives %+v", got)
	}
	empty, noSex, noTags := "", petstore.Sex(""), petstore.Tags("")
	for name, c := range map[string]struct {
		patch petstore.ProfilePatch
		field func(*petstore.Facts)
	}{
		"breed":       {petstore.ProfilePatch{Breed: &empty}, func(f *petstore.Facts) { f.Breed = "" }},
		"sex":         {petstore.ProfilePatch{Sex: &noSex}, func(f *petstore.Facts) { f.Sex = "" }},
		"bornOn":      {petstore.ProfilePatch{BornOn: &empty}, func(f *petstore.Facts) { f.BornOn = "" }},
		"arrivedOn":   {petstore.ProfilePatch{ArrivedOn: &empty}, func(f *petstore.Facts) { f.ArrivedOn = "" }},
		"description": {petstore.ProfilePatch{Description: &empty}, func(f *petstore.Facts) { f.Description = "" }},
		"tags":        {petstore.ProfilePatch{Tags: &noTags}, func(f *petstore.Facts) { f.Tags = "" }},
		"notes":       {petstore.ProfilePatch{Notes: &empty}, func(f *petstore.Facts) { f.Notes = "" }},
	} {
		want := full
		c.field(&want)
		if got := full.Patch(c.patch); got != want {
			t.Errorf("without %s: got %+v, want %+v", name, got, want)
		}
	}
}

func TestTagsKeepTheirListAndOrder(t *testing.T) {
	tag := rapid.StringMatching(`[a-zé,;" ]{1,10}`)
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(tag, 0, petstore.MaxTags).Draw(t, "list")
		if got := petstore.NewTags(list).List(); len(got) != len(list) || len(list) > 0 && !reflect.DeepEqual(got, list) {
			t.Fatalf("%q becomes %q", list, got)
		}
	})
}

func TestTheCoverIsTheFirstPhoto(t *testing.T) {
	for cover, want := range map[int64]string{0: "[3 5 9]", 3: "[3 5 9]", 5: "[5 3 9]", 9: "[9 3 5]", 7: "[3 5 9]"} {
		var ids []int64
		for _, photo := range petstore.NewProfile(petstore.Facts{}, cover, []petstore.Photo{{ID: 9}, {ID: 3}, {ID: 5}}).Photos {
			ids = append(ids, photo.ID)
		}
		if got := fmt.Sprint(ids); got != want {
			t.Errorf("cover %d: got %s, want %s", cover, got, want)
		}
	}
}

func TestALargeProfileIsNotRecorded(t *testing.T) {
	small := petstore.Profile{Facts: petstore.Facts{Description: strings.Repeat("x", 10_000)}}
	if got := small.Recorded(); got == nil || !reflect.DeepEqual(*got, small) {
		t.Errorf("a small profile is recorded as %+v", got)
	}
	if got := (petstore.Profile{Facts: petstore.Facts{Notes: strings.Repeat("é", 10_000)}}).Recorded(); got != nil {
		t.Error("a profile of 20 kB is recorded")
	}
}

func TestAPhotoTokenHas128RandomBits(t *testing.T) {
	seen := make(map[string]bool)
	for range 1000 {
		photo := petstore.NewPhoto{Width: 4, Height: 3}.Photo(time.UnixMicro(1_700_000_000_123_456))
		if !petstore.CanBePhotoToken(photo.Token) || seen[photo.Token] {
			t.Fatalf("the token %q", photo.Token)
		}
		seen[photo.Token] = true
		if want := (petstore.Photo{Token: photo.Token, Width: 4, Height: 3, CreatedAt: time.UnixMilli(1_700_000_000_123).UTC()}); photo != want {
			t.Fatalf("got %+v, want %+v", photo, want)
		}
	}
	for _, text := range []string{"", "0123456789abcdef", strings.Repeat("A", 32), strings.Repeat("g", 32), strings.Repeat("0", 33)} {
		if petstore.CanBePhotoToken(text) {
			t.Errorf("%q can be a token", text)
		}
	}
}
