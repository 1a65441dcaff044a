// Package transfer imports and exports files of animals, as CSV and as JSON Lines, through a server or straight into a
// database. An import adds each line of a file once, and needs only a few bytes of memory for each line.
//
// The commands are [Import] and [Export]. A [Reader] returns the lines of a file one by one. The [Ledger] gives each line an [ID], whatever its place in the
// file, and says whether the line is stored already. The [Journal] keeps that on disk, so that an import that was
// broken off continues where it stopped. A [Steady] notices that the file has changed meanwhile. A [Writer] writes such
// a file.
package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"petstore/internal/petstore"
)

// Line is an animal in a file.
type Line struct {
	Number int64 // the number of its first line in the file, counted from 1
	Pet    petstore.NewPet
}

// BadLine is a line that is not an animal. Reading can go on after it.
type BadLine struct {
	Number int64
	Reason string
}

func (b *BadLine) Error() string { return fmt.Sprintf("line %d: %s", b.Number, b.Reason) }

// maxLine is the longest line, the same as the longest body of a request. The end of a quoted field is looked for only
// this far.
const maxLine = 1 << 20

// errMore says that more of the text must be read first.
var errMore = errors.New("more is needed")

// Reader reads the lines of a file one by one.
type Reader struct {
	source io.Reader
	buf    []byte // what was read but not used yet
	room   []byte // the memory of buf
	ended  bool
	offset int64
	number int64 // the number of the line that buf begins with
	next   func() (petstore.NewPet, error)
	columns
}

// NewReader makes a Reader. If the format is empty, it is recognized by the first character of the text.
func NewReader(source io.Reader, format Format) (*Reader, error) {
	r := &Reader{source: source, room: make([]byte, maxLine), number: 1}
	if err := r.begin(); err != nil {
		return nil, err
	}
	if format == "" {
		format = r.guess()
	}
	if format == CSV {
		r.next = r.nextRow
		return r, r.readHeader()
	}
	r.next = r.nextObject
	return r, nil
}

// begin skips the byte order mark that some programs put in front of UTF-8.
func (r *Reader) begin() error {
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
		r.use(3)
	}
	return nil
}

// guess recognizes JSON Lines by the brace of their first object.
func (r *Reader) guess() Format {
	if bytes.HasPrefix(bytes.TrimLeft(r.buf, " \t\r\n"), []byte("{")) {
		return JSONLines
	}
	return CSV
}

// Offset is how many bytes have been used.
func (r *Reader) Offset() int64 { return r.offset }

// Next returns the next line. It returns a *BadLine for a line that is not an animal, and io.EOF after the last one.
func (r *Reader) Next() (Line, error) {
	for {
		first := r.number
		pet, err := r.next()
		switch reason := unreadable(""); {
		case err == nil:
			return Line{first, pet}, nil
		case err == errBlank:
		case errors.As(err, &reason):
			return Line{}, &BadLine{first, string(reason)}
		default:
			return Line{}, err
		}
	}
}

// errBlank is a line with nothing in it.
var errBlank = errors.New("the line is blank")

// unreadable says why a line is not an animal.
type unreadable string

func (u unreadable) Error() string { return string(u) }

// nextObject reads a line of JSON Lines.
func (r *Reader) nextObject() (petstore.NewPet, error) {
	line, err := r.line()
	if err != nil {
		return petstore.NewPet{}, err
	}
	defer r.use(len(line))
	if len(bytes.TrimSpace(line)) == 0 {
		return petstore.NewPet{}, errBlank
	}
	return parseObject(line)
}

// line returns the next line with its line break, without using it up. It skips a line that is too long.
func (r *Reader) line() ([]byte, error) {
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

// skipLine skips the line that buf begins with, and returns the reason as an error.
func (r *Reader) skipLine(reason string) error {
	for {
		if i := bytes.IndexByte(r.buf, '\n'); i >= 0 {
			r.use(i + 1)
			return unreadable(reason)
		}
		r.use(len(r.buf))
		if more, err := r.fill(); err != nil {
			return err
		} else if !more {
			return unreadable(reason)
		}
	}
}

// use drops the first n bytes of buf and counts them.
func (r *Reader) use(n int) {
	r.number += int64(bytes.Count(r.buf[:n], []byte("\n")))
	r.offset += int64(n)
	r.buf = r.buf[n:]
}

// fill reads more into buf. It reports false at the end of the source, and when buf is full.
func (r *Reader) fill() (more bool, err error) {
	if r.ended || len(r.buf) == len(r.room) {
		return false, nil
	}
	r.buf = r.room[:copy(r.room, r.buf)]
	for {
		n, err := r.source.Read(r.room[len(r.buf):])
		r.buf = r.room[:len(r.buf)+n]
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
