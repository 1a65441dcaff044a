package httpapi

import (
	"strconv"
	"sync"
	"unicode/utf8"

	"petstore/internal/petstore"
)

// appendPet appends the JSON of one animal, its fields in the published order.
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

func encodePet(p petstore.Pet) string {
	return appended(func(b []byte) []byte { return appendPet(b, p) })
}

// appendPets appends a JSON array, empty rather than null.
func appendPets(b []byte, pets []petstore.Pet) []byte {
	b = append(b, '[')
	for i, p := range pets {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendPet(b, p)
	}
	return append(b, ']')
}

// buffers are for texts that are soon written or copied.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// appended is the text that fill appends, in exactly the room that it takes.
func appended(fill func([]byte) []byte) string {
	b := buffers.Get().(*[]byte)
	defer buffers.Put(b)
	*b = fill((*b)[:0])
	return string(*b)
}

const hexDigits = "0123456789abcdef"

// plain marks the ASCII characters that stand for themselves in a JSON string. Like encoding/json it leaves out
// those that could end a script element, should an answer ever land in a page.
var plain = func() (t [utf8.RuneSelf]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return t
}()

// appendString appends a JSON string, byte for byte what encoding/json makes of s.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if plain[c] {
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
