package httpapi

import (
	"encoding/json"
	"testing"

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

// noError fails the test if err is not nil.
func noError(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
