// Package transfer imports and exports animals as CSV or JSON Lines, through a server or directly in a database. Its
// commands are [Import] and [Export].
//
// An import adds each line of a file once, even if the import is interrupted and repeated. It needs only a few bytes of
// memory for each line. A petReader returns the lines of a file one by one. The ledger gives each line an ID that does not
// depend on the line's place in the file, and knows whether the line is already stored. The journal keeps the ledger's
// knowledge on disk, so that an interrupted import continues where it stopped. A stableFile notices when the file changes
// during the import.
package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"petstore/internal/petstore"
)

// petLine is an animal in a file.
type petLine struct {
	Number   int64 // the number of its first line in the file, counted from 1
	Pet      petstore.NewPet
	Category string // the name of the category; if it is "", the number is in Pet
	Facts    petstore.Facts
}

// hasFacts reports whether the line says anything for the profile of the animal.
func (l *petLine) hasFacts() bool { return l.Facts != petstore.Facts{} }

// badLine is the error for a line that is not an animal. The lines after it can still be read.
type badLine struct {
	Number int64
	Reason string
}

func (b *badLine) Error() string { return fmt.Sprintf("line %d: %s", b.Number, b.Reason) }

// maxLine is the greatest length of a line. It equals the greatest length of a request body. A quoted field in a CSV file
// must end within this length.
const maxLine = 1 << 20

// errMore means that the reader must read more of the file before it can split the row.
var errMore = errors.New("more is needed")

// petReader reads the lines of a file one by one.
type petReader struct {
	source io.Reader
	buf    []byte                  // what has been read but not consumed
	memory []byte                  // the array that holds buf
	ended  bool                    // the source has no more bytes
	offset int64                   // how many bytes have been consumed
	number int64                   // the number of the line that buf begins with
	next   func() (petLine, error) // does not set the number of the line
	columns
}

// newPetReader returns a petReader. If format is "", newPetReader recognizes the format by the first character.
func newPetReader(source io.Reader, format fileFormat) (*petReader, error) {
	r := &petReader{source: source, memory: make([]byte, maxLine), number: 1}
	if err := r.skipByteOrderMark(); err != nil {
		return nil, err
	}
	if format == "" {
		format = r.guessFormat()
	}
	if format == csvFormat {
		r.next = r.nextRow
		return r, r.readHeader()
	}
	r.next = r.nextObject
	return r, nil
}

// skipByteOrderMark skips the byte order mark that some programs write at the beginning of UTF-8 text. It refuses UTF-16.
func (r *petReader) skipByteOrderMark() error {
	for len(r.buf) < 3 {
		if more, err := r.fill(); err != nil {
			return err
		} else if !more {
			break
		}
	}
	switch {
	case bytes.HasPrefix(r.buf, []byte("\xff\xfe")), bytes.HasPrefix(r.buf, []byte("\xfe\xff")):
		return errors.New("the text is UTF-16; save it as UTF-8")
	case bytes.HasPrefix(r.buf, []byte("\xef\xbb\xbf")):
		r.consume(3)
	}
	return nil
}

// guessFormat recognizes JSON Lines by the brace of the first object.
func (r *petReader) guessFormat() fileFormat {
	if bytes.HasPrefix(bytes.TrimLeft(r.buf, " \t\r\n"), []byte("{")) {
		return jsonLinesFormat
	}
	return csvFormat
}

// Next returns the next animal. It returns a *badLine for a line that is not an animal, and io.EOF after the last line.
func (r *petReader) Next() (petLine, error) {
	for {
		first := r.number
		line, err := r.next()
		switch reason := unreadable(""); {
		case err == nil:
			line.Number = first
			return line, nil
		case err == errBlank:
		case errors.As(err, &reason):
			return petLine{}, &badLine{first, string(reason)}
		default:
			return petLine{}, err
		}
	}
}

// errBlank means that a line is blank. Next skips blank lines.
var errBlank = errors.New("the line is blank")

// unreadable is the reason why a line is not an animal.
type unreadable string

func (u unreadable) Error() string { return string(u) }

// nextObject reads a line of JSON Lines.
func (r *petReader) nextObject() (petLine, error) {
	line, err := r.peekLine()
	if err != nil {
		return petLine{}, err
	}
	defer r.consume(len(line))
	if len(bytes.TrimSpace(line)) == 0 {
		return petLine{}, errBlank
	}
	return parseObject(line)
}

// peekLine returns the next line with its line break, without consuming the line. If the line is too long, peekLine skips
// the line and returns an error.
func (r *petReader) peekLine() ([]byte, error) {
	for {
		if i := bytes.IndexByte(r.buf, '\n'); i >= 0 {
			return r.buf[:i+1], nil
		}
		more, err := r.fill()
		switch {
		case err != nil:
			return nil, err
		case more:
		case !r.ended:
			return nil, r.skipLine("the line is longer than 1 MiB.")
		case len(r.buf) == 0:
			return nil, io.EOF
		default:
			return r.buf, nil
		}
	}
}

// skipLine skips the line at the beginning of buf, and returns reason as an error.
func (r *petReader) skipLine(reason string) error {
	for {
		if i := bytes.IndexByte(r.buf, '\n'); i >= 0 {
			r.consume(i + 1)
			return unreadable(reason)
		}
		r.consume(len(r.buf))
		if more, err := r.fill(); err != nil {
			return err
		} else if !more {
			return unreadable(reason)
		}
	}
}

// consume removes the first n bytes from buf and counts them.
func (r *petReader) consume(n int) {
	r.number += int64(bytes.Count(r.buf[:n], []byte("\n")))
	r.offset += int64(n)
	r.buf = r.buf[n:]
}

// fill reads more into buf. It returns false at the end of the source, and when buf is full.
func (r *petReader) fill() (more bool, err error) {
	if r.ended || len(r.buf) == len(r.memory) {
		return false, nil
	}
	r.buf = r.memory[:copy(r.memory, r.buf)]
	for {
		n, err := r.source.Read(r.memory[len(r.buf):])
		r.buf = r.memory[:len(r.buf)+n]
		switch {
		case err == io.EOF:
			r.ended = true
			return n > 0, nil
		case err != nil:
			return false, err
		case n > 0:
			return true, nil
		}
	}
}
