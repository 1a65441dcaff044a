package petstore

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// The bounds of the fields of a profile, in Unicode code points where they are lengths.
const (
	MaxBreedLength       = 100
	MaxDescriptionLength = 10_000 // of a description and of notes
	MaxTags              = 20
	MaxTagLength         = 50
)

// Sex is the sex of an animal as the API spells it, or empty.
type Sex string

// The sexes of an animal.
const (
	Female Sex = "female"
	Male   Sex = "male"
)

// Tags is a list of tags. It holds one tag a line, so that two lists can be compared.
type Tags string

// NewTags returns the tags of a list.
func NewTags(tags []string) Tags { return Tags(strings.Join(tags, "\n")) }

// List returns the tags one by one, in their order.
func (t Tags) List() []string {
	if t == "" {
		return nil
	}
	return strings.Split(string(t), "\n")
}

// Facts is what people write about an animal. A field that is not known is empty.
type Facts struct {
	Breed string
	Sex   Sex
	// BornOn is a day, a month or a year: YYYY-MM-DD, YYYY-MM or YYYY.
	BornOn string
	// ArrivedOn is a day: YYYY-MM-DD.
	ArrivedOn   string
	Description string
	Tags        Tags
	// Notes are for those who may write only.
	Notes string
}

// Profile is what a store knows about an animal beyond its Pet.
type Profile struct {
	Facts
	// Photos has the cover first and then the others in the order in which they were added.
	Photos []Photo
}

// NewProfile returns a profile. The cover is the photo with that id, or the earliest photo if there is none with that id.
func NewProfile(facts Facts, cover int64, photos []Photo) Profile {
	slices.SortFunc(photos, func(a, b Photo) int {
		switch {
		case a.ID == cover:
			return -1
		case b.ID == cover:
			return 1
		}
		return int(a.ID - b.ID)
	})
	return Profile{Facts: facts, Photos: photos}
}

// maxRecordedAnswer is the greatest size of an answer that an idempotency record holds.
const maxRecordedAnswer = 16 << 10

// Recorded returns what an idempotency record holds of the profile: nil if it is too large. A repeat of the write then
// returns the profile as it is at that time.
func (p Profile) Recorded() *Profile {
	if text, err := json.Marshal(p); err != nil || len(text) > maxRecordedAnswer {
		return nil
	}
	return &p
}

// ProfilePatch says what to change about the facts of an animal. A nil field changes nothing, and an empty one removes what
// is known.
type ProfilePatch struct {
	Breed       *string
	Sex         *Sex
	BornOn      *string
	ArrivedOn   *string
	Description *string
	Tags        *Tags
	Notes       *string
}

// Patch returns the facts after a valid patch.
func (f Facts) Patch(patch ProfilePatch) Facts {
	return Facts{
		Breed:       valueOr(patch.Breed, f.Breed),
		Sex:         valueOr(patch.Sex, f.Sex),
		BornOn:      valueOr(patch.BornOn, f.BornOn),
		ArrivedOn:   valueOr(patch.ArrivedOn, f.ArrivedOn),
		Description: valueOr(patch.Description, f.Description),
		Tags:        valueOr(patch.Tags, f.Tags),
		Notes:       valueOr(patch.Notes, f.Notes),
	}
}

// CheckBreed returns what is wrong with a breed, or "" if it may be stored.
func CheckBreed(breed string) (problem string) { return checkLine(breed, MaxBreedLength) }

// CheckSex returns what is wrong with a sex, or "" if it may be stored.
func CheckSex(sex string) (problem string) {
	if sex != string(Female) && sex != string(Male) {
		return "must be one of female, male"
	}
	return ""
}

// CheckBornOn returns what is wrong with the time of a birth, or "" if it may be stored.
func CheckBornOn(date string) (problem string) {
	if isDate(date, time.DateOnly) || isDate(date, "2006-01") || isDate(date, "2006") {
		return ""
	}
	return "must be a year, a month or a day, such as 2024, 2024-05 or 2024-05-17"
}

// CheckArrivedOn returns what is wrong with the day of an arrival, or "" if it may be stored.
func CheckArrivedOn(date string) (problem string) {
	if isDate(date, time.DateOnly) {
		return ""
	}
	return "must be a day, such as 2024-05-17"
}

// isDate reports whether a text is a real date in that layout.
func isDate(text, layout string) bool {
	date, err := time.Parse(layout, text)
	return err == nil && date.Format(layout) == text
}

// CheckDescription returns what is wrong with a description or with notes, or "" if the text may be stored.
func CheckDescription(text string) (problem string) { return CheckText(text, MaxDescriptionLength) }

// CheckTags returns what is wrong with a list of tags, or "" if it may be stored. An empty list may.
func CheckTags(tags []string) (problem string) {
	if len(tags) > MaxTags {
		return fmt.Sprintf("must have at most %d entries", MaxTags)
	}
	for i, tag := range tags {
		if problem := checkLine(tag, MaxTagLength); problem != "" {
			return fmt.Sprintf("must each be valid: tag %d %s", i+1, problem)
		}
		if slices.Contains(tags[:i], tag) {
			return fmt.Sprintf("must differ from each other: tag %d repeats an earlier one", i+1)
		}
	}
	return ""
}

// checkLine is CheckText for a text without control characters.
func checkLine(s string, maxLength int) (problem string) {
	if problem := CheckText(s, maxLength); problem != "" {
		return problem
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return "must not contain control characters"
	}
	return ""
}
