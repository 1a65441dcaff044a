package model

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"petstore/internal/contract"
)

// refusal is the status and the code of an Error. It is zero if there is no Error.
type refusal struct {
	status int
	code   string
}

// sunset is the time at which getPet is removed.
var sunset = time.Date(2030, time.December, 5, 0, 0, 0, 0, time.UTC)

// request is a request that a script sends.
type request struct {
	name           string // the name of the operation
	id             string // the id in the path
	query          string
	cursorOf       string // the list from which the cursor in the query comes
	body           string
	media          string // the Content-Type, or empty for none
	idempotencyKey *string
}

// refusal returns the refusal that a request must get because of its key, or because of a mistake in the request. It
// returns zero if the answer depends on the content of the store.
func (r request) refusal(k *key, method string, now time.Time) refusal {
	media, hasBody := medias[r.name]
	switch {
	case !k.isUsable(now):
		return refusal{401, "unauthorized"}
	case k.isReadOnly && method != "GET" && method != "HEAD":
		return refusal{403, "forbidden"}
	case r.name == "getPet" && !now.Before(sunset):
		return refusal{410, "gone"}
	case strings.Contains(operations[r.name].path, "{}") && !r.hasPossibleID():
		return refusal{404, "not_found"}
	case hasBody && !slices.Contains(media, r.media):
		return refusal{415, "unsupported_media_type"}
	case operations[r.name].method != "GET" && r.idempotencyKey != nil && !isIdempotencyKey(*r.idempotencyKey):
		return refusal{400, "invalid_parameter"}
	case hasBody:
		return refuseBody(r.body, members[r.name])
	case strings.HasPrefix(r.name, "list"):
		return r.refuseQuery()
	}
	return refusal{}
}

// hasPossibleID reports whether a row can have the id in the path. A category can have any number. The id of an animal or
// an order is from 1 to 2^53-1.
func (r request) hasPossibleID() bool {
	text := strings.Replace(r.id, "%31", "1", 1)
	id, _ := strconv.ParseInt(text, 10, 64)
	return isWhole(text) && (strings.HasSuffix(r.name, "Category") || id >= 1 && id < 1<<53)
}

// isWhole reports whether a text is a whole number without leading zeros or a plus sign.
func isWhole(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == text
}

func isIdempotencyKey(key string) bool {
	printable := !slices.ContainsFunc([]byte(key), func(c byte) bool { return c < ' ' || c > '~' })
	return printable && len(key) >= 1 && len(key) <= 255
}

// member is a member that the service knows in a request body.
type member struct {
	name       string
	isRequired bool
	isRight    func(all map[string]json.RawMessage, name string) bool
}

var (
	anyJSON = []string{"", "application/json", "application/json; charset=utf-8", "application/merge-patch+json", "application/vnd.x+json"}
	medias  = map[string][]string{
		"createPet": anyJSON, "updatePet": anyJSON[:4], "createCategory": anyJSON, "nameCategory": anyJSON,
		"placeOrder": anyJSON, "updateOrder": anyJSON[:4],
	}

	members = map[string][]member{
		"createPet":      {{"name", true, isText(1000)}, {"categoryId", true, isNumber(-1<<63, 1<<63-1)}, {"status", false, isOneOf(PetStatuses)}},
		"updatePet":      {{"name", false, isText(1000)}, {"categoryId", false, isNumber(-1<<63, 1<<63-1)}, {"status", false, isOneOf(PetStatuses)}},
		"createCategory": {{"name", true, isText(100)}},
		"nameCategory":   {{"name", true, isText(100)}},
		"placeOrder":     {{"petId", true, isNumber(-1<<63, 1<<63-1)}, {"reference", false, isText(200)}, {"holdSeconds", false, isNumber(60, 2_592_000)}},
		"updateOrder":    {{"reference", false, isTextOrNull(200)}, {"holdSeconds", false, isNumber(60, 2_592_000)}},
	}
)

func isText(longest int) func(map[string]json.RawMessage, string) bool {
	return func(all map[string]json.RawMessage, name string) bool {
		_, ok := contract.Text(all, name, longest)
		return ok
	}
}

func isTextOrNull(longest int) func(map[string]json.RawMessage, string) bool {
	return func(all map[string]json.RawMessage, name string) bool {
		return string(all[name]) == "null" || isText(longest)(all, name)
	}
}

func isNumber(least, most int64) func(map[string]json.RawMessage, string) bool {
	return func(all map[string]json.RawMessage, name string) bool {
		n, ok := contract.Whole(all, name)
		return ok && (n == nil || *n >= least && *n <= most)
	}
}

func isOneOf(words []string) func(map[string]json.RawMessage, string) bool {
	return func(all map[string]json.RawMessage, name string) bool {
		word, ok := contract.Text(all, name, 1000)
		return ok && (word == nil || slices.Contains(words, *word))
	}
}

func refuseBody(body string, known []member) refusal {
	all, isStrict := contract.Members([]byte(body))
	switch {
	case !isStrict:
		return refusal{400, "invalid_json"}
	case slices.ContainsFunc(known, func(m member) bool { return m.isRequired && all[m.name] == nil }):
		return refusal{400, "missing_field"}
	case slices.ContainsFunc(known, func(m member) bool { return !m.isRight(all, m.name) }):
		return refusal{400, "invalid_field"}
	}
	return refusal{}
}

// refuseQuery refuses a query in which a parameter is wrong or given twice.
func (r request) refuseQuery() refusal {
	values, err := url.ParseQuery(r.query)
	known := map[string]func(string) bool{
		"limit":  func(text string) bool { n, _ := strconv.Atoi(text); return isWhole(text) && n >= 1 && n <= 100 },
		"cursor": func(string) bool { return r.cursorOf == r.name },
	}
	switch r.name {
	case "listPets":
		known["id"], known["status"] = isWhole, func(text string) bool { return slices.Contains(PetStatuses, text) }
	case "listOrders":
		known["petId"], known["status"] = isWhole, func(text string) bool { return slices.Contains(OrderStatuses, text) }
	}
	for name, isRight := range known {
		if err != nil || len(values[name]) > 1 || len(values[name]) == 1 && !isRight(values[name][0]) {
			return refusal{400, "invalid_parameter"}
		}
	}
	return refusal{}
}
