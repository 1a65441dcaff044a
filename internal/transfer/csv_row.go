package transfer

import "bytes"

const (
	errUnclosed = unreadable("a quoted field has no closing quotation mark.")
	errQuote    = unreadable("there is a quotation mark inside a field; quote the whole field and double the mark.")
)

// splitRow appends the fields of the first row of text to fields. It returns them and the length of the row, including its
// line break. It returns errMore if the row may continue after the text, unless atEnd says that nothing follows. Unlike
// encoding/csv, it keeps every character of a quoted field, even both characters of a CRLF.
func splitRow(text []byte, separator byte, atEnd bool, fields [][]byte) ([][]byte, int, error) {
	for at := 0; ; {
		field, n, err := splitField(text[at:], separator, atEnd)
		if err != nil || at+n == 0 && len(text) == 0 {
			return fields, 0, err
		}
		fields = append(fields, field)
		at += n
		switch {
		case at == len(text):
			return fields, at, nil
		case text[at] == separator:
			at++
		case text[at] == '\r':
			return fields, at + 2, nil
		default:
			return fields, at + 1, nil
		}
	}
}

// splitField returns the first field of text, and the position of the separator or line break after it.
func splitField(text []byte, separator byte, atEnd bool) (field []byte, n int, err error) {
	if len(text) > 0 && text[0] == '"' {
		return splitQuotedField(text, separator, atEnd)
	}
	n = bytes.IndexAny(text, string(rune(separator))+"\"\n")
	switch {
	case n < 0 && !atEnd:
		return nil, 0, errMore
	case n < 0:
		return text, len(text), nil
	case text[n] == '"':
		return nil, 0, errQuote
	case text[n] == '\n' && n > 0 && text[n-1] == '\r':
		n--
	}
	return text[:n], n, nil
}

func splitQuotedField(text []byte, separator byte, atEnd bool) (field []byte, n int, err error) {
	doubled := false
	for n = 1; ; n += 2 {
		i := bytes.IndexByte(text[n:], '"')
		if i < 0 && atEnd {
			return nil, 0, errUnclosed
		} else if i < 0 {
			return nil, 0, errMore
		}
		n += i
		if n+1 == len(text) || text[n+1] != '"' {
			break
		}
		doubled = true
	}
	field = text[1:n]
	if doubled {
		field = bytes.ReplaceAll(field, []byte(`""`), []byte(`"`))
	}
	switch rest := text[n+1:]; {
	case len(rest) == 0 && atEnd, bytes.HasPrefix(rest, []byte{separator}), bytes.HasPrefix(rest, []byte("\n")), bytes.HasPrefix(rest, []byte("\r\n")):
		return field, n + 1, nil
	case !atEnd && (len(rest) == 0 || len(rest) == 1 && rest[0] == '\r'):
		return nil, 0, errMore
	}
	return nil, 0, errQuote
}
