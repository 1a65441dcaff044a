package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"petstore/internal/petstore"
)

// readAll returns a text for each line, such as `1: "Rex" 7 available` for an animal and "1! reason" for a bad line.
func readAll(source io.Reader, format fileFormat) (lines []string, err error) {
	r, err := newPetReader(source, format)
	if err != nil {
		return nil, err
	}
	for {
		line, err := r.Next()
		bad := (*badLine)(nil)
		switch {
		case err == io.EOF:
			return lines, nil
		case errors.As(err, &bad):
			lines = append(lines, fmt.Sprintf("%d! %s", bad.Number, bad.Reason))
		case err != nil:
			return lines, err
		default:
			lines = append(lines, fmt.Sprintf("%d: %q %d %s", line.Number, line.Pet.Name, line.Pet.CategoryID, line.Pet.Status))
		}
	}
}

const (
	header = "name,categoryId,status\n"
	whole  = "must be a whole number from -9223372036854775808 to 9223372036854775807"
)

func TestGoodAndBadLinesAreRead(t *testing.T) {
	for _, c := range []struct {
		what, text string
		want       []string
	}{
		{"plain rows", header + "Rex,7,sold\nTom,-1,pending\n", []string{`2: "Rex" 7 sold`, `3: "Tom" -1 pending`}},
		{"no line break at the end", header + "Rex,7,sold", []string{`2: "Rex" 7 sold`}},
		{"a BOM", "\xef\xbb\xbf" + header + "Rex,7,sold\n", []string{`2: "Rex" 7 sold`}},
		{"CRLF", "name,categoryId,status\r\nRex,7,sold\r\n\"Tom\",8,\r\n", []string{`2: "Rex" 7 sold`, `3: "Tom" 8 available`}},
		{"quotation marks and line breaks in a name", header + "\"Rex \"\"the\"\"\r\ndog,\",7,sold\nTom,8,sold\n", []string{`2: "Rex \"the\"\r\ndog," 7 sold`, `4: "Tom" 8 sold`}},
		{"other columns in another order", "id,categoryId,color,name\n1,7,red,Rex\n", []string{`2: "Rex" 7 available`}},
		{"blank lines", "\n" + header + "\n\r\nRex,7,sold\n\n", []string{`5: "Rex" 7 sold`}},
		{"a line with an empty field in quotation marks", header + "\"\"\nRex,7,sold\n", []string{"2! the line has 1 fields, but the first line of the file names 3 columns.", `3: "Rex" 7 sold`}},
		{"only a header", header, nil},
		{"bad rows between good ones", header + ",7,sold\nRex,,lost\nRex,7\nRex,1.5,sold\nTom,8,sold\n", []string{
			"2! name must not be empty.", "3! categoryId is required; status must be one of available, pending, sold.",
			"4! the line has 2 fields, but the first line of the file names 3 columns.", "5! categoryId " + whole + ".", `6: "Tom" 8 sold`}},
		{"invalid UTF-8", header + "R\xffx,7,sold\nTom,8,sold\n", []string{"2! name must be valid UTF-8.", `3: "Tom" 8 sold`}},
		{"stray quotation marks", header + "\"Rex,7,sold\n\"Tom\",8,sold\nAnn \"A\",9,sold\nBob,1,sold\n", []string{
			"2! " + string(errQuote), `3: "Tom" 8 sold`, "4! " + string(errQuote), `5: "Bob" 1 sold`}},
		{"a quoted field that never ends", header + "Rex,7,sold\n\"Tom,8,sold\nBob,1,sold\n", []string{
			`2: "Rex" 7 sold`, "3! " + string(errUnclosed), `4: "Bob" 1 sold`}},
		{"a quoted field that does not end within 1 MiB", header + "\"Tom,8,sold\n" + strings.Repeat("Bob,1,sold\n", maxLine/11+2), nil},
		{"a line that is too long", header + strings.Repeat("x", 3*maxLine) + "\nTom,8,sold\n", []string{"2! the line is longer than 1 MiB.", `3: "Tom" 8 sold`}},
		{"JSON Lines", "{\"name\":\"Rex\",\"categoryId\":7}\n\n {\"name\":\"Tom\",\"categoryId\":8,\"status\":\"sold\"}\r\n", []string{`1: "Rex" 7 available`, `3: "Tom" 8 sold`}},
		{"bad objects between good ones", "{\"name\":\"Rex\",\"categoryId\":7}\n{\"name\":\n{\"name\":\"\",\"categoryId\":7}\n{\"name\":\"Tom\",\"categoryId\":8}", []string{
			`1: "Rex" 7 available`, "2! The line is not valid JSON (at byte 9). It must be one JSON object in UTF-8.", "3! name must not be empty.", `4: "Tom" 8 available`}},
		{"lines that are not an animal", strings.Join([]string{`{}`, `[{"name":"Rex","categoryId":7}]`, `{"name":"Rex","categoryId":7} {}`, `{"name":"Rex","name":"Tom"}`,
			`{"name":"Rex","categoryId":7,}`, `{"name":1,"status":"lost"}`, `{"x":[` + strings.Repeat(`{"a":0},`, 1000) + `0]}`}, "\n"), []string{
			"1! name is required; categoryId is required.",
			"2! The line is not a JSON object. Write one with name and categoryId.",
			"3! There is more after the JSON object in the line. Write one object only.",
			"4! The line has the same field twice (at byte 14). Write each field once.",
			"5! The line is not valid JSON (at byte 28). It must be one JSON object in UTF-8.",
			"6! name must be a string; categoryId is required; status must be one of available, pending, sold.",
			"7! The line has more than 1,000 fields. Write name and categoryId only."}},
		{"an object that is too long", "{\"name\":\"" + strings.Repeat("x", 2*maxLine) + "\"}\n{\"name\":\"Tom\",\"categoryId\":8}", []string{
			"1! the line is longer than 1 MiB.", `2: "Tom" 8 available`}},
	} {
		t.Run(c.what, func(t *testing.T) {
			for _, source := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text)), iotest.DataErrReader(strings.NewReader(c.text))} {
				if len(c.text) > maxLine {
					source = strings.NewReader(c.text)
				}
				got, err := readAll(source, "")
				noError(t, err)
				if c.want == nil && len(got) > 2 { // only the first line is bad
					if !strings.HasPrefix(got[0], "2! ") || strings.Contains(strings.Join(got[1:], ""), "!") {
						t.Errorf("got %q …", got[:3])
					}
					continue
				}
				if !reflect.DeepEqual(got, c.want) {
					t.Errorf("got  %q\nwant %q", got, c.want)
				}
			}
		})
	}
}

func TestAFileWithoutAnimalsIsRefusedWithAReason(t *testing.T) {
	for _, c := range []struct{ what, text, want string }{
		{"no header", "Rex,7,sold\n", `the first line must name the columns, but it is "Rex,7,sold"`},
		{"semicolons", "name;categoryId\nRex;7\n", `no commas separate the columns; the first line is "name;categoryId"`},
		{"semicolons between quotation marks", "\"name\";\"categoryId\"\n\"Rex\";7\n", "save the file with commas"},
		{"tabs", "name\tcategoryId\nRex\t7\n", "save the file with commas"},
		{"a spreadsheet", "PK\x03\x04\x14\x00\x06\n", "save it as CSV"},
		{"a wrong column", "name,category\nRex,7\n", `there is no column categoryId; the first line is "name,category"`},
		{"no name", "categoryId\n7\n", "there is no column name"},
		{"another case", "Name,categoryId\nRex,7\n", `the first line names the column "Name"; write name`},
		{"a column twice", "name,categoryId,name\nRex,7,Tom\n", "the first line names the column name 2 times"},
		{"nothing", "", "the file is empty"},
		{"UTF-16", "\xff\xfen\x00a\x00", "the text is UTF-16; save it as UTF-8"},
	} {
		t.Run(c.what, func(t *testing.T) {
			_, err := readAll(strings.NewReader(c.text), "")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestWrittenAnimalsAreReadBack(t *testing.T) {
	name := rapid.String().Filter(func(s string) bool { return utf8.ValidString(s) && petstore.CheckPetName(s) == "" })
	awkward := rapid.StringOfN(rapid.SampledFrom([]rune("\r\n\"',; \t\\.\ufeff{}é🐕\u2028a")), 1, 12, -1).Filter(func(s string) bool { return petstore.CheckPetName(s) == "" })
	rapid.Check(t, func(t *rapid.T) {
		var want []petstore.NewPet
		for range rapid.IntRange(0, 20).Draw(t, "animals") {
			want = append(want, petstore.NewPet{
				Name:       rapid.OneOf(name, awkward).Draw(t, "name"),
				CategoryID: rapid.Int64().Draw(t, "category"),
				Status:     rapid.SampledFrom(petstore.Statuses).Draw(t, "status"),
			})
		}
		for _, format := range []fileFormat{csvFormat, jsonLinesFormat} {
			var text bytes.Buffer
			w, err := newPetWriter(&text, format)
			noError(t, err)
			for i, pet := range want {
				w.write(exportedPet{int64(i), pet.Name, pet.CategoryID, pet.Status.String()})
			}
			w.flush()
			r, err := newPetReader(&text, format)
			noError(t, err)
			for _, pet := range want {
				if line, err := r.Next(); err != nil || line.Pet != pet {
					t.Fatalf("%s: %+v came back as %+v, %v", format, pet, line.Pet, err)
				}
			}
			if _, err := r.Next(); err != io.EOF {
				t.Fatalf("%s: after the last line: %v", format, err)
			}
		}
	})
}

func TestNothingIsReadFromAFileAfterItChanged(t *testing.T) {
	for what, change := range map[string]func(name string) error{
		"it grows": func(name string) error {
			f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("Tom,8,sold\n")
			return err
		},
		"it is truncated": func(name string) error { return os.Truncate(name, maxLine+100) },
		"it keeps its size": func(name string) error {
			f, err := os.OpenFile(name, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			if _, err := f.WriteAt([]byte("T"), int64(len(header))); err != nil {
				return err
			}
			return os.Chtimes(name, time.Time{}, time.Now().Add(time.Second)) // sets a later time, because the clock of the file system may be coarse
		},
	} {
		t.Run(what, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "pets.csv")
			noError(t, os.WriteFile(name, []byte(header+strings.Repeat("Rex,7,sold\n", maxLine/5)), 0o600))
			file, err := os.Open(name)
			noError(t, err)
			defer file.Close()
			stable, err := newStableFile(file)
			noError(t, err)
			r, err := newPetReader(stable, csvFormat)
			noError(t, err)
			noError(t, change(name))
			for err = nil; err == nil; _, err = r.Next() {
			}
			if !errors.Is(err, errChanged) || r.offset > maxLine {
				t.Errorf("after %d bytes: %v", r.offset, err)
			}
		})
	}
}

// noError fails the test if err is not nil.
func noError(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
