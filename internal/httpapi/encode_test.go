package httpapi

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"petstore/internal/petstore"
)

func TestStringsAreWrittenAsEncodingJSONWritesThem(t *testing.T) {
	check := func(t rapid.TB, s string) {
		t.Helper()
		want, err := json.Marshal(s)
		noError(t, err)
		if got := appendString(nil, s); string(got) != string(want) {
			t.Fatalf("%q is written %s, encoding/json writes %s", s, got, want)
		}
	}
	t.Run("every valid string", rapid.MakeCheck(func(t *rapid.T) { check(t, rapid.String().Draw(t, "s")) }))
	t.Run("any bytes", rapid.MakeCheck(func(t *rapid.T) { check(t, string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))) }))
	t.Run("every character", func(t *testing.T) {
		for r := rune(0); r < 0x3000; r++ {
			check(t, "a"+string(r)+"z")
		}
		for r := rune(0xd7f0); r <= 0x10ffff; r += 0xfff {
			check(t, "a"+string(r)+"z")
		}
		for c := range 256 {
			check(t, "a"+string([]byte{byte(c)})+"z")
		}
	})
}

func TestAnimalsAreWrittenAsEncodingJSONWritesThem(t *testing.T) {
	type document struct {
		ID         int64  `json:"id"`
		Name       string `json:"name"`
		CategoryID int64  `json:"categoryId"`
		Status     string `json:"status"`
	}
	rapid.Check(t, func(t *rapid.T) {
		documents := []document{}
		pets := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) petstore.Pet {
			return petstore.Pet{ID: rapid.Int64().Draw(t, "id"), NewPet: petstore.NewPet{
				Name:       rapid.String().Draw(t, "name"),
				CategoryID: rapid.Int64().Draw(t, "category"),
				Status:     rapid.SampledFrom(petstore.Statuses).Draw(t, "status"),
			}}
		}), 0, 5).Draw(t, "pets")
		for _, p := range pets {
			documents = append(documents, document{p.ID, p.Name, p.CategoryID, p.Status.String()})
		}
		want, err := json.Marshal(documents)
		noError(t, err)
		if got := appendList(nil, pets, appendPet); string(got) != string(want) {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

func TestProfileIsEncodedAsEncodingJSONWouldAndWithoutWhatIsUnknown(t *testing.T) {
	type photo struct {
		ID           int64  `json:"id"`
		Width        int    `json:"width"`
		Height       int    `json:"height"`
		URL          string `json:"url"`
		ThumbnailURL string `json:"thumbnailUrl"`
		CreatedAt    string `json:"createdAt"`
	}
	type profile struct {
		Breed       string   `json:"breed,omitempty"`
		Sex         string   `json:"sex,omitempty"`
		BornOn      string   `json:"bornOn,omitempty"`
		ArrivedOn   string   `json:"arrivedOn,omitempty"`
		Description string   `json:"description,omitempty"`
		Tags        []string `json:"tags,omitempty"`
		Notes       string   `json:"notes,omitempty"`
		Photos      []photo  `json:"photos"`
	}
	l := newLinks("https://a&b.example.com")
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string { return rapid.String().Draw(t, name) }
		tags := rapid.SliceOfN(rapid.StringMatching(`[a-z<>&"é]{1,5}`), 0, 3).Draw(t, "tags")
		p := petstore.Profile{Facts: petstore.Facts{
			Breed: text("breed"), Sex: petstore.Sex(text("sex")), BornOn: text("born"), ArrivedOn: text("arrived"),
			Description: text("description"), Tags: petstore.NewTags(tags), Notes: text("notes"),
		}}
		withNotes := rapid.Bool().Draw(t, "with notes")
		want := profile{Breed: p.Breed, Sex: string(p.Sex), BornOn: p.BornOn, ArrivedOn: p.ArrivedOn, Description: p.Description, Tags: tags, Photos: []photo{}}
		if withNotes {
			want.Notes = p.Notes
		}
		for range rapid.IntRange(0, 2).Draw(t, "photos") {
			added := petstore.NewPhoto{Width: 4, Height: 3}.Photo(time.UnixMilli(1))
			added.ID = rapid.Int64().Draw(t, "id")
			p.Photos = append(p.Photos, added)
			address := "https://a&b.example.com/photos/" + added.Token
			want.Photos = append(want.Photos, photo{added.ID, 4, 3, address + "/1280.jpg", address + "/400.jpg", "1970-01-01T00:00:00.001Z"})
		}
		expected, err := json.Marshal(want)
		if got := string(l.appendProfile(nil, p, withNotes)); err != nil || got != string(expected) {
			t.Fatalf("got %s, want %s, %v", got, expected, err)
		}
	})
}

// noError fails the test if err is not nil.
func noError(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
