package strictjson

import (
	"bytes"
	"math"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// ReadText stores a string and returns the problem that the function check finds. If the value is not a string, ReadText
// returns that as the problem.
func ReadText(into *string, value Value, check func(string) (problem string)) (problem string) {
	var ok bool
	if *into, ok = Unquote(value); !ok {
		return "must be a string"
	}
	return check(*into)
}

// ReadTexts stores an array of strings and returns what check says about it, or that the value is not such an array.
func ReadTexts(into *[]string, value Value, check func([]string) (problem string)) (problem string) {
	const wrong = "must be an array of strings"
	if value.Kind() != '[' {
		return wrong
	}
	*into = nil
	dec := jsontext.NewDecoder(bytes.NewReader(value))
	dec.ReadToken() // Decode has checked the syntax of the whole value
	for dec.PeekKind() != ']' {
		item, err := dec.ReadValue()
		text, ok := Unquote(item)
		if err != nil || !ok {
			return wrong
		}
		*into = append(*into, text)
	}
	return check(*into)
}

// ReadWhole stores a whole number. It stores 0 if the value is not a whole number within int64.
func ReadWhole(into *int64, value Value) (problem string) {
	var ok bool
	if *into, ok = parseWhole(value); !ok {
		return "must be a whole number from -9223372036854775808 to 9223372036854775807"
	}
	return ""
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Unquote returns the text of a JSON string that Decode has passed to a member. The result ok is false if the value is not a
// string.
func Unquote(value Value) (text string, ok bool) {
	if value.Kind() != '"' {
		return "", false
	}
	b := buffers.Get().(*[]byte)
	defer buffers.Put(b)
	*b, _ = jsontext.AppendUnquote((*b)[:0], value)
	return string(*b), true
}

// parseWhole reads a JSON number whose value is a whole number that fits an int64, such as 100, 1.0 or 1e2. It works on the
// digits, so that a huge exponent costs nothing.
func parseWhole(number []byte) (int64, bool) {
	digits, negative := bytes.CutPrefix(number, []byte("-"))
	if len(digits) == 0 || digits[0] < '0' || digits[0] > '9' {
		return 0, false
	}
	mantissa, exponent := digits, 0
	if i := bytes.IndexAny(digits, "eE"); i >= 0 {
		mantissa, exponent = digits[:i], parseExponent(digits[i+1:])
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	significant := bytes.TrimLeft(append(append(make([]byte, 0, len(mantissa)), whole...), fraction...), "0")
	trimmed := bytes.TrimRight(significant, "0")
	if len(trimmed) == 0 {
		return 0, true
	}
	zeros := exponent - len(fraction) + len(significant) - len(trimmed)
	if zeros < 0 || len(trimmed)+zeros > 19 {
		return 0, false
	}
	var n uint64
	for i := range len(trimmed) + zeros {
		n *= 10
		if i < len(trimmed) {
			n += uint64(trimmed[i] - '0')
		}
	}
	switch {
	case negative && n <= -math.MinInt64:
		return -int64(n), true
	case !negative && n <= math.MaxInt64:
		return int64(n), true
	}
	return 0, false
}

// parseExponent reads an exponent and caps it at 2^30. The cap changes no result, because a text of less than 1 GiB
// does not have enough digits to make up for a larger exponent.
func parseExponent(digits []byte) int {
	const maxExponent = 1 << 30
	sign := 1
	if digits[0] == '+' || digits[0] == '-' {
		if digits[0] == '-' {
			sign = -1
		}
		digits = digits[1:]
	}
	n := 0
	for _, d := range digits {
		n = min(n*10+int(d-'0'), maxExponent)
	}
	return sign * n
}
