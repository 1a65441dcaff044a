package model

import (
	"fmt"
	"net/url"
	"strings"
)

// names lists the operations of the interface, and then the other things that may happen. A script refers to them by their
// position in this list.
var names = []string{
	"createPet", "listPets", "getPet", "updatePet", "deletePet", "getInventory",
	"createCategory", "listCategories", "getCategory", "nameCategory", "deleteCategory",
	"placeOrder", "listOrders", "getOrder", "updateOrder", "completeOrder", "cancelOrder",
	"followLink", "passTime", "expireOrders", "revokeKey", "changeAccess", "restart", "listEvents",
}

// A script chooses from these values. The first value of each list is valid, so that a script of zeros sends valid
// requests.
var (
	ids             = []string{"1", "2", "3", "4", "5", "0", "-3", "%31", "01", "x", "9223372036854775807", "9223372036854775808", "9007199254740991", "9007199254740992"}
	petNames        = []string{`"Rex"`, `"Ada"`, `"Zoë <\u0026>"`, `"\ud83d\ude00"`, `""`, `" "`, `"a\u0000"`, `7`, `null`, ``, text(100), text(101), text(1000), text(1001)}
	numbers         = []string{`1`, `2`, `3`, `-5`, `1e1`, `40.0`, `1.5`, `"1"`, `null`, ``, `9007199254740990`, `9007199254740991`, `9223372036854775807`, `9223372036854775808`}
	statuses        = []string{``, `"available"`, `"pending"`, `"sold"`, `"lost"`, `null`, `1`}
	petIDs          = []string{`1`, `2`, `3`, `4`, `5`, `0`, `-1`, `1.0`, `"1"`, ``, `null`}
	notes           = []string{``, `"r-1"`, `""`, `null`, text(200), text(201)}
	holds           = []string{``, `60`, `59`, `3600`, `6e1`, `2592000`, `2592001`, `null`, `86400`}
	lengths         = []string{``, `1`, `2`, `3`, `100`, `0`, `101`, `x`, `01`}
	words           = []string{``, `available`, `pending`, `sold`, `open`, `completed`, `cancelled`, `expired`, `lost`}
	others          = []string{``, `1`, `2`, `3`, `-1`, `x`, `+1`}
	oddities        = []string{``, ``, `&x=y`, `&limit=2`, `&%zz`, `&a;b`, `&status=`, `&cursor=AQAAAAAAAAAB%0A`, `&Limit=0`}
	contentTypes    = []string{"application/json", "", "application/json; charset=utf-8", "application/merge-patch+json", "application/vnd.x+json", "text/plain"}
	idempotencyKeys = []string{"", "a", "b", "c", "(empty)", strings.Repeat("k", 255), strings.Repeat("k", 256), "é"}
)

func text(length int) string { return `"` + strings.Repeat("n", length) + `"` }

// step is one thing that happens in a script. It takes eight bytes of the script.
type step [8]byte

func (s step) pick(i int, from []string) string { return from[int(s[i])%len(from)] }

func (s step) name() string { return s.pick(0, names) }

// body returns a request body with the fields of the operation, or one of the lines that the fuzzer made up.
func (s step) body(lines []string) string {
	if s[7] >= 192 {
		return lines[int(s[7]-192)%len(lines)]
	}
	switch s.name() {
	case "createPet", "updatePet":
		return object("name", s.pick(3, petNames), "categoryId", s.pick(4, numbers), "status", s.pick(5, statuses))
	case "createCategory", "nameCategory":
		return object("name", s.pick(3, petNames))
	case "placeOrder":
		return object("petId", s.pick(3, petIDs), "reference", s.pick(4, notes), "holdSeconds", s.pick(5, holds))
	case "updateOrder":
		return object("reference", s.pick(4, notes), "holdSeconds", s.pick(5, holds))
	}
	return ""
}

// object returns a JSON object with the members that have a value. The arguments are names, each followed by its value.
func object(pairs ...string) string {
	var members []string
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			members = append(members, fmt.Sprintf("%q:%s", pairs[i], pairs[i+1]))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// query returns the query string of a list request. The cursor comes from an earlier answer.
func (s step) query(cursor string) string {
	values := url.Values{}
	add := func(name, value string) {
		if value != "" {
			values.Set(name, value)
		}
	}
	add("limit", s.pick(3, lengths))
	add("status", s.pick(4, words))
	add(map[string]string{"listPets": "id", "listOrders": "petId"}[s.name()], s.pick(5, others))
	add("cursor", cursor)
	values.Del("")
	return values.Encode() + s.pick(7, oddities)
}
