package httpapi

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"petstore/internal/petstore"
)

// shape describes a body: what to send, and the members that it may have, in the order in which a refusal names their
// faults.
type shape[T any] struct {
	what    string
	members []member[T]
}

// member is one field of a body.
type member[T any] struct {
	name     string
	required bool
	// read stores the value, or says what is wrong with it.
	read func(into *T, value jsontext.Value) (problem string)
}

// maxMembers is more than any shape has.
const maxMembers = 8

// decode reads a body of strict JSON. Its refusal names every faulty field.
func (s *shape[T]) decode(body []byte, into *T) error {
	var seen [maxMembers]bool
	var problems [maxMembers]string
	err := eachMember(body, s.what, func(name string, value jsontext.Value) {
		for i := range s.members {
			if m := &s.members[i]; m.name == name {
				seen[i], problems[i] = true, m.read(into, value)
				return
			}
		}
	})
	if err != nil {
		return err
	}
	var faults petstore.Faults
	for i, m := range s.members {
		if m.required && !seen[i] {
			faults.AddMissing(m.name)
		}
		faults.Add(m.name, problems[i])
	}
	return faults.Err()
}

// readText reads a string and checks it.
func readText(into *string, value jsontext.Value, check func(string) string) (problem string) {
	if value.Kind() != '"' {
		return "must be a string"
	}
	*into = unquoted(value)
	return check(*into)
}

// readWhole reads a whole number.
func readWhole(into *int64, value jsontext.Value) (problem string) {
	var ok bool
	if *into, ok = parseWhole(value); !ok {
		return "must be a whole number from -9223372036854775808 to 9223372036854775807"
	}
	return ""
}

// readStatus reads the status of an animal.
func readStatus(into *petstore.Status, value jsontext.Value) (problem string) {
	*into = 0
	if value.Kind() == '"' {
		*into, _ = petstore.ParseStatus(unquoted(value))
	}
	return petstore.CheckStatus(*into)
}

// unquoted is the text of a JSON string that the decoder has checked.
func unquoted(value jsontext.Value) string {
	return appended(func(b []byte) []byte {
		b, _ = jsontext.AppendUnquote(b, value)
		return b
	})
}

var (
	decoders = sync.Pool{New: func() any { return new(jsontext.Decoder) }}
	nothing  = strings.NewReader("")
)

// maxNames is how many member names a body may have, including those of nested objects. With more names, the search for
// duplicates would cost more than the rest of the request.
const maxNames = 1000

// eachMember calls visit with every member of the body, which must be one JSON object. If it is not, the refusal says
// what to send instead.
func eachMember(body []byte, what string, visit func(name string, value jsontext.Value)) error {
	if countNames(body) > maxNames {
		return petstore.Errorf(petstore.InvalidJSON, "The body has more than 1,000 fields. Send %s only.", what)
	}
	dec := decoders.Get().(*jsontext.Decoder)
	dec.Reset(bytes.NewBuffer(body))
	defer func() {
		dec.Reset(nothing) // so that the decoder does not keep the body in memory
		decoders.Put(dec)
	}()
	start, err := dec.ReadToken()
	switch {
	case errors.Is(err, io.EOF):
		return petstore.Errorf(petstore.InvalidJSON, "The body is empty. Send a JSON object with %s.", what)
	case err != nil:
		return syntaxError(err)
	case start.Kind() != '{':
		return petstore.Errorf(petstore.InvalidJSON, "The body is not a JSON object. Send one with %s.", what)
	}
	for dec.PeekKind() != '}' {
		token, err := dec.ReadToken()
		if err != nil {
			return syntaxError(err)
		}
		name := token.String()
		value, err := dec.ReadValue()
		if err != nil {
			return syntaxError(err)
		}
		visit(name, value)
	}
	if _, err := dec.ReadToken(); err != nil {
		return syntaxError(err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return petstore.Errorf(petstore.InvalidJSON, "There is more after the JSON object that is the body. Send one object only.")
	}
	return nil
}

// countNames counts the member names of a JSON text. It counts the colons outside of strings, because one follows each
// name. It does not read a text that is too short for maxNames.
func countNames(body []byte) (n int) {
	if len(body) < 5*maxNames { // a member is at least as long as "":0,
		return 0
	}
	inString := false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '"':
			inString = !inString
		case c == '\\' && inString:
			i++
		case c == ':' && !inString:
			n++
		}
	}
	return n
}

func syntaxError(err error) error {
	var where *jsontext.SyntacticError
	if !errors.As(err, &where) {
		return petstore.Errorf(petstore.InvalidJSON, "The body is not valid JSON: it ends too early.")
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return petstore.Errorf(petstore.InvalidJSON, "The body has the same field twice (at byte %d). Send each field once.", where.ByteOffset)
	}
	return petstore.Errorf(petstore.InvalidJSON, "The body is not valid JSON (at byte %d). It must be one JSON object in UTF-8.", where.ByteOffset)
}

// parseWhole reads a JSON number that is mathematically a whole number within int64, such as 100, 1.0 or 1e2. It works
// on the digits, in one pass, so that a huge exponent costs nothing.
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

// parseExponent reads an exponent. It is exact for every exponent that can matter in a body of maxBody bytes.
func parseExponent(digits []byte) int {
	const beyond = 1 << 30
	sign := 1
	if digits[0] == '+' || digits[0] == '-' {
		if digits[0] == '-' {
			sign = -1
		}
		digits = digits[1:]
	}
	n := 0
	for _, d := range digits {
		n = min(n*10+int(d-'0'), beyond)
	}
	return sign * n
}
