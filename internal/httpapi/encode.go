package httpapi

import (
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"petstore/internal/petstore"
)

// appendPet appends one animal as JSON, with the fields in the documented order.
func appendPet(b []byte, p petstore.Pet) []byte {
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, p.ID, 10)
	b = append(b, `,"name":`...)
	b = appendString(b, p.Name)
	b = append(b, `,"categoryId":`...)
	b = strconv.AppendInt(b, p.CategoryID, 10)
	b = append(b, `,"status":"`...)
	b = append(b, p.Status.String()...)
	return append(b, `"}`...)
}

// encoded returns one item, such as an animal or an order, as JSON.
func encoded[T any](item T, appendItem func([]byte, T) []byte) string {
	return buildString(func(b []byte) []byte { return appendItem(b, item) })
}

// appendList appends a JSON array. An empty list becomes an empty array, not null.
func appendList[T any](b []byte, list []T, appendItem func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i, item := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendItem(b, item)
	}
	return append(b, ']')
}

func appendCategory(b []byte, c petstore.Category) []byte {
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, c.ID, 10)
	b = append(b, `,"name":`...)
	b = appendString(b, c.Name)
	return append(b, '}')
}

// appendOrder appends one order as JSON. It leaves out the fields that the order does not have.
func appendOrder(b []byte, o petstore.Order) []byte {
	b = append(b, `{"id":`...)
	b = strconv.AppendInt(b, o.ID, 10)
	b = append(b, `,"petId":`...)
	b = strconv.AppendInt(b, o.PetID, 10)
	b = append(b, `,"status":"`...)
	b = append(b, o.Status.String()...)
	b = append(b, '"')
	if o.Reference != "" {
		b = append(b, `,"reference":`...)
		b = appendString(b, o.Reference)
	}
	b = appendTime(b, `,"createdAt":"`, o.CreatedAt)
	b = appendTime(b, `,"expiresAt":"`, o.ExpiresAt)
	if !o.ClosedAt.IsZero() {
		b = appendTime(b, `,"closedAt":"`, o.ClosedAt)
	}
	return append(b, '}')
}

func appendTime(b []byte, name string, t time.Time) []byte {
	b = append(b, name...)
	b = append(b, petstore.FormatTime(t)...)
	return append(b, '"')
}

func appendInventory(b []byte, i petstore.Inventory) []byte {
	b = append(b, `{"available":`...)
	b = strconv.AppendInt(b, i.Available, 10)
	b = append(b, `,"pending":`...)
	b = strconv.AppendInt(b, i.Pending, 10)
	b = append(b, `,"sold":`...)
	b = strconv.AppendInt(b, i.Sold, 10)
	return append(b, '}')
}

// buffers holds buffers for reuse. Whoever takes a buffer sends or copies its content and then returns the buffer.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// buildString returns the text that fill appends. The string uses no more memory than the text needs.
func buildString(fill func([]byte) []byte) string {
	b := buffers.Get().(*[]byte)
	defer buffers.Put(b)
	*b = fill((*b)[:0])
	return string(*b)
}

const hexDigits = "0123456789abcdef"

// needsNoEscape marks the ASCII characters that need no escape in a JSON string. As in encoding/json, the characters <, >
// and & need an escape, so that an answer inside a web page cannot end a script element.
var needsNoEscape = func() (t [utf8.RuneSelf]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return t
}()

// appendString appends s as a JSON string. It writes the same bytes as encoding/json.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if needsNoEscape[c] {
				i++
				continue
			}
			b = append(b, s[start:i]...)
			b = appendEscaped(b, c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(b, s[start:i]...)
			b = append(b, `\ufffd`...)
			start = i + size
		case r == '\u2028' || r == '\u2029':
			b = append(b, s[start:i]...)
			b = append(b, `\u202`...)
			b = append(b, hexDigits[r&0xf])
			start = i + size
		}
		i += size
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

func appendEscaped(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}
