package history

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"petstore/internal/model"
)

func TestEveryRuleIsHeld(t *testing.T) {
	for _, r := range slices.Concat(rules, feedRules) {
		t.Run(r.rule, func(t *testing.T) {
			for _, f := range Check(written(t, r.history, "+"), Rules{}) {
				t.Errorf("in the history that keeps the rule: %v", f)
			}
			if faults := Check(written(t, r.history, "-"), Rules{}); len(faults) != 1 {
				t.Errorf("in the history that breaks the rule: %v", faults)
			}
		})
	}
}

// The search must end even if a request was repeated many times without an answer.
func TestManyRequestsWithoutAnAnswerAreSearched(t *testing.T) {
	history := strings.Repeat("\n2 3 DELETE pets/1 = lost", 50) + "\n4 5 GET pets/1 = 200 pet(1 Rex available)"
	for _, f := range Check(written(t, history, ""), Rules{Timeout: 10 * time.Second}) {
		t.Error(f)
	}
}

var (
	petMacro   = regexp.MustCompile(`pet\((\d+) (\w+) (\w+)\)`)
	orderMacro = regexp.MustCompile(`order\((\d+) (\d+) (\w+)\)`)
	eventMacro = regexp.MustCompile(`event\((\d+) (\S+) (\{[^{}]*\})(?: was (\{[^{}]*\}))?\)`)
	errorMacro = regexp.MustCompile(`error\((\w+) ([^)]*)\)`)
	exchange   = regexp.MustCompile(`^([+-]?) *(\d+) (\d+) (\w+) (\S+) ?(#\w+)? ?(\{.*\})? ?= (lost|\d+) ?(replayed|more|at\d+|end\d+)? ?(.*)$`)
)

// The function written parses a history. It uses the lines that begin with the given sign and the lines without a sign.
func written(t *testing.T, text, sign string) (all []model.Exchange) {
	t.Helper()
	text = `0 1 POST pets {"name":"Rex","categoryId":1} = 201 pet(1 Rex available)` + text
	text = strings.ReplaceAll(text, "rex", "event(1 pet.created pet(1 Rex available))")
	text = petMacro.ReplaceAllString(text, `{"id":$1,"name":"$2","categoryId":1,"status":"$3"}`)
	text = orderMacro.ReplaceAllString(text, `{"id":$1,"petId":$2,"status":"$3","createdAt":"12:00","expiresAt":"12:01"}`)
	text = strings.ReplaceAll(text, `"status":"expired","createdAt":"12:00"`, `"status":"expired","closedAt":"12:01","createdAt":"12:00"`)
	text = eventMacro.ReplaceAllString(text, `{"id":"evt_f_$1","sequence":$1,"type":"$2","timestamp":"12:00","data":$3,"previous":$4}`)
	text = strings.ReplaceAll(text, `,"previous":}`, `}`)
	text = errorMacro.ReplaceAllString(text, `{"code":"$1","message":"$2"}`)
	for line := range strings.Lines(strings.TrimSpace(text)) {
		m := exchange.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			t.Fatalf("%q is no exchange", line)
		}
		if m[1] != "" && m[1] != sign {
			continue
		}
		called, _ := strconv.Atoi(m[2])
		returned, _ := strconv.Atoi(m[3])
		e := model.Exchange{Client: len(all), Key: "a", Method: m[4], Path: "/v1/" + m[5], IdempotencyKey: m[6], Body: []byte(m[7]), Answer: []byte(m[10]), Header: make(http.Header)}
		e.Called, e.Returned = time.Duration(called)*time.Second, time.Duration(returned)*time.Second
		e.Status, _ = strconv.Atoi(m[8])
		switch m[9] {
		case "replayed":
			e.Header.Set("Idempotency-Replayed", "true")
		case "more":
			e.Header.Set("Link", `</v1/pets?cursor=next>; rel="next"`)
		}
		if place := strings.TrimLeft(m[9], "aednt"); m[9] != "" && place != m[9] {
			e.Header.Set("Link", `</v1/events?after=evt_f_`+place+`>; rel="next"`)
			e.Header.Set("Petstore-Feed-End", fmt.Sprint(m[9] == "end"+place))
		}
		all = append(all, e)
	}
	return all
}

// Each rule has a history that keeps the rule and a history that breaks it. Both histories begin with the animal 1, whose
// name is Rex. A line is an exchange: the seconds of its call and of its return, the request, and after "=" the answer, or
// "lost". After "#" comes an Idempotency-Key. A line with "+" is only in the history that keeps the rule. A line with "-"
// is only in the history that breaks the rule.
var rules = []struct{ rule, history string }{
	{"What was acknowledged is seen from then on", `
		  2 3 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		+ 4 5 GET pets/1 = 200 pet(1 Max available)
		- 4 5 GET pets/1 = 200 pet(1 Rex available)`},
	{"A new animal is there at once", `
		+ 2 3 GET pets?limit=20 = 200 [pet(1 Rex available)]
		- 2 3 GET pets?limit=20 = 200 []`},
	{"A write may be seen before its answer, but not undone again", `
		  2 9 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		+ 3 5 GET pets/1 = 200 pet(1 Max available)
		+ 4 6 GET pets/1 = 200 pet(1 Rex available)
		- 3 4 GET pets/1 = 200 pet(1 Max available)
		- 5 6 GET pets/1 = 200 pet(1 Rex available)`},
	{"A write is not acknowledged before it is done", `
		+ 2 5 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		  4 5 GET pets/1 = 200 pet(1 Rex available)
		  6 7 GET pets/1 = 200 pet(1 Max available)
		- 2 3 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)`},
	{"A patch keeps what it does not name", `
		  2 3 PATCH pets/1 {"status":"sold"} = 200 pet(1 Rex sold)
		+ 4 5 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max sold)
		- 4 5 PATCH pets/1 {"name":"Max"} = 200 pet(1 Max available)
		- 6 7 GET pets/1 = 200 pet(1 Max available)`},
	{"A request without an answer may have been done, or be done yet", `
		  2 3 PATCH pets/1 {"name":"Max"} = lost
		+ 4 5 GET pets/1 = 200 pet(1 Rex available)
		+ 6 7 GET pets/1 = 200 pet(1 Max available)
		- 4 5 GET pets/1 = 200 pet(1 Max available)
		- 6 7 GET pets/1 = 200 pet(1 Rex available)`},
	{"A request that could not be done has changed nothing", `
		+ 2 3 PATCH pets/1 {"name":"Max"} = 503 error(outcome_unknown It may have been done.)
		  4 5 GET pets/1 = 200 pet(1 Max available)
		- 2 3 PATCH pets/1 {"name":"Max"} = 503 error(unavailable Nothing was changed.)`},
	{"A create without an answer may have made an animal, one at most", `
		  2 3 POST pets {"name":"Max","categoryId":1} = lost
		+ 4 5 GET pets = 200 [pet(2 Max available),pet(1 Rex available)]
		- 4 5 GET pets = 200 [pet(3 Max available),pet(2 Max available),pet(1 Rex available)]`},
	{"What is there was asked for", `
		+ 2 3 GET pets = 200 [pet(1 Rex available)]
		- 2 3 GET pets = 200 [pet(2 Max available),pet(1 Rex available)]`},
	{"An id is never used again", `
		  2 3 DELETE pets/1 = 204
		+ 4 5 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		- 4 5 POST pets {"name":"Max","categoryId":1} = 201 pet(1 Max available)`},
	{"What is deleted stays so", `
		  2 4 DELETE pets/1 = 204
		+ 3 5 GET pets/1 = 200 pet(1 Rex available)
		  6 7 GET pets/1 = 404 error(not_found There is no animal with this id.)
		- 8 9 GET pets/1 = 200 pet(1 Rex available)`},
	{"An Idempotency-Key is good for one thing, also after an unknown outcome", `
		  2 3 POST pets #a {"name":"Max","categoryId":1} = 503 error(outcome_unknown It may have been done.)
		  4 5 POST pets #a {"name":"Max","categoryId":1} = 201 replayed pet(2 Max available)
		+ 6 7 POST pets #a {"name":"Max","categoryId":1} = 201 replayed pet(2 Max available)
		- 6 7 POST pets #a {"name":"Max","categoryId":1} = 201 pet(3 Max available)`},
	{"A replay shows what was made, also when it is gone", `
		  2 3 POST pets #a {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		  4 5 DELETE pets/2 = 204
		+ 6 7 POST pets #a {"name":"Max","categoryId":1} = 201 replayed pet(2 Max available)
		- 6 7 POST pets #a {"name":"Max","categoryId":1} = 201 replayed pet(2 Max sold)`},
	{"A request that was refused has not used its key, and one that was done has", `
		  2 3 POST orders #a {"petId":2} = 400 error(invalid_field petId must be the id of an animal; there is no animal 2.)
		  4 5 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		  6 7 POST orders #a {"petId":2} = 201 order(1 2 open)
		+ 8 9 POST orders #a {"petId":2} = 201 replayed order(1 2 open)
		- 8 9 POST orders #a {"petId":2} = 409 error(pet_unavailable This animal is pending, not available. Order another one.)`},
	{"A key that was used for another request is refused, and only then", `
		+ 2 3 POST pets #a {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		  4 5 POST pets #a {"name":"Leo","categoryId":1} = 409 error(idempotency_conflict It was used.)`},
	{"A key that was used is refused for another operation and on another path", `
		  0 1 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		  2 3 DELETE pets/1 #a = 204
		+ 4 5 DELETE pets/2 #a = 409 error(idempotency_conflict It was used.)
		+ 6 7 PATCH pets/1 #a {} = 409 error(idempotency_conflict It was used.)
		- 4 5 DELETE pets/2 #a = 204`},
	{"A repeated write does not undo a newer one", `
		  2 3 PATCH pets/1 #a {"name":"Max"} = 200 pet(1 Max available)
		  4 5 PATCH pets/1 {"name":"Leo"} = 200 pet(1 Leo available)
		  6 7 PATCH pets/1 #a {"name":"Max"} = 200 replayed pet(1 Max available)
		+ 8 9 GET pets/1 = 200 pet(1 Leo available)
		- 8 9 GET pets/1 = 200 pet(1 Max available)`},
	{"A number that gets a name again keeps it when its deletion is repeated", `
		  2 3 PUT categories/1 {"name":"Cats"} = 201 {"id":1,"name":"Cats"}
		  4 5 DELETE categories/1 #a = 204
		  6 7 PUT categories/1 {"name":"Dogs"} = 201 {"id":1,"name":"Dogs"}
		  8 9 DELETE categories/1 #a = 204 replayed
		+ 10 11 GET categories = 200 [{"id":1,"name":"Dogs"}]
		- 10 11 GET categories = 200 []`},
	{"A replay has the status of the first answer", `
		  2 3 PUT categories/1 #a {"name":"Dogs"} = 201 {"id":1,"name":"Dogs"}
		+ 4 5 PUT categories/1 #a {"name":"Dogs"} = 201 replayed {"id":1,"name":"Dogs"}
		- 4 5 PUT categories/1 #a {"name":"Dogs"} = 200 replayed {"id":1,"name":"Dogs"}`},
	{"A replay shows what the first request did, also when its answer was lost", `
		  2 3 PATCH pets/1 #a {"name":"Max"} = lost
		+ 4 5 PATCH pets/1 #a {"name":"Max"} = 200 replayed pet(1 Max available)
		- 4 5 PATCH pets/1 #a {"name":"Max"} = 200 replayed pet(1 Rex available)`},
	{"All replays show the same times", `
		  2 3 POST orders #a {"petId":1} = lost
		  4 5 POST orders #a {"petId":1} = 201 replayed order(1 1 open)
		+ 6 7 POST orders #a {"petId":1} = 201 replayed order(1 1 open)
		- 6 7 POST orders #a {"petId":1} = 201 replayed {"id":1,"petId":1,"status":"open","createdAt":"12:00","expiresAt":"12:02"}`},
	{"A new hold of an order begins with its change", `
		  2 3 POST orders {"petId":1,"holdSeconds":60} = 201 order(1 1 open)
		  50 51 PATCH orders/1 {"holdSeconds":60} = 200 order(1 1 open)
		+ 70 71 GET orders/1 = 200 order(1 1 open)
		- 70 71 GET orders/1 = 200 order(1 1 expired)`},
	{"A closed order gets no new hold", `
		  2 3 POST orders {"petId":1,"holdSeconds":60} = 201 order(1 1 open)
		+ 64 65 PATCH orders/1 {"holdSeconds":60} = 409 error(order_closed This order expired at noon. Only its reference can still change.)
		- 64 65 PATCH orders/1 {"holdSeconds":60} = 200 order(1 1 open)`},
	{"A closed order can lose its reference", `
		  2 3 POST orders {"petId":1,"reference":"Ann"} = 201 {"id":1,"petId":1,"status":"open","reference":"Ann","createdAt":"12:00","expiresAt":"12:01"}
		  4 5 POST orders/1/cancel = 200 {"id":1,"petId":1,"status":"cancelled","reference":"Ann","createdAt":"12:00","expiresAt":"12:01"}
		  6 7 PATCH orders/1 {"reference":null} = 200 order(1 1 cancelled)
		+ 8 9 GET orders = 200 [order(1 1 cancelled)]
		- 8 9 GET orders = 200 [{"id":1,"petId":1,"status":"cancelled","reference":"Ann","createdAt":"12:00","expiresAt":"12:01"}]`},
	{"One order at a time holds an animal", `
		  2 3 POST orders {"petId":1,"holdSeconds":60} = 201 order(1 1 open)
		+ 4 6 POST orders/1/cancel = 200 order(1 1 cancelled)
		+ 5 7 POST orders {"petId":1,"holdSeconds":60} = 201 order(2 1 open)
		- 4 5 POST orders {"petId":1,"holdSeconds":60} = 201 order(2 1 open)
		- 6 7 POST orders/1/cancel = 200 order(1 1 cancelled)`},
	{"An order and its animal change together", `
		  2 3 POST orders {"petId":1,"holdSeconds":60} = 201 order(1 1 open)
		  4 5 POST orders/1/complete = 200 order(1 1 completed)
		+ 6 7 GET pets/1 = 200 pet(1 Rex sold)
		- 6 7 GET orders/1 = 200 order(1 1 completed)
		- 8 9 GET pets/1 = 200 pet(1 Rex pending)`},
	{"An order whose hold is over has expired, and is not open any more", `
		  2 3 POST orders {"petId":1,"holdSeconds":60} = 201 order(1 1 open)
		+ 64 65 GET orders/1 = 200 order(1 1 expired)
		+ 66 67 POST orders {"petId":1,"holdSeconds":60} = 201 order(2 1 open)
		- 64 65 GET orders/1 = 200 order(1 1 open)`},
	{"An order that was shown as expired is not completed", `
		  2 3 POST orders {"petId":1,"holdSeconds":60} = 201 order(1 1 open)
		  60 64 POST orders/1/complete = 200 order(1 1 completed)
		+ 61 63 GET orders/1 = 200 order(1 1 completed)
		- 61 63 GET orders/1 = 200 order(1 1 expired)`},
	{"An inventory may be the first to show that a hold is over, but not before its time", `
		  2 3 POST orders {"petId":1,"holdSeconds":60} = 201 order(1 1 open)
		+ 64 65 GET inventory = 200 {"available":1,"pending":0,"sold":0}
		- 50 51 GET inventory = 200 {"available":1,"pending":0,"sold":0}`},
	{"A link may be the first to show that a hold is over, but not before its time", `
		  2 3 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		  4 5 POST orders {"petId":1,"holdSeconds":60} = 201 order(1 1 open)
		+ 66 67 GET pets?limit=1&status=available = 200 more [pet(2 Max available)]
		- 50 51 GET pets?limit=1&status=available = 200 more [pet(2 Max available)]`},
	{"An order does not expire before its time", `
		  2 3 POST orders {"petId":1,"holdSeconds":60} = 201 order(1 1 open)
		+ 30 31 PATCH pets/1 {"status":"sold"} = 409 error(pet_reserved Order 1 holds this animal until then.)
		- 30 31 PATCH pets/1 {"status":"sold"} = 200 pet(1 Rex sold)
		- 32 33 GET orders/1 = 200 order(1 1 open)`},
	{"A closed order changes no more", `
		  2 3 POST orders {"petId":1,"holdSeconds":60} = 201 order(1 1 open)
		  4 5 POST orders/1/cancel = 200 order(1 1 cancelled)
		+ 6 7 POST orders/1/complete = 409 error(order_closed This order was cancelled at noon. Only its reference can still change.)
		- 6 7 POST orders/1/complete = 200 order(1 1 completed)
		- 8 9 GET orders/1 = 200 order(1 1 cancelled)`},
	{"A list is a look at all animals at one moment", `
		  0 1 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		+ 2 9 GET pets = 200 [pet(2 Max sold),pet(1 Rex sold)]
		  3 4 PATCH pets/1 {"status":"sold"} = 200 pet(1 Rex sold)
		  5 6 PATCH pets/2 {"status":"sold"} = 200 pet(2 Max sold)
		- 2 9 GET pets = 200 [pet(2 Max sold),pet(1 Rex available)]`},
	{"Two lists see changes in the same order", `
		  0 1 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		  2 9 PATCH pets/1 {"status":"sold"} = 200 pet(1 Rex sold)
		  2 9 PATCH pets/2 {"status":"sold"} = 200 pet(2 Max sold)
		  3 8 GET pets = 200 [pet(2 Max available),pet(1 Rex sold)]
		+ 3 8 GET pets = 200 [pet(2 Max sold),pet(1 Rex sold)]
		- 3 8 GET pets = 200 [pet(2 Max sold),pet(1 Rex available)]`},
	{"A list of a status leaves out nobody who has it", `
		  2 3 PATCH pets/1 {"status":"sold"} = 200 pet(1 Rex sold)
		+ 4 5 GET pets?status=available = 200 []
		  6 7 GET pets?status=sold = 200 [pet(1 Rex sold)]
		- 4 5 GET pets?status=sold = 200 []`},
	{"A page ends with its last row, and another one follows only if there is more", `
		+ 0 1 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		+ 2 3 GET pets?limit=1 = 200 more [pet(2 Max available)]
		- 2 3 GET pets?limit=1 = 200 more [pet(1 Rex available)]`},
	{"An inventory may count an animal that nobody saw, if somebody asked for it before", `
		+ 2 3 POST pets {"name":"Max","categoryId":1} = lost
		  4 5 GET inventory = 200 {"available":2,"pending":0,"sold":0}
		- 6 7 POST pets {"name":"Max","categoryId":1} = lost`},
	{"An inventory is exact at one moment", `
		  2 4 PATCH pets/1 {"status":"sold"} = 200 pet(1 Rex sold)
		+ 3 5 GET inventory = 200 {"available":1,"pending":0,"sold":0}
		+ 6 7 GET inventory = 200 {"available":0,"pending":0,"sold":1}
		- 3 5 GET inventory = 200 {"available":1,"pending":0,"sold":1}`},
	{"Orders are listed by the state they are in", `
		  2 3 POST orders {"petId":1,"holdSeconds":60} = 201 order(1 1 open)
		+ 4 5 GET orders?status=open = 200 [order(1 1 open)]
		  6 7 POST orders/1/cancel = 200 order(1 1 cancelled)
		+ 8 9 GET orders?status=open = 200 []
		- 4 5 GET orders?status=open = 200 []`},
	{"An order never changes its animal", `
		  2 3 POST orders {"petId":1,"holdSeconds":60} = 201 order(1 1 open)
		+ 4 5 GET orders/1 = 200 order(1 1 open)
		- 4 5 GET orders/1 = 200 order(1 7 open)`},
	{"No two categories have one name", `
		  0 1 PUT categories/1 {"name":"Dogs"} = 201 {"id":1,"name":"Dogs"}
		+ 2 3 PUT categories/2 {"name":"Dogs"} = 409 error(name_taken Category 1 already has this name.)
		+ 4 5 DELETE categories/1 = 204
		+ 6 7 PUT categories/2 {"name":"Dogs"} = 201 {"id":2,"name":"Dogs"}
		- 2 3 PUT categories/2 {"name":"Dogs"} = 201 {"id":2,"name":"Dogs"}`},
	{"The counter of categories never goes back", `
		  0 1 POST categories {"name":"Dogs"} = 201 {"id":1,"name":"Dogs"}
		  2 3 DELETE categories/1 = 204
		+ 4 5 POST categories {"name":"Cats"} = 201 {"id":2,"name":"Cats"}
		+ 6 7 GET categories = 200 [{"id":2,"name":"Cats"}]
		- 4 5 POST categories {"name":"Cats"} = 201 {"id":1,"name":"Cats"}`},
	{"The counter of categories never goes back to a number that it left out", `
		+ 0 1 POST categories {"name":"Dogs"} = 201 {"id":1,"name":"Dogs"}
		+ 2 3 POST categories {"name":"Cats"} = 201 {"id":2,"name":"Cats"}
		- 0 1 POST categories {"name":"Dogs"} = 201 {"id":2,"name":"Dogs"}
		- 2 3 POST categories {"name":"Cats"} = 201 {"id":1,"name":"Cats"}`},
	{"A list of orders shows whose hold is over", `
		  2 3 POST orders {"petId":1,"holdSeconds":60} = 201 order(1 1 open)
		+ 64 65 GET orders = 200 [order(1 1 expired)]
		- 64 65 GET orders = 200 [order(1 1 open)]`},
	{"The times of an order never change", `
		  2 3 POST orders {"petId":1,"holdSeconds":60} = 201 {"id":1,"petId":1,"status":"open","createdAt":"12:00","expiresAt":"12:01"}
		+ 4 5 GET orders/1 = 200 {"id":1,"petId":1,"status":"open","createdAt":"12:00","expiresAt":"12:01"}
		- 4 5 GET orders/1 = 200 {"id":1,"petId":1,"status":"open","createdAt":"12:00","expiresAt":"12:02"}`},
	{"A category has a name that somebody gave it", `
		  0 1 PUT categories/1 {"name":"Dogs"} = 201 {"id":1,"name":"Dogs"}
		+ 2 3 GET categories = 200 [{"id":1,"name":"Dogs"}]
		- 2 3 GET categories = 200 [{"id":1,"name":"Dogs"},{"id":2,"name":"Cats"}]`},
	{"A page has its rows in their order", `
		  0 1 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		+ 2 3 GET pets = 200 [pet(2 Max available),pet(1 Rex available)]
		- 2 3 GET pets = 200 [pet(1 Rex available),pet(2 Max available)]`},
	{"A page has no more rows than were asked for", `
		  0 1 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		+ 2 3 GET pets?limit=2 = 200 [pet(2 Max available),pet(1 Rex available)]
		- 2 3 GET pets?limit=1 = 200 [pet(2 Max available),pet(1 Rex available)]`},
	{"A number may get a name while it is deleted", `
		  2 3 PUT categories/1 {"name":"Cats"} = 201 {"id":1,"name":"Cats"}
		  4 9 PUT categories/1 {"name":"Dogs"} = 201 {"id":1,"name":"Dogs"}
		  5 6 DELETE categories/1 = 204
		+ 10 11 GET categories = 200 [{"id":1,"name":"Dogs"}]
		- 10 11 GET categories = 200 []`},
	{"A name that was given before does not tell when it is given again", `
		  2 3 PUT categories/1 {"name":"Cats"} = 201 {"id":1,"name":"Cats"}
		  4 5 PUT categories/1 {"name":"Dogs"} = 200 {"id":1,"name":"Dogs"}
		  6 7 PUT categories/1 {"name":"Cats"} = lost
		  8 9 GET categories/1 = 200 {"id":1,"name":"Dogs"}
		+ 10 11 GET categories/1 = 200 {"id":1,"name":"Cats"}
		- 10 11 GET categories/1 = 404 error(not_found There is no category with this number.)`},
	{"A replay says that it is one", `
		  2 3 POST pets #a {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		+ 4 5 POST pets #a {"name":"Max","categoryId":1} = 201 replayed pet(2 Max available)
		- 4 5 POST pets #a {"name":"Max","categoryId":1} = 201 pet(2 Max available)`},
	{"Only a replay says that it is one", `
		+ 2 3 POST pets #a {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		- 2 3 POST pets #a {"name":"Max","categoryId":1} = 201 replayed pet(2 Max available)`},
	{"A refusal names the order that holds the animal", `
		  2 3 POST orders {"petId":1} = 201 order(7 1 open)
		+ 4 5 DELETE pets/1 = 409 error(pet_reserved Order 7 holds this animal until then.)
		- 4 5 DELETE pets/1 = 409 error(pet_reserved Order 8 holds this animal until then.)`},
	{"A refusal names the status of the animal", `
		  2 3 PATCH pets/1 {"status":"sold"} = 200 pet(1 Rex sold)
		+ 4 5 POST orders {"petId":1} = 409 error(pet_unavailable This animal is sold, not available. Order another one.)
		- 4 5 POST orders {"petId":1} = 409 error(pet_unavailable This animal is pending, not available. Order another one.)`},
	{"A refusal names the status of the order", `
		  2 3 POST orders {"petId":1} = 201 order(1 1 open)
		  4 5 POST orders/1/cancel = 200 order(1 1 cancelled)
		+ 6 7 POST orders/1/complete = 409 error(order_closed This order was cancelled at noon. Only its reference can still change.)
		- 6 7 POST orders/1/complete = 409 error(order_closed This order expired at noon. Only its reference can still change.)`},
	{"A refusal names the category that has the name", `
		  2 3 PUT categories/1 {"name":"Dogs"} = 201 {"id":1,"name":"Dogs"}
		+ 4 5 PUT categories/2 {"name":"Dogs"} = 409 error(name_taken Category 1 already has this name.)
		- 4 5 PUT categories/2 {"name":"Dogs"} = 409 error(name_taken Category 3 already has this name.)`},
	{"An order without an answer may hold its animal", `
		+ 2 3 POST orders {"petId":1} = lost
		  4 5 POST pets {"name":"Max","categoryId":1} = 201 pet(2 Max available)
		  6 7 POST orders {"petId":2} = lost
		  8 9 GET pets = 200 [pet(2 Max pending),pet(1 Rex pending)]`},
	{"An order stays when its animal is deleted", `
		  2 3 POST orders {"petId":1} = 201 order(1 1 open)
		  4 5 POST orders/1/cancel = 200 order(1 1 cancelled)
		  6 7 DELETE pets/1 = 204
		+ 8 9 GET orders = 200 [order(1 1 cancelled)]
		- 8 9 GET orders = 200 []`},
	{"A number that was deleted can get a name again", `
		  2 3 PUT categories/1 {"name":"Cats"} = 201 {"id":1,"name":"Cats"}
		  4 5 DELETE categories/1 = 204
		  6 7 PUT categories/1 {"name":"Dogs"} = 201 {"id":1,"name":"Dogs"}
		+ 8 9 GET categories = 200 [{"id":1,"name":"Dogs"}]
		- 8 9 GET categories = 200 []`},
}
