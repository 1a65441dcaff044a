package httpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"petstore/internal/petstore"
)

func FuzzBody(f *testing.F) {
	f.Fuzz(func(t *testing.T, body []byte) {
		pet, err := decodeNewPet(body)
		want, valid := oracle(body)
		if valid != (err == nil) {
			t.Fatalf("%q is refused with %v; the oracle takes it: %v", body, err, valid)
		}
		if err != nil {
			return
		}
		if pet != want {
			t.Fatalf("%q is read as %+v, the oracle reads %+v", body, pet, want)
		}
		if fault := pet.Validate().Err(); fault != nil {
			t.Fatalf("%q is taken although %v", body, fault)
		}
		again, err := decodeNewPet(appendPet(nil, petstore.Pet{ID: 1, NewPet: pet}))
		if err != nil || again != pet {
			t.Fatalf("%q is read as %+v, written and read again as %+v, %v", body, pet, again, err)
		}
	})
}

// oracle reads a body with encoding/json and big numbers, and checks for itself what that package is lenient about.
func oracle(body []byte) (petstore.NewPet, bool) {
	members, ok := strictMembers(body)
	if !ok {
		return petstore.NewPet{}, false
	}
	pet := petstore.NewPet{Status: petstore.Available}
	category, isWhole := wholeNumber(string(members["categoryId"]))
	pet.CategoryID = category
	ok = isWhole && isString(members["name"]) && json.Unmarshal(members["name"], &pet.Name) == nil
	if status, given := members["status"]; given {
		var name string
		ok = ok && isString(status) && json.Unmarshal(status, &name) == nil && slices.Contains([]string{"available", "pending", "sold"}, name)
		pet.Status, _ = petstore.ParseStatus(name)
	}
	return pet, ok && isText(pet.Name, 1000)
}

// strictMembers reads the members of an object that breaks no rule of every body.
func strictMembers(body []byte) (members map[string]json.RawMessage, ok bool) {
	ok = utf8.Valid(body) && !hasLoneSurrogate(body) && json.Unmarshal(body, &members) == nil && members != nil && !hasDuplicates(body)
	return members, ok
}

func isText(s string, max int) bool {
	return s != "" && utf8.RuneCountInString(s) <= max && strings.TrimSpace(s) != "" && !strings.Contains(s, "\x00")
}

func isString(value []byte) bool { return len(value) > 0 && value[0] == '"' }

// wholeNumber keeps exponents away from big.Rat that would fill the memory.
func wholeNumber(number string) (int64, bool) {
	if number == "" || !strings.ContainsRune("-0123456789", rune(number[0])) {
		return 0, false
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	if e, err := strconv.ParseInt(exponent, 10, 64); exponent != "" && (err != nil || max(e, -e) > int64(len(number)+40)) {
		return 0, strings.Trim(mantissa, "-0.") == ""
	}
	value, ok := new(big.Rat).SetString(number)
	if !ok || !value.IsInt() || !value.Num().IsInt64() {
		return 0, false
	}
	return value.Num().Int64(), true
}

func hasLoneSurrogate(body []byte) bool {
	high := false
	for i := 0; i < len(body); i++ {
		var unit uint64
		escape := body[i] == '\\' && i+1 < len(body)
		if escape && body[i+1] == 'u' && i+6 <= len(body) {
			unit, _ = strconv.ParseUint(string(body[i+2:i+6]), 16, 16)
			i += 4
		}
		if escape {
			i++
		}
		low := unit >= 0xdc00 && unit <= 0xdfff
		if low != high {
			return true
		}
		high = unit >= 0xd800 && unit <= 0xdbff
	}
	return high
}

// hasDuplicates looks for a name that stands twice in one object of a valid body, or for more names than a body may have.
func hasDuplicates(body []byte) bool {
	type level struct {
		names  map[string]bool // nil in an array
		isName bool
	}
	var levels []level
	names := 0
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber() // or a number that no float64 holds is an error
	for {
		token, err := dec.Token()
		if err != nil {
			return err != io.EOF
		}
		if token == json.Delim('}') || token == json.Delim(']') {
			levels = levels[:len(levels)-1]
			continue
		}
		if n := len(levels); n > 0 && levels[n-1].names != nil {
			current := &levels[n-1]
			current.isName = !current.isName
			if name, _ := token.(string); current.isName {
				if names++; current.names[name] || names > 1000 {
					return true
				}
				current.names[name] = true
			}
		}
		switch token {
		case json.Delim('{'):
			levels = append(levels, level{names: map[string]bool{}})
		case json.Delim('['):
			levels = append(levels, level{})
		}
	}
}

func FuzzQuery(f *testing.F) {
	f.Fuzz(func(t *testing.T, raw string) {
		parsed, err := parsePets(raw)
		q := parsed.PetQuery
		values, malformed := url.ParseQuery(raw)
		if err != nil {
			if !petstore.IsCode(err, petstore.InvalidParameter) {
				t.Fatalf("%q is refused with %v", raw, err)
			}
			return
		}
		if malformed != nil {
			t.Fatalf("%q is read as %+v although %v", raw, q, malformed)
		}
		want := petstore.PetQuery{Limit: 20}
		if parsed.one != values.Has("id") || (parsed.one && strconv.FormatInt(parsed.id, 10) != values.Get("id")) {
			t.Fatalf("%q is read as %+v", raw, parsed)
		}
		for _, name := range []string{"limit", "status", "cursor", "id"} {
			if len(values[name]) > 1 {
				t.Fatalf("%q is read as %+v although %s is there twice", raw, q, name)
			}
		}
		if values.Has("limit") {
			want.Limit, _ = strconv.Atoi(values.Get("limit"))
		}
		if want.Status, _ = petstore.ParseStatus(values.Get("status")); values.Has("status") && want.Status == 0 {
			t.Fatalf("%q is read as %+v although there is no such status", raw, q)
		}
		if want.Before = q.Before; values.Has("cursor") && string(appendCursor(nil, petCursor, q.Before)) != values.Get("cursor") {
			t.Fatalf("%q is read as %+v although that has another cursor", raw, q)
		}
		if q != want || q.Limit < 1 || q.Limit > 100 || q.Before < 0 || (q.Before > 0) != values.Has("cursor") {
			t.Fatalf("%q is read as %+v, want %+v", raw, q, want)
		}
	})
}
