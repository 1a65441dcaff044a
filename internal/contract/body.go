package contract

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Members returns the members of a JSON object, and reports whether the object obeys the rules for all bodies. It uses
// encoding/json, and adds checks where encoding/json is lenient.
func Members(body []byte) (members map[string]json.RawMessage, ok bool) {
	ok = utf8.Valid(body) && !hasLoneSurrogate(body) && json.Unmarshal(body, &members) == nil && members != nil && !hasDuplicates(body)
	return members, ok
}

// Text returns a member that must be a text with at most the given number of characters. It returns nil if the member is
// missing.
func Text(members map[string]json.RawMessage, name string, longest int) (s *string, ok bool) {
	value, given := members[name]
	if !given {
		return nil, true
	}
	s = new(string)
	return s, isString(value) && json.Unmarshal(value, s) == nil && isText(*s, longest)
}

// Whole returns a member that must be a whole number. It returns nil if the member is missing.
func Whole(members map[string]json.RawMessage, name string) (n *int64, ok bool) {
	value, given := members[name]
	if !given {
		return nil, true
	}
	whole, ok := wholeNumber(string(value))
	return &whole, ok
}

func isText(s string, longest int) bool {
	return s != "" && utf8.RuneCountInString(s) <= longest && strings.TrimSpace(s) != "" && !strings.Contains(s, "\x00")
}

func isString(value []byte) bool { return len(value) > 0 && value[0] == '"' }

// wholeNumber parses a whole number. It does not let big.Rat parse a number with such a large exponent that the number
// would fill the memory.
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

// hasDuplicates reports whether an object in a valid body has two members with the same name, or whether the body has more
// names than the rules allow.
func hasDuplicates(body []byte) bool {
	type level struct {
		names  map[string]bool // nil if the level is an array
		isName bool
	}
	var levels []level
	names := 0
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber() // otherwise a number that does not fit a float64 is an error
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
