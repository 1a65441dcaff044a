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

func TestQueryParametersAreRead(t *testing.T) {
	second := string(appendCursor(nil, petCursor, 41))
	for _, c := range []struct {
		query string
		want  petstore.PetQuery
	}{
		{"", petstore.PetQuery{Limit: 20}},
		{"limit=1", petstore.PetQuery{Limit: 1}},
		{"limit=100&status=sold", petstore.PetQuery{Limit: 100, Status: petstore.Sold}},
		{"status=available", petstore.PetQuery{Limit: 20, Status: petstore.Available}},
		{"st%61tus=p%65nding", petstore.PetQuery{Limit: 20, Status: petstore.Pending}},
		{"cursor=" + second, petstore.PetQuery{Limit: 20, Before: 41}},
		{"cursor=" + second + "&limit=3&status=sold", petstore.PetQuery{Limit: 3, Status: petstore.Sold, Before: 41}},
		{"&&page=2&offset=&sort=name&&Limit=x&LIMIT=0", petstore.PetQuery{Limit: 20}},
		{"x=1&x=2&limit=7", petstore.PetQuery{Limit: 7}},
	} {
		if got, err := parsePets(c.query); err != nil || got.PetQuery != c.want || got.byID {
			t.Errorf("%q: got %+v, %v; want %+v", c.query, got, err, c.want)
		}
	}
}

func TestCursorRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.Int64Range(1, math.MaxInt64).Draw(t, "before")
		cursor := string(appendCursor(nil, petCursor, before))
		if got, ok := parseCursor(petCursor, cursor); !ok || got != before {
			t.Fatalf("%d becomes %q and then %d, %v", before, cursor, got, ok)
		}
		if _, ok := parseCursor(orderCursor, cursor); ok {
			t.Fatalf("the cursor %q of a list of animals is taken for one of orders", cursor)
		}
	})
}

func TestForgedCursorIsRefused(t *testing.T) {
	good := string(appendCursor(nil, petCursor, 41))
	rapid.Check(t, func(t *rapid.T) {
		cursor := rapid.OneOf(
			rapid.String(),
			rapid.StringMatching(`[A-Za-z0-9_-]{0,20}`),
			rapid.Map(rapid.String(), func(s string) string { return good + s }),
			rapid.Map(rapid.String(), func(s string) string { return s + good }),
		).Draw(t, "cursor")
		if before, ok := parseCursor(petCursor, cursor); ok && string(appendCursor(nil, petCursor, before)) != cursor {
			t.Fatalf("%q is taken for the cursor of %d", cursor, before)
		}
	})
	for _, before := range []int64{0, -1, math.MinInt64} {
		if _, err := parsePets("cursor=" + string(appendCursor(nil, petCursor, before))); err == nil {
			t.Errorf("a cursor of %d is taken", before)
		}
	}
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

func TestLinkToTheNextPageHasItsParameters(t *testing.T) {
	links := newLinks("")
	if got, want := links.nextPets(petsQuery{PetQuery: petstore.PetQuery{Limit: 20}}, 41), `</v1/pets?cursor=AQAAAAAAAAAp&limit=20>; rel="next"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := links.nextPets(petsQuery{PetQuery: petstore.PetQuery{Limit: 5, Status: petstore.Sold}}, 41), `</v1/pets?cursor=AQAAAAAAAAAp&limit=5&status=sold>; rel="next"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
