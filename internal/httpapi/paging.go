package httpapi

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"petstore/internal/petstore"
)

const (
	defaultLimit = 20
	maxLimit     = 100
)

// parameter describes a query parameter.
type parameter[Q any] struct {
	name string
	// read returns the query with the value stored in it, or reports that the value is not allowed. It takes no
	// pointer, because a pointer would make every query escape to the heap.
	read func(query Q, value string) (Q, bool)
	// rule is the message of the refusal, which says what the value may be.
	rule string
}

const (
	limitRule  = "limit must be a whole number from 1 to 100."
	cursorRule = "cursor is not one that this service gave out. Take it from the Link header of a page as it is, or leave it out to begin anew."
)

// petsQuery is the query of listPets.
type petsQuery struct {
	petstore.PetQuery
	byID        bool // selects only the animal with the given id
	withProfile bool // shows the profiles of the animals
	withNotes   bool // shows the notes of the profiles
	id          int64
}

var petParameters = []parameter[petsQuery]{
	{"limit", func(q petsQuery, s string) (_ petsQuery, ok bool) {
		q.Limit, ok = parseLimit(s)
		return q, ok
	}, limitRule},
	{"status", func(q petsQuery, s string) (_ petsQuery, ok bool) {
		q.Status, ok = petstore.ParseStatus(s)
		return q, ok
	}, "status must be one of available, pending, sold."},
	{"categoryId", func(q petsQuery, s string) (_ petsQuery, ok bool) {
		q.OfCategory = true
		q.Category, ok = parseInt64(s)
		return q, ok
	}, "categoryId must be a whole number from -9223372036854775808 to 9223372036854775807."},
	{"q", func(q petsQuery, s string) (petsQuery, bool) {
		q.Search = s
		return q, petstore.CheckSearch(s) == ""
	}, "q must have 1 to 100 characters and 1 to 8 words."},
	{"cursor", func(q petsQuery, s string) (_ petsQuery, ok bool) {
		q.Before, ok = parseCursor(petCursor, s)
		return q, ok && q.Before > 0
	}, cursorRule},
	{"id", func(q petsQuery, s string) (_ petsQuery, ok bool) {
		q.byID = true
		q.id, ok = parseInt64(s)
		return q, ok
	}, "id must be a whole number from -9223372036854775808 to 9223372036854775807."},
	{"include", func(q petsQuery, s string) (petsQuery, bool) {
		q.withProfile = true
		return q, s == "profile"
	}, "include must be profile."},
}

var categoryParameters = []parameter[petstore.CategoryQuery]{
	{"limit", func(q petstore.CategoryQuery, s string) (_ petstore.CategoryQuery, ok bool) {
		q.Limit, ok = parseLimit(s)
		return q, ok
	}, limitRule},
	{"cursor", func(q petstore.CategoryQuery, s string) (_ petstore.CategoryQuery, ok bool) {
		q.From, ok = parseCursor(categoryCursor, s)
		return q, ok
	}, cursorRule},
}

var orderParameters = []parameter[petstore.OrderQuery]{
	{"limit", func(q petstore.OrderQuery, s string) (_ petstore.OrderQuery, ok bool) {
		q.Limit, ok = parseLimit(s)
		return q, ok
	}, limitRule},
	{"status", func(q petstore.OrderQuery, s string) (_ petstore.OrderQuery, ok bool) {
		q.Status, ok = petstore.ParseOrderStatus(s)
		return q, ok
	}, "status must be one of open, completed, cancelled, expired."},
	{"petId", func(q petstore.OrderQuery, s string) (petstore.OrderQuery, bool) {
		id, ok := parseInt64(s)
		q.PetID = &id
		return q, ok
	}, "petId must be a whole number from -9223372036854775808 to 9223372036854775807."},
	{"cursor", func(q petstore.OrderQuery, s string) (_ petstore.OrderQuery, ok bool) {
		q.Before, ok = parseCursor(orderCursor, s)
		return q, ok && q.Before > 0
	}, cursorRule},
}

// keysQuery is the query of listKeys.
type keysQuery struct {
	petstore.KeyQuery
	active bool // selects only the keys that can be used now
}

var keyParameters = []parameter[keysQuery]{
	{"limit", func(q keysQuery, s string) (_ keysQuery, ok bool) {
		q.Limit, ok = parseLimit(s)
		return q, ok
	}, limitRule},
	{"active", func(q keysQuery, s string) (keysQuery, bool) {
		q.active = true
		return q, s == "true"
	}, "active must be true. Leave it out to list revoked and expired keys too."},
	{"cursor", func(q keysQuery, s string) (_ keysQuery, ok bool) {
		q.After, ok = parsePlaceCursor(keyCursor, s, petstore.CanBeKeyID)
		return q, ok
	}, cursorRule},
}

var webhookParameters = []parameter[petstore.WebhookQuery]{
	{"limit", func(q petstore.WebhookQuery, s string) (_ petstore.WebhookQuery, ok bool) {
		q.Limit, ok = parseLimit(s)
		return q, ok
	}, limitRule},
	{"cursor", func(q petstore.WebhookQuery, s string) (_ petstore.WebhookQuery, ok bool) {
		q.After, ok = parsePlaceCursor(webhookCursor, s, petstore.CanBeWebhookID)
		return q, ok
	}, cursorRule},
}

var deliveryParameters = []parameter[petstore.DeliveryQuery]{
	{"limit", func(q petstore.DeliveryQuery, s string) (_ petstore.DeliveryQuery, ok bool) {
		q.Limit, ok = parseLimit(s)
		return q, ok
	}, limitRule},
	{"cursor", func(q petstore.DeliveryQuery, s string) (_ petstore.DeliveryQuery, ok bool) {
		q.Before, ok = parseDeliveryCursor(s)
		return q, ok
	}, cursorRule},
}

var usageParameters = []parameter[int64]{
	{"hours", func(_ int64, s string) (int64, bool) {
		hours, ok := parseDecimal(s)
		return hours, ok && hours >= 1 && hours <= maxUsageHours
	}, "hours must be a whole number from 1 to 744."},
}

// parseQuery reads the parameters of a request into q. It ignores unknown ones.
func parseQuery[Q any](raw string, q Q, known []parameter[Q]) (Q, error) {
	var seen uint
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		name, value, _ := strings.Cut(pair, "=")
		name, nameErr := url.QueryUnescape(name)
		value, valueErr := url.QueryUnescape(value)
		if nameErr != nil || valueErr != nil || strings.Contains(pair, ";") {
			return q, newRefusal(invalidParameter, "The query cannot be decoded. Percent-encode what is special in it.")
		}
		for i, p := range known {
			if p.name != name {
				continue
			}
			if seen&(1<<i) != 0 {
				return q, newRefusal(invalidParameter, name+" is given more than once. Give it once.")
			}
			seen |= 1 << i
			var ok bool
			if q, ok = p.read(q, value); !ok {
				return q, newRefusal(invalidParameter, p.rule)
			}
		}
	}
	return q, nil
}

func parseLimit(s string) (int, bool) {
	n, ok := parseDecimal(s)
	return int(n), ok && n >= 1 && n <= maxLimit
}

// parseDecimal reads a number of digits only, without leading zeros.
func parseDecimal(s string) (int64, bool) {
	if s == "" || s[0] < '0' || s[0] > '9' || (s[0] == '0' && len(s) > 1) {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// parseID reads an id that an animal or an order can have.
func parseID(s string) (int64, bool) {
	n, ok := parseDecimal(s)
	return n, ok && n >= 1 && n <= petstore.MaxID
}

// parseInt64 reads any int64 that is written without a plus sign or leading zeros.
func parseInt64(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == s
}

// pageOf encodes a page of items. The items were queried with one more than the limit: if that item exists, another
// page follows, and next builds the link to it from the last item of this page.
func pageOf[T any](items []T, limit int, appendItem func([]byte, T) []byte, next func(last T) string) (page answer) {
	if len(items) > limit {
		items = items[:limit]
		page.link = next(items[limit-1])
	}
	page.body = buildString(func(b []byte) []byte { return appendList(b, items, appendItem) })
	return page
}

// A cursor says where a page begins. It consists of one of these bytes, which identifies the list, and an id.
const (
	petCursor      = 1 // the id is the lowest one of the previous page
	orderCursor    = 2 // the id is the lowest one of the previous page
	categoryCursor = 3 // the id is the lowest one that this page may have
	keyCursor      = 4 // before the id of the last key of the previous page is the time of its creation
	webhookCursor  = 5 // like keyCursor
	deliveryCursor = 6 // the id is that of the last delivery of the previous page
)

func appendCursor(b []byte, list byte, id int64) []byte {
	raw := [9]byte{list}
	binary.BigEndian.PutUint64(raw[1:], uint64(id))
	return base64.RawURLEncoding.AppendEncode(b, raw[:])
}

func parseCursor(list byte, s string) (int64, bool) {
	var raw [9]byte
	if base64.RawURLEncoding.DecodedLen(len(s)) != len(raw) || strings.ContainsAny(s, "\r\n") {
		return 0, false
	}
	if _, err := base64.RawURLEncoding.Decode(raw[:], []byte(s)); err != nil || raw[0] != list {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(raw[1:])), true
}

func formatPlaceCursor(list byte, last petstore.KeyPlace) string {
	raw := binary.BigEndian.AppendUint64([]byte{list}, uint64(last.CreatedAt.UnixMilli()))
	return base64.RawURLEncoding.EncodeToString(append(raw, last.ID...))
}

func parsePlaceCursor(list byte, s string, canBeID func(string) bool) (petstore.KeyPlace, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(raw) < 9 || raw[0] != list || !canBeID(string(raw[9:])) {
		return petstore.KeyPlace{}, false
	}
	place := petstore.KeyPlace{CreatedAt: time.UnixMilli(int64(binary.BigEndian.Uint64(raw[1:]))).UTC(), ID: string(raw[9:])}
	return place, formatPlaceCursor(list, place) == s
}

func formatDeliveryCursor(last string) string {
	return base64.RawURLEncoding.EncodeToString(append([]byte{deliveryCursor}, last...))
}

func parseDeliveryCursor(s string) (id string, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(raw) == 0 || raw[0] != deliveryCursor || !petstore.CanBeDeliveryID(string(raw[1:])) {
		return "", false
	}
	return string(raw[1:]), formatDeliveryCursor(string(raw[1:])) == s
}

// newPetsQuery, newCategoryQuery, newOrderQuery and newKeysQuery return the query for a list without parameters.
func newPetsQuery() petsQuery { return petsQuery{PetQuery: petstore.PetQuery{Limit: defaultLimit}} }

func newCategoryQuery() petstore.CategoryQuery {
	return petstore.CategoryQuery{From: math.MinInt64, Limit: defaultLimit}
}

func newOrderQuery() petstore.OrderQuery { return petstore.OrderQuery{Limit: defaultLimit} }

func newKeysQuery() keysQuery { return keysQuery{KeyQuery: petstore.KeyQuery{Limit: defaultLimit}} }
