package transfer

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"petstore/internal/petstore"
)

// FuzzReader reads any text as a file with animals. The petReader must reach the end. It must read the same lines whether
// the text arrives in one piece or byte by byte. The animals must not change when they are written and read again.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		"name,categoryId,status\nRex,7,sold\n\"A \"\"b\"\"\r\nc\",-1,\n",
		"\xef\xbb\xbfid,name,categoryId\r\n1,\"x,y\",2\r\n\r\n1,\"x\"y,2\r\n1,\"open,2",
		"{\"name\":\"Rex\",\"categoryId\":7}\n\n{\"name\":1}\n[",
		"\xef\xbb\xbfName;Category;Sex;Born on;Tags\r\nRex;Dogs;M;2024-05;\"shy, \"\"a, b\"\"\"\r\n;;;;\r\n", "name\tcategory\tnotes\nRex\t1\tBites.\n",
		"{\"name\":\"Rex\",\"category\":\"Dogs\",\"tags\":[\"shy\",\"a, b\"],\"notes\":null,\"sex\":\"male\"}",
		"name,name,categoryId\n", "\xff\xfe", "name,categoryId\r", "\"name\",\"categoryId\"\nRex\r,1\r\n\",1\n",
	} {
		f.Add(seed, uint8(0))
		f.Add(seed, uint8(1))
		f.Add(seed, uint8(2))
	}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		format := []fileFormat{"", csvFormat, jsonLinesFormat}[which%3]
		shown, err := readAll(strings.NewReader(text), format)
		inBytes, errInBytes := readAll(iotest.OneByteReader(strings.NewReader(text)), format)
		if !reflect.DeepEqual(shown, inBytes) || (err == nil) != (errInBytes == nil) {
			t.Fatalf("%q is read as\n%q, %v\nbut byte by byte as\n%q, %v", text, shown, err, inBytes, errInBytes)
		}
		if err != nil {
			return
		}
		lines, allGood := animalsIn(t, text, format)
		for _, format := range []fileFormat{csvFormat, jsonLinesFormat} {
			var again bytes.Buffer
			w := newPetWriter(&again, format)
			for i, line := range lines {
				w.write(exported(int64(i), line))
			}
			noError(t, w.flush())
			if reread, _ := animalsIn(t, again.String(), format); !slices.Equal(reread, lines) {
				t.Fatalf("%q holds %+v, but written as %s and read again %+v", text, lines, format, reread)
			}
		}
		if format == csvFormat && allGood {
			expectRows(t, text, separatorOf(t, text), len(lines))
		}
	})
}

// animalsIn returns the animals in a text, without the numbers of their lines and the names of their categories, and whether
// every line is one.
func animalsIn(t *testing.T, text string, format fileFormat) (lines []petLine, allGood bool) {
	t.Helper()
	r, err := newPetReader(strings.NewReader(text), format)
	noError(t, err)
	allGood = true
	for last := int64(0); ; {
		line, err := r.Next()
		bad := (*badLine)(nil)
		switch {
		case err == io.EOF:
			if r.offset != int64(len(text)) {
				t.Fatalf("%q ends at %d", text, r.offset)
			}
			return lines, allGood
		case errors.As(err, &bad):
			line.Number, allGood = bad.Number, false
		case err != nil:
			t.Fatal(err)
		default:
			lines = append(lines, petLine{Pet: line.Pet, Facts: line.Facts})
			if problem := petstore.CheckPetName(line.Pet.Name) + petstore.CheckStatus(line.Pet.Status); problem != "" {
				t.Fatalf("%q holds %+v, whose name or status %s", text, line.Pet, problem)
			}
		}
		if line.Number <= last {
			t.Fatalf("in %q line %d comes after line %d", text, line.Number, last)
		}
		last = line.Number
	}
}

// separatorOf returns the separator that a reader recognizes.
func separatorOf(t *testing.T, text string) rune {
	t.Helper()
	r, err := newPetReader(strings.NewReader(text), csvFormat)
	if err != nil {
		t.Fatal(err)
	}
	return rune(r.separator)
}

// expectRows fails the test unless encoding/csv finds a row for each animal and one for the header, besides rows of empty
// fields.
func expectRows(t *testing.T, text string, separator rune, animals int) {
	t.Helper()
	in := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\xef\xbb\xbf")))
	in.Comma = separator
	rows, err := in.ReadAll()
	if len(rows) > 0 {
		rows = append(rows[:1], slices.DeleteFunc(rows[1:], func(row []string) bool { return strings.TrimSpace(strings.Join(row, "")) == "" })...)
	}
	if err != nil || len(rows) != animals+1 {
		t.Fatalf("%q holds %d animals and, by encoding/csv, %d rows: %v", text, animals, len(rows), err)
	}
}

// FuzzJournal opens any bytes as a journal. If the journal accepts the bytes, the test adds a line and opens the journal
// again. The journal must then have that line and all others. If the journal refuses the bytes, the file must not change.
func FuzzJournal(f *testing.F) {
	whole := journalHeader + "a name of 16 byt\x00\x00\x00\x01hashhash\x00\x00\x00\x01"
	for _, seed := range []string{"", "petst", whole, whole + "cut off", whole + strings.Repeat("\xff", 20), whole + strings.Repeat("\x00", 20), "something else", whole[:len(whole)-1] + "\x00"} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	name := filepath.Join(f.TempDir(), "journal")
	f.Fuzz(func(t *testing.T, text []byte, confirmed bool) {
		noError(t, os.WriteFile(name, text, 0o600))
		load := func() (int64, error) {
			j, err := openJournal(name)
			noError(t, err)
			defer j.close()
			lines, err := j.load(newLedger(), func(blockID) (bool, error) { return confirmed, nil })
			if err != nil {
				return 0, err
			}
			noError(t, j.appendBlock(newBlockID(), []lineID{{count: 1}}))
			return lines, j.seal()
		}
		lines, err := load()
		if err != nil {
			if after, _ := os.ReadFile(name); !bytes.Equal(after, text) {
				t.Fatalf("%q is refused with %v, and changed to %q", text, err, after)
			}
			return
		}
		if lines > int64(len(text)/entrySize) {
			t.Fatalf("%q holds %d lines", text, lines)
		}
		if again, err := load(); err != nil || again != lines+1 {
			t.Fatalf("%q holds %d lines, and with one more %d, %v", text, lines, again, err)
		}
	})
}
