package model

import (
	"net/http"
	"strings"
	"testing"
)

// The tests of package history cover a part of a store. This test covers what the model knows only about a whole store.
func TestAWholeStoreRefusesWrongAnswers(t *testing.T) {
	const rex, ada = `{"id":1,"name":"Rex","categoryId":7,"status":"available"}`, `{"id":2,"name":"Ada","categoryId":1,"status":"available"}`
	const order = `{"id":1,"petId":1,"status":"open","createdAt":"2026-11-15T12:00:00.000Z","expiresAt":"2026-11-15T12:01:00.000Z"}`
	for _, c := range []struct{ wrong, request, body, rightAnswer, wrongAnswer string }{
		{"an animal that nobody made", "GET pets", "", "[" + rex + "]", "[" + ada + "," + rex + "]"},
		{"a link to an empty page", "GET pets?limit=1", "", "[" + rex + "]", "next [" + rex + "]"},
		{"a link after the last page", "GET pets?cursor=AQAAAAAAAAAB", "", "[]", "next []"},
		{"an id below an earlier one", "POST pets", `{"name":"Ada","categoryId":1}`, ada, strings.Replace(ada, "2", "0", 1)},
		{"a number that is not the next", "POST categories", `{"name":"Dogs"}`, `{"id":8,"name":"Dogs"}`, `{"id":9,"name":"Dogs"}`},
		{"the wrong time", "POST orders", `{"petId":1,"holdSeconds":60}`, order, strings.Replace(order, "12:01", "12:02", 1)},
	} {
		t.Run(c.wrong, func(t *testing.T) {
			s := after(t, New(noon), "POST pets", `{"name":"Rex","categoryId":7}`, rex)[0]
			if right, wrong := after(t, s, c.request, c.body, c.rightAnswer), after(t, s, c.request, c.body, c.wrongAnswer); len(right) != 1 || len(wrong) != 0 {
				t.Errorf("the right answer leads to %v, the wrong one to %v", right, wrong)
			}
		})
	}
}

// The function after returns the states that are possible after an answer. An answer that begins with "next" has a link to
// a next page.
func after(t *testing.T, s State, request, body, answer string) []State {
	t.Helper()
	method, path, _ := strings.Cut(request, " ")
	answer, hasNext := strings.CutPrefix(answer, "next ")
	e := Exchange{Method: method, Path: "/v1/" + path, Body: []byte(body), Status: http.StatusCreated, Answer: []byte(answer)}
	if method == "GET" {
		e.Status = http.StatusOK
	}
	if hasNext {
		e.Header = http.Header{"Link": {`</v1/pets?cursor=x>; rel="next"`}}
	}
	op, ok := Parse(e)
	if !ok {
		t.Fatalf("%v tells nothing", e)
	}
	return s.Step(op)
}
