package httpapi

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"petstore/internal/petstore"
)

// parsePets reads the query string of listPets.
func parsePets(raw string) (petsQuery, error) {
	return parseQuery(raw, newPetsQuery(), petParameters)
}

func TestLinkToTheNextPageRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := petsQuery{PetQuery: petstore.PetQuery{
			Limit:  rapid.IntRange(1, 100).Draw(t, "limit"),
			Status: rapid.SampledFrom([]petstore.Status{0, petstore.Available, petstore.Pending, petstore.Sold}).Draw(t, "status"),
			Before: rapid.Int64Range(0, math.MaxInt64).Draw(t, "before"),
		}, withProfile: rapid.Bool().Draw(t, "with profile")}
		last := rapid.Int64Range(1, math.MaxInt64).Draw(t, "last")
		base := rapid.SampledFrom([]string{"", "https://api.example.com/store"}).Draw(t, "base")

		link := newLinks(base).nextPets(q, last)
		rest, hasBase := strings.CutPrefix(link, "<"+base+"/v1/pets?")
		query, isNext := strings.CutSuffix(rest, `>; rel="next"`)
		want := q
		want.Before = last
		if got, err := parsePets(query); !hasBase || !isNext || err != nil || got != want {
			t.Fatalf("%s leads to %+v, %v; want %+v", link, got, err, want)
		}
	})
}
