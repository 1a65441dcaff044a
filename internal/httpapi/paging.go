package httpapi

import (
	"encoding/base64"
	"encoding/binary"
	"net/url"
	"strconv"
	"strings"

	"petstore/internal/petstore"
)

const (
	defaultLimit = 20
	maxLimit     = 100
)

// parseListQuery reads the parameters of listPets; those it does not know are ignored.
func parseListQuery(raw string) (petstore.PetQuery, error) {
	q := petstore.PetQuery{Limit: defaultLimit}
	var seen [3]bool
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		name, value, _ := strings.Cut(pair, "=")
		name, nameErr := url.QueryUnescape(name)
		value, valueErr := url.QueryUnescape(value)
		if nameErr != nil || valueErr != nil || strings.Contains(pair, ";") {
			return q, petstore.Errorf(petstore.InvalidParameter, "The query cannot be decoded. Percent-encode what is special in it.")
		}
		which, ok := 0, true
		switch name {
		case "limit":
			which = 0
			q.Limit, ok = parseLimit(value)
		case "status":
			which = 1
			q.Status, ok = petstore.ParseStatus(value)
		case "cursor":
			which = 2
			q.Before, ok = parseCursor(value)
		default:
			continue
		}
		if seen[which] {
			return q, petstore.Errorf(petstore.InvalidParameter, "%s is given more than once. Give it once.", name)
		}
		seen[which] = true
		if !ok {
			return q, petstore.Errorf(petstore.InvalidParameter, "%s", parameterRules[which])
		}
	}
	return q, nil
}

var parameterRules = [3]string{
	"limit must be a whole number from 1 to 100.",
	"status must be one of available, pending, sold.",
	"cursor is not one that this service gave out. Take it from the Link header of a page as it is, or leave it out to begin anew.",
}

func parseLimit(s string) (int, bool) {
	n, ok := parseDecimal(s)
	return int(n), ok && n >= 1 && n <= maxLimit
}

// parseDecimal reads a number written as plainly as it can be: digits only, no leading zero.
func parseDecimal(s string) (int64, bool) {
	if s == "" || s[0] < '0' || s[0] > '9' || (s[0] == '0' && len(s) > 1) {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// A cursor is the lowest id of the page before, behind a byte for the version of the form.
const cursorVersion = 1

func appendCursor(b []byte, before int64) []byte {
	raw := [9]byte{cursorVersion}
	binary.BigEndian.PutUint64(raw[1:], uint64(before))
	return base64.RawURLEncoding.AppendEncode(b, raw[:])
}

func parseCursor(s string) (int64, bool) {
	var raw [9]byte
	if base64.RawURLEncoding.DecodedLen(len(s)) != len(raw) || strings.ContainsAny(s, "\r\n") {
		return 0, false
	}
	if _, err := base64.RawURLEncoding.Decode(raw[:], []byte(s)); err != nil || raw[0] != cursorVersion {
		return 0, false
	}
	before := int64(binary.BigEndian.Uint64(raw[1:]))
	return before, before > 0
}

// links are the addresses that answers point to.
type links struct {
	pets       string
	deprecated []string
}

func newLinks(base string) links {
	pets := base + "/v1/pets"
	return links{
		pets:       pets,
		deprecated: []string{"<" + pets + `>; rel="successor-version", <` + base + `/docs>; rel="deprecation"; type="text/html"`},
	}
}

// next is the Link to the page that follows one that q asked for and that ended with the id last.
func (l links) next(q petstore.PetQuery, last int64) string {
	b := append(make([]byte, 0, 128), '<')
	b = append(b, l.pets...)
	b = append(b, "?cursor="...)
	b = appendCursor(b, last)
	b = append(b, "&limit="...)
	b = strconv.AppendInt(b, int64(q.Limit), 10)
	if q.Status != 0 {
		b = append(b, "&status="...)
		b = append(b, q.Status.String()...)
	}
	return string(append(b, `>; rel="next"`...))
}
