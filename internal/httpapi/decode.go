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

const notWhole = "must be a whole number from -9223372036854775808 to 9223372036854775807"

// decodeNewPet reads the body of a create: strict JSON, and one refusal that names every faulty field.
func decodeNewPet(body []byte) (petstore.NewPet, error) {
	pet := petstore.NewPet{Status: petstore.Available}
	var name, category, status field
	err := eachMember(body, func(member string, value jsontext.Value) {
		switch member {
		case "name":
			name.seen = true
			if value.Kind() != '"' {
				name.problem = "must be a string"
				return
			}
			pet.Name = unquoted(value)
		case "categoryId":
			category.seen = true
			n, ok := parseWhole(value)
			if !ok {
				category.problem = notWhole
			}
			pet.CategoryID = n
		case "status":
			status.seen = true
			pet.Status = 0
			if value.Kind() == '"' {
				pet.Status, _ = petstore.ParseStatus(unquoted(value))
			}
		}
	})
	if err != nil {
		return petstore.NewPet{}, err
	}

	var faults petstore.Faults
	name.check(&faults, "name")
	category.check(&faults, "categoryId")
	faults.Merge(pet.Validate())
	return pet, faults.Err()
}

// field is what was seen of a required member.
type field struct {
	seen    bool
	problem string
}

func (f field) check(faults *petstore.Faults, name string) {
	switch {
	case !f.seen:
		faults.AddMissing(name)
	case f.problem != "":
		faults.Add(name, f.problem)
	}
}

// unquoted is the text of a JSON string, which the decoder has found to be one.
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

// eachMember calls visit with every member of the one JSON object that body must be.
func eachMember(body []byte, visit func(name string, value jsontext.Value)) error {
	dec := decoders.Get().(*jsontext.Decoder)
	dec.Reset(bytes.NewBuffer(body))
	defer func() {
		dec.Reset(nothing) // lets go of the body
		decoders.Put(dec)
	}()
	start, err := dec.ReadToken()
	switch {
	case errors.Is(err, io.EOF):
		return petstore.Errorf(petstore.InvalidJSON, "The body is empty. Send a JSON object with name and categoryId.")
	case err != nil:
		return syntaxError(err)
	case start.Kind() != '{':
		return petstore.Errorf(petstore.InvalidJSON, "The body is not a JSON object. Send one with name and categoryId.")
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

// parseExponent reads an exponent, giving up exactness far beyond what a body of the largest size can need.
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
