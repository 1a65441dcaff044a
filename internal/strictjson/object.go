package strictjson

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	decoders    = sync.Pool{New: func() any { return new(jsontext.Decoder) }}
	emptyReader = strings.NewReader("")
)

// MaxNames is the number of member names that a text may have, including the names in nested objects. With more names, the
// search for duplicates would cost more than all other work on the text.
const MaxNames = 1000

// eachMember calls visit for every member of the text, which must be one object.
func eachMember(text []byte, visit func(name string, value Value)) error {
	if countNames(text) > MaxNames {
		return &Error{Kind: TooManyNames}
	}
	dec := decoders.Get().(*jsontext.Decoder)
	dec.Reset(bytes.NewBuffer(text))
	defer func() {
		dec.Reset(emptyReader) // makes the decoder drop the text from memory
		decoders.Put(dec)
	}()
	start, err := dec.ReadToken()
	switch {
	case errors.Is(err, io.EOF):
		return &Error{Kind: Empty}
	case err != nil:
		return syntaxError(err)
	case start.Kind() != '{':
		return &Error{Kind: NotObject}
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
		return &Error{Kind: TrailingData}
	}
	return nil
}

// countNames counts the member names in a text. It counts the colons outside strings, because a colon follows each name. For
// a text that is too short for more than MaxNames names, countNames returns 0 without counting.
func countNames(text []byte) (n int) {
	if len(text) < 5*MaxNames { // 5 bytes, because the shortest member is "":0,
		return 0
	}
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
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

func syntaxError(err error) *Error {
	bad := &Error{Kind: BadSyntax}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		bad.Kind = DuplicateName
	}
	if where, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		bad.Offset = where.ByteOffset
	}
	return bad
}
