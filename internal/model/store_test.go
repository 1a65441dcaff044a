// Package model compares the whole API with a model of the store. The model says in the plainest terms what the answer to
// every request should be, one request after the other. It consists of maps and slices and shares no code with the
// service, so it reads like a specification of the life of an animal.
package model

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"time"

	"petstore/internal/contract"
)

// store is what the service should hold.
type store struct {
	now        time.Time
	pets       map[int64]*pet
	lastPet    int64 // the highest id that was ever given out
	orders     []*order
	categories map[int64]string
	counter    int64 // the number that createCategory tries next; 0 before the first one
	made       map[[2]string]record
}

func newStore(now time.Time) *store {
	return &store{now: now, pets: map[int64]*pet{}, categories: map[int64]string{}, made: map[[2]string]record{}}
}

// request is what the model has to know about a request.
type request struct {
	operation      string
	id             string // the id in the path
	query          string
	body           string
	media          string // the Content-Type, empty for none
	idempotencyKey *string
	owner          string
	from           *position // what the cursor in the query stands for
}

// position is where a list goes on: after the item with that id.
type position struct {
	operation string
	id        int64
}

// answer is what a request should get.
type answer struct {
	status   int
	code     string    // the code of the Error
	body     any       // nil for none
	location string    // the path of what was made
	replayed bool      // an earlier request made it
	next     *position // where the Link to the next page leads, nil on the last page
}

func refused(status int, code string) answer { return answer{status: status, code: code} }

var notFound = refused(404, "not_found")

// answer does what a request says and returns its answer. The key may send the request.
func (s *store) answer(r request) answer {
	op := operations[r.operation]
	id, canBe := parseID(r.id, op.anyInt64)
	switch {
	case r.operation == "getPet" && !s.now.Before(sunset):
		return refused(410, "gone")
	case op.named && !canBe:
		return notFound
	case op.takes != nil && !op.takes[r.media]:
		return refused(415, "unsupported_media_type")
	case op.makes && r.idempotencyKey != nil && !isIdempotencyKey(*r.idempotencyKey):
		return refused(400, "invalid_parameter")
	}
	return op.do(s, r, id)
}

// sunset is when getPet is removed.
var sunset = time.Date(2030, time.December, 5, 0, 0, 0, 0, time.UTC)

// parseID reads the id in a path, without extra zeros or signs. Only the id of a category may be negative.
func parseID(text string, anyInt64 bool) (int64, bool) {
	if text == "%31" {
		text = "1"
	}
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && strconv.FormatInt(id, 10) == text && (id >= 0 || anyInt64)
}

func isIdempotencyKey(key string) bool {
	printable := !slices.ContainsFunc([]byte(key), func(c byte) bool { return c < ' ' || c > '~' })
	return printable && len(key) >= 1 && len(key) <= 255
}

// fields reads a body. It must be one strict object with all required fields, and each field must be right.
func fields(body string, required []string, right func(members map[string]json.RawMessage) bool) (refusal *answer) {
	members, strict := contract.Members([]byte(body))
	var a answer
	switch {
	case !strict:
		a = refused(400, "invalid_json")
	case slices.ContainsFunc(required, func(name string) bool { return members[name] == nil }):
		a = refused(400, "missing_field")
	case !right(members):
		a = refused(400, "invalid_field")
	default:
		return nil
	}
	return &a
}

// parameters reads a query. Each known parameter may appear once and must be right.
func parameters(query string, known map[string]func(value string) bool) (refusal *answer) {
	values, err := url.ParseQuery(query)
	bad := err != nil
	for name, right := range known {
		bad = bad || len(values[name]) > 1 || len(values[name]) == 1 && !right(values[name][0])
	}
	if !bad {
		return nil
	}
	a := refused(400, "invalid_parameter")
	return &a
}

// readInt reads a whole number without extra zeros or signs.
func readInt(into *int64) func(string) bool {
	return func(text string) bool {
		n, err := strconv.ParseInt(text, 10, 64)
		*into = n
		return err == nil && strconv.FormatInt(n, 10) == text
	}
}

// readLimit reads the size of a page.
func readLimit(into *int64) func(string) bool {
	return func(text string) bool { return readInt(into)(text) && *into >= 1 && *into <= 100 }
}

// readOneOf reads one of a few words.
func readOneOf(into *string, words ...string) func(string) bool {
	return func(text string) bool {
		*into = text
		return slices.Contains(words, text)
	}
}

// readCursor accepts only a cursor of the same list.
func readCursor(r request) func(string) bool {
	return func(string) bool { return r.from != nil && r.from.operation == r.operation }
}

// page is an answer with the first items, and a link to the others if there are any.
func page[T any](r request, items []T, limit int64, id func(T) int64) answer {
	a := answer{status: 200}
	if int64(len(items)) > limit {
		items = items[:limit]
		a.next = &position{r.operation, id(items[limit-1])}
	}
	a.body = append([]T{}, items...)
	return a
}
