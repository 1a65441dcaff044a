package client_test

import (
	"context"
	"errors"
	"testing"

	"petstore/client"
)

func TestAnErrorEndsAWalk(t *testing.T) {
	first := line{status: 200, headers: []string{`Link: </v1/pets?cursor=a%2Bb&limit=100>; rel="next"`}, body: "[" + biscuit.body + "]"}
	s := &script{lines: []line{first, refusal(400, client.ErrInvalidParameter)}}
	var seen []error
	for _, err := range playing(t, s).Pets(t.Context(), client.PetQuery{}) {
		seen = append(seen, err)
	}
	if len(seen) != 2 || seen[0] != nil || !errors.Is(seen[1], client.ErrInvalidParameter) {
		t.Errorf("the walk yields the errors %v", seen)
	}
	if s.asked[0].target != "/v1/pets?limit=100" || s.asked[1].target != "/v1/pets?cursor=a%2Bb&limit=100" {
		t.Errorf("asked for %+v", s.asked)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range playing(t, s).Orders(ctx, client.OrderQuery{}) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

func TestTheNextLinkIsFoundAmongOthers(t *testing.T) {
	for link, want := range map[string]string{
		``:                                   "",
		`</v1/pets?cursor=a>; rel="next"`:    "a",
		`</v1/pets?cursor=a>; rel=next`:      "a",
		`</v1/pets?cursor=a>;REL="Next"`:     "a",
		`</v1/pets?cursor=a>; rel="nextest"`: "",
		`</v1/pets?cursor=a>; rel="prev"; title="next", </v1/pets?cursor=b>; rel="first next"`: "b",
		`</docs?a=1,2;3>; rel="help", <https://a.test/v1/pets?x=1&cursor=b%2Bc>; rel="next"`:   "b+c",
		`</v1/pets?cursor=a; rel="next"`: "",
		`<%zz>; rel="next"`:              "",
	} {
		answer := line{status: 200, headers: []string{"Link: " + link}, body: "[]"}
		page, err := playing(t, &script{lines: []line{answer}}).ListPets(t.Context(), client.PetQuery{})
		if err != nil || page.Next != want {
			t.Errorf("%s leads to %q, %v; want %q", link, page.Next, err, want)
		}
	}
}
